"""Keys of rows: several values as one word, whose order is theirs; and text by words of seven bytes."""

from __future__ import annotations

from numpy import int32, uint32, uint64

from colkern.kernels.arguments import Bitmap, In, O, Out, T
from colkern.kernels.bitmaps import is_valid, valid_mask
from colkern.kernels.kernel import kernel
from colkern.kernels.primitives import add
from colkern.kernels.strings import Texts, near_word, reversed_bytes

PIECE = 7
"""The bytes of text in a key; a byte below them says how many there are."""

MORE = PIECE + 1
"""The lowest byte of a key whose text has more bytes."""

SHORT = 4
"""The bytes of a value that a view has beside its length, in one word."""


@kernel()
def append_keys(
    start,
    stop,
    step,
    words: In[T],
    flip,
    addend,
    validity: Bitmap,
    null,
    bits,
    kept,
    out: Out[uint64],
):
    """out[i] = the bits of out[i] that are in `kept`, and below them in `bits` bits the key of slot i.

    A key is a word with the bits of `flip` flipped, and `addend` added modulo 2^64; of a null, `null`.
    """
    for i in range(start, stop, step):
        key = add(uint64(words[i]) ^ flip, addend)
        key = key if is_valid(validity, i) else null
        out[i] = ((out[i] & kept) << bits) | key


@kernel(combine="max")
def short_view_keys(
    start, stop, step, views: In[int32], validity: Bitmap, out: Out[uint64]
) -> uint64:
    """out[i] = a word for each different value of up to `SHORT` bytes; returns the length of the longest.

    It says nothing where a longer value is valid: the rest of the range is then left out.
    """
    longest = uint64(0)
    for i in range(start, stop, step):
        view = uint64(i) << uint64(2)
        length = uint64(uint32(views[view]))
        longest = max(longest, length & valid_mask(validity, i))
        if longest > uint64(SHORT):
            return longest
        own = (uint64(1) << (min(length, uint64(SHORT)) << uint64(3))) - uint64(1)
        out[i] = (length << uint64(32)) | (uint64(uint32(views[view + uint64(1)])) & own)
    return longest


@kernel()
def order_strings(
    start, stop, step, texts: Texts[O], positions: In[uint64], depth, out: Out[uint64]
):
    """out[i] = a key for up to `PIECE` bytes, from byte `depth` on, of the string at positions[i].

    No positions stand for the numbers from 0 on. Strings with the same key are the same, or have more bytes
    than these; those that end before `depth` have key 0.
    """
    for i in range(start, stop, step):
        slot = uint64(i) if len(positions) == 0 else positions[i]
        begin = uint64(texts.offsets[slot]) + depth
        end = max(uint64(texts.offsets[slot + uint64(1)]), begin)
        count = min(end - begin, uint64(MORE))
        here = uint64(0)
        if count != 0:
            kept = min(count, uint64(PIECE)) << uint64(3)
            word = near_word(texts.base, begin, texts.last)
            here = reversed_bytes(word & ((uint64(1) << kept) - uint64(1))) | count
        out[i] = here
