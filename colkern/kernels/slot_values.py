"""Values of slots, by the addresses of a column's buffers: how users' kernels and loops read columns.

Slots are absolute: counted from the first one of the buffers, whatever the array's offset. `valid`
says whether the slot may be read at all; where it may not, the value is zero, empty or slot 0, and
no memory is touched. Arguments named `…_like` are arrays (of any length) that say of what type items are.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from numpy import float32, int32, int64, uint8, uint16, uint64

from colkern.kernels.arguments import In, Out, T, Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import load_item, store_item, word_at
from colkern.layouts import VIEW_INLINE_BYTES

NOWHERE = (1 << 64) - 1
"""The slot of an index that is out of range."""

# Positions


@helper
def slot_of(index: int64, start: uint64, length: int64) -> uint64:
    """The slot of an index into the `length` slots from `start` on; from their end, if negative."""
    position = int64(index)
    if index < 0:
        position += length
    return start + uint64(position)


@helper
def noted(right: Truth, errors: Out[uint64], place: uint64) -> Truth:
    """`right` as it is; if it is false, the `place` is noted in `errors`, unless one is noted there."""
    if not right and errors[uint64(0)] == 0:
        errors[uint64(0)] = place
    return right


@helper
def checked_slot_of(
    index: int64, start: uint64, length: int64, errors: Out[uint64], place: uint64
) -> uint64:
    """As `slot_of`; `NOWHERE`, and a note of the `place` in `errors`, if the index is out of range."""
    position = int64(index)
    if index < 0:
        position += length
    slot = start + uint64(0)
    if noted(position >= 0 and position < length, errors, place):
        slot += uint64(position)
    else:
        slot = ~uint64(0)
    return slot


@helper
def bound_of(position: int64, length: int64) -> int64:
    """A slice's bound as a position in `length` items."""
    bound = int64(position)
    if bound < 0:
        bound += length
    if bound < 0:
        bound = int64(0)
    if bound > length:
        bound = int64(length)
    return bound


@helper
def span(start: int64, stop: int64) -> int64:
    """The number of items of a slice."""
    return stop - start if stop > start else int64(0)


# Validity


@helper
def bit_of(byte_like: In[uint8], bitmap: uint64, position: uint64) -> Truth:
    """Bit `position` of the bitmap at an address."""
    byte = load_item(byte_like, bitmap + (position >> uint64(3)))
    return (byte >> uint8(position & uint64(7))) & uint8(1) != 0


@helper
def valid_at(byte_like: In[uint8], validity: uint64, slot: uint64, readable: Truth) -> Truth:
    """Whether a slot may be read and is not null; without a bitmap (address 0) none is null."""
    return readable and (validity == 0 or bit_of(byte_like, validity, slot))


@helper
def count_nulls(byte_like: In[uint8], validity: uint64, start: uint64, length: int64) -> int64:
    """The number of nulls among `length` slots from `start` on."""
    nulls = int64(0)
    if validity != 0:
        for k in range(uint64(0), uint64(length)):
            if not bit_of(byte_like, validity, start + uint64(k)):
                nulls += int64(1)
    return nulls


# Values of a fixed size


@helper
def number_at(like: In[T], data: uint64, size: uint64, slot: uint64, valid: Truth) -> T:
    """The number of a slot."""
    value = like.dtype.type(0)
    if valid:
        value = load_item(like, data + slot * size)
    return value


@helper
def bool_at(byte_like: In[uint8], data: uint64, slot: uint64, valid: Truth) -> Truth:
    """The bit of a slot."""
    return valid and bit_of(byte_like, data, slot)


@helper
def float_of_half(bits: uint64) -> float32:
    """A half-precision float, given as its bits (uint64), as one of 32 bits."""
    exponent = (bits >> uint64(10)) & uint64(31)
    fraction = bits & uint64(1023)
    if exponent == 0:
        value = float32(fraction) * float32(2.0**-24)
    elif exponent == 31:
        value = float32(float("nan")) if fraction else float32(float("inf"))
    else:
        scale = float32(uint64(1) << exponent) * float32(2.0**-25)
        value = float32(fraction + uint64(1024)) * scale
    return -value if bits >> uint64(15) else value


@helper
def half_at(bits_like: In[uint16], data: uint64, slot: uint64, valid: Truth) -> float32:
    """The half-precision float of a slot, as one of 32 bits."""
    value = float32(0)
    if valid:
        value = float_of_half(uint64(load_item(bits_like, data + (slot << uint64(1)))))
    return value


@helper
def words_at(
    word_like: In[uint64], data: uint64, size: uint64, slot: uint64, valid: Truth, k: uint64
) -> uint64:
    """Word `k` of the number of a slot that has `size` bytes; zero if it may not be read."""
    value = uint64(0)
    if valid:
        value = uint64(load_item(word_like, data + slot * size + (k << uint64(3))))
    return value


# Byte strings and lists: where the first byte or element is, and how many there are. `first` is where the
# bytes are, or the child's own offset.


@helper
def range_at(
    like: In[T], offsets: uint64, size: uint64, first: uint64, slot: uint64, valid: Truth
) -> tuple[uint64, int64]:
    """The range of a slot of the variable-size layout, whose offsets have `size` bytes."""
    start = uint64(0)
    length = int64(0)
    if valid:
        place = offsets + slot * size
        begin = uint64(load_item(like, place))
        length = int64(uint64(load_item(like, place + size)) - begin)
        start = first + begin
    return start, length


@helper
def even_range_at(count: uint64, first: uint64, slot: uint64, valid: Truth) -> tuple[uint64, int64]:
    """The range of a slot where each has `count` bytes or elements."""
    start = uint64(0)
    length = int64(0)
    if valid:
        start = first + slot * count
        length = int64(count)
    return start, length


@helper
def viewed_at(
    number_like: In[int32],
    views: uint64,
    word_like: In[uint64],
    table: uint64,
    slot: uint64,
    valid: Truth,
) -> tuple[uint64, int64]:
    """The range of a slot of the view layout; `table` is where the addresses of the data buffers stand."""
    address = uint64(0)
    length = int64(0)
    if valid:
        view = views + (slot << uint64(4))
        length = int64(load_item(number_like, view))
        address = view + uint64(4)
        if length > VIEW_INLINE_BYTES:
            buffer = uint64(load_item(number_like, view + uint64(8)))
            start = uint64(load_item(number_like, view + uint64(12)))
            address = uint64(load_item(word_like, table + (buffer << uint64(3)))) + start
    return address, length


@helper
def list_view_at(
    like: In[T],
    offsets: uint64,
    sizes: uint64,
    size: uint64,
    first: uint64,
    slot: uint64,
    valid: Truth,
) -> tuple[uint64, int64]:
    """The range of a slot of the list-view layout, whose offsets and sizes have `size` bytes."""
    start = uint64(0)
    length = int64(0)
    if valid:
        start = first + uint64(load_item(like, offsets + slot * size))
        length = int64(load_item(like, sizes + slot * size))
    return start, length


@helper
def write_bytes(
    like: In[uint8], word_like: In[uint64], target: uint64, address: uint64, length: int64
) -> None:
    """The bytes from `target` on become a byte string, by words where `target` has whole ones."""
    count = uint64(length)
    head = min((uint64(8) - (target & uint64(7))) & uint64(7), count)
    words = (count - head) >> uint64(3)
    tail = head + (words << uint64(3))
    for k in range(uint64(0), head):
        store_item(like, target + uint64(k), load_item(like, address + uint64(k)))
    for k in range(uint64(0), words):
        place = head + (uint64(k) << uint64(3))
        store_item(word_like, target + place, word_at(address + place))
    for k in range(tail, count):
        store_item(like, target + uint64(k), load_item(like, address + uint64(k)))


# Values that stand elsewhere


@helper
def elsewhere_at(
    like: In[T], data: uint64, size: uint64, first: uint64, slot: uint64, valid: Truth
) -> uint64:
    """The slot that an index or an offset points at: in a dictionary, or in a child of a union."""
    place = uint64(0)
    if valid:
        place = first + uint64(load_item(like, data + slot * size))
    return place


@helper
def run_at(
    like: In[T],
    ends: uint64,
    size: uint64,
    first: uint64,
    count: uint64,
    position: uint64,
    valid: Truth,
) -> uint64:
    """The run that holds a position: the first of `count` whose end, from slot `first` on, is past it."""
    low = uint64(0)
    left = uint64(count) if valid else uint64(0)
    # Always as many steps: threads that search together do not diverge.
    while left > 0:
        half = (left + uint64(1)) >> uint64(1)
        place = first + low + half - uint64(1)
        before = uint64(load_item(like, ends + place * size)) <= position
        low += half if before else uint64(0)
        left -= half
    return low


@helper
def run_from(
    like: In[T], ends: uint64, size: uint64, first: uint64, run: uint64, position: uint64
) -> uint64:
    """The run that holds a position, from one on that does not end before it does: as loops go."""
    later = run + uint64(0)
    while uint64(load_item(like, ends + (first + later) * size)) <= position:
        later += uint64(1)
    return later
