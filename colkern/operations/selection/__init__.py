"""One engine that copies parts of arrays, and the operations that are made of it.

`engine` walks the layouts; what a copy of each layout is made of are a copier's verbs. The copiers:
positions (`taking`), masks (`filtering`), lists (`list_elements`), several arrays one after the other
(`concatenation`), and all slots without what they hide (`trimming`).
"""

from colkern.operations.selection import dense_unions, runs
from colkern.operations.selection.filtering import filter
from colkern.operations.selection.taking import Picks, take, take_picks, take_positions
from colkern.operations.selection.words import take_items, words_of

__all__ = [
    "Picks",
    "dense_unions",
    "filter",
    "runs",
    "take",
    "take_items",
    "take_picks",
    "take_positions",
    "words_of",
]
