"""The engine that copies parts of arrays, and the operations that are built on it.

`engine` walks the layouts; a copier knows where the slots of the result come from, and copies bits,
items, byte ranges and children from there. There are copiers for positions (`taking`), masks
(`filtering`), lists (`list_elements`), several arrays in a row (`concatenation`), and all slots without
hidden data (`trimming`). `runs` and `dense_unions` have their parts for these layouts.
"""

from colkern.operations.selection import dense_unions, runs
from colkern.operations.selection.filtering import filter
from colkern.operations.selection.taking import take, take_picked, take_positions
from colkern.operations.selection.words import own_words, take_items, words_of

__all__ = [
    "dense_unions",
    "filter",
    "own_words",
    "runs",
    "take",
    "take_items",
    "take_picked",
    "take_positions",
    "words_of",
]
