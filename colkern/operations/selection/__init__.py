"""One engine that copies parts of arrays, and the operations that are made of it.

`engine` walks the layouts; a copier says where the slots of the result come from, and copies bits, items,
byte ranges and children from there. The copiers: positions (`taking`), masks (`filtering`), lists
(`list_elements`), several arrays one after the other (`concatenation`), and all slots without what they
hide (`trimming`). `runs` and `dense_unions` hold what each of them does with these layouts.
"""

from colkern.operations.selection import dense_unions, runs
from colkern.operations.selection.engine import assemble
from colkern.operations.selection.filtering import filter
from colkern.operations.selection.taking import Picks, take, take_positions
from colkern.operations.selection.words import WORDS, own_words, take_items, words_of

__all__ = [
    "WORDS",
    "Picks",
    "assemble",
    "dense_unions",
    "filter",
    "own_words",
    "runs",
    "take",
    "take_items",
    "take_positions",
    "words_of",
]
