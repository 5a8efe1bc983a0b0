"""Fixed-size items, moved as words whatever they mean; and repeated bits.

Columnar format 1.5: "Fixed-size Primitive Layout", "Validity bitmaps".
"""

from __future__ import annotations

import numpy as np

from colkern.arrays import Array
from colkern.bitmaps import bits_by
from colkern.kernels import hidden, selection
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.operands import WORDS
from colkern.targets import Items, Target


def words_of(items: Items) -> tuple[Items, int]:
    """Items as words of up to 8 bytes, and the number of words in an item; not copied.

    Items without bytes have no words.
    """
    itemsize = items.dtype.itemsize
    if itemsize == 0:
        return items[:0].view(np.uint8), 0
    size = min(itemsize & -itemsize, 8)
    return items.view(WORDS[size]), itemsize // size


def own_words(array: Array, role: Role) -> tuple[Items, int]:
    """As `words_of`, for the items of a buffer with one item a slot, in the array's own slots."""
    kept = array._kept_words
    if kept is not None and kept[0] is role:
        return kept[1]
    position = array.layout.position(role)
    itemsize = array.layout.buffers[position].dtype.itemsize
    buffer = array.buffers[position]
    if buffer is None or itemsize == 0 or array.length == 0:
        return words_of(array.items(role))
    size = min(itemsize & -itemsize, 8)
    width = itemsize // size
    words = buffer.view(WORDS[size], array.length * width, array.offset * itemsize), width
    array._kept_words = (role, words)
    return words


def take_items(target: Target, items: Items, picked: Items) -> Items:
    """The items at positions (unsigned, read-only, in bounds); same dtype."""
    words, width = words_of(items)
    if width == 0:
        return items[:0].repeat(0)
    return take_words(target, words, width, picked).view(items.dtype)


def take_words(target: Target, words: Items, width: int, picked: Items) -> Items:
    """The items at positions, each of `width` words."""
    out = target.output(len(picked) * width, words.dtype)
    if not len(out):
        return out
    if width == 1:
        target.start(selection.take_items, len(picked), picked, words, out)
    elif width == 2 and words.dtype.itemsize == 8:
        target.map(selection.take_pairs, len(picked), picked, words, out)
    else:
        where = (target.address(words), width * words.dtype.itemsize)
        target.map(selection.take_values, len(picked), picked, *where, out.view(np.uint8))
    return out


def repeat_bits(target: Target, bits: Buffer, offset: int, count: int, size: int) -> Buffer:
    """`count` bits from bit `offset` on, each repeated `size` times (not 0), from bit 0 on."""
    total = count * size
    return bits_by(target, hidden.repeat_bits, total, (bits.array, offset, size, total))
