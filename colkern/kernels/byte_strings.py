"""Byte strings by the address of their first byte and their length: how users' CUDA kernels see them.

`like` is a uint8 array of any length, which says that the items are bytes. What each function means
is what the method of that name does for `bytes`.
"""

from __future__ import annotations

from typing import Any

from numpy import int64, uint8, uint64

from colkern.kernels.arguments import In, Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import load_item, multiply, store_item, word_at


@helper
def byte_at(like: In[uint8], address: uint64, k: uint64) -> int64:
    """Byte `k` as an int64; 0 for no byte (the largest uint64)."""
    value = int64(0)
    if k != ~uint64(0):
        value = int64(load_item(like, address + k))
    return value


@helper
def write_bytes(
    like: In[uint8], word_like: In[uint64], target: uint64, address: uint64, length: int64
) -> None:
    """The bytes from `target` on become a byte string, by words where `target` has whole ones."""
    count = uint64(length)
    head = min((~target + uint64(1)) & uint64(7), count)
    words = (count - head) >> uint64(3)
    tail = head + (words << uint64(3))
    for k in range(uint64(0), head):
        store_item(like, target + uint64(k), load_item(like, address + uint64(k)))
    for k in range(uint64(0), words):
        place = head + (uint64(k) << uint64(3))
        store_item(word_like, target + place, word_at(address + place))
    for k in range(tail, count):
        store_item(like, target + uint64(k), load_item(like, address + uint64(k)))


@helper
def equal_parts(like: In[uint8], left: uint64, right: uint64, count: int64) -> Truth:
    """Whether `count` bytes are the same."""
    k = uint64(0)
    end = uint64(count)
    while k < end and load_item(like, left + k) == load_item(like, right + k):
        k += uint64(1)
    return k == end


@helper
def equal_bytes(
    like: In[uint8], left: uint64, left_length: int64, right: uint64, right_length: int64
) -> Truth:
    """Whether two byte strings are equal."""
    return left_length == right_length and equal_parts(like, left, right, left_length)


@helper
def order_of_bytes(
    like: In[uint8], left: uint64, left_length: int64, right: uint64, right_length: int64
) -> int64:
    """Negative, zero or positive, as the left byte string stands before, with or after the right."""
    k = uint64(0)
    end = uint64(left_length if left_length < right_length else right_length)
    while k < end and load_item(like, left + k) == load_item(like, right + k):
        k += uint64(1)
    order = int64(left_length - right_length)
    if k < end:
        order = int64(load_item(like, left + k)) - int64(load_item(like, right + k))
    return order


@helper
def starts(
    like: In[uint8], address: uint64, length: int64, part: uint64, part_length: int64
) -> Truth:
    """Whether a byte string starts with another."""
    return part_length <= length and equal_parts(like, address, part, part_length)


@helper
def ends(
    like: In[uint8], address: uint64, length: int64, part: uint64, part_length: int64
) -> Truth:
    """Whether a byte string ends with another."""
    is_end: Truth = part_length <= length
    if is_end:
        is_end = equal_parts(like, address + uint64(length - part_length), part, part_length)
    return is_end


@helper
def find_bytes(
    like: In[uint8], address: uint64, length: int64, part: uint64, part_length: int64
) -> int64:
    """Where another byte string first stands in one; -1 if it does not."""
    match = int64(-1)
    place = int64(0)
    while match < 0 and place + part_length <= length:
        if equal_parts(like, address + uint64(place), part, part_length):
            match = place
        place += int64(1)
    return match


@helper
def find_last_bytes(
    like: In[uint8], address: uint64, length: int64, part: uint64, part_length: int64
) -> int64:
    """Where another byte string last stands in one; -1 if it does not."""
    place = int64(length - part_length)
    while place >= 0 and not equal_parts(like, address + uint64(place), part, part_length):
        place -= int64(1)
    return place if place >= 0 else int64(-1)


@helper
def count_bytes(
    like: In[uint8], address: uint64, length: int64, part: uint64, part_length: int64
) -> int64:
    """How often another byte string stands in one without overlap."""
    count = int64(0)
    place = int64(0)
    while place + part_length <= length:
        if equal_parts(like, address + uint64(place), part, part_length):
            count += int64(1)
            place += part_length if part_length > 0 else int64(1)
        else:
            place += int64(1)
    return count


@helper
def has_byte(like: In[uint8], address: uint64, length: int64, byte: Any) -> Truth:
    """Whether a byte stands in a byte string."""
    k = uint64(0)
    end = uint64(length)
    while k < end and int64(load_item(like, address + k)) != int64(byte):
        k += uint64(1)
    return k < end


@helper
def is_digit(byte: Any) -> Truth:
    """Whether a byte is an ASCII digit."""
    return byte >= 48 and byte <= 57


@helper
def are_digits(like: In[uint8], address: uint64, length: int64) -> Truth:
    """Whether there are bytes, and all are ASCII digits."""
    k = uint64(0)
    end = uint64(length)
    while k < end and is_digit(load_item(like, address + k)):
        k += uint64(1)
    return length > 0 and k == end


@helper
def is_space(byte: Any) -> Truth:
    """Whether a byte is ASCII white space."""
    return byte == 32 or (byte >= 9 and byte <= 13)


@helper
def space_before(like: In[uint8], address: uint64, length: int64) -> int64:
    """How many bytes of white space a byte string starts with."""
    k = uint64(0)
    end = uint64(length)
    while k < end and is_space(load_item(like, address + k)):
        k += uint64(1)
    return int64(k)


@helper
def space_after(like: In[uint8], address: uint64, length: int64) -> int64:
    """How many bytes of white space a byte string ends with."""
    k = uint64(length)
    while k > 0 and is_space(load_item(like, address + k - uint64(1))):
        k -= uint64(1)
    return int64(uint64(length) - k)


@helper
def bytes_before(
    like: In[uint8], address: uint64, length: int64, part: uint64, part_length: int64
) -> int64:
    """How many bytes at the start of a byte string are among those of another."""
    k = uint64(0)
    end = uint64(length)
    while k < end and has_byte(like, part, part_length, load_item(like, address + k)):
        k += uint64(1)
    return int64(k)


@helper
def bytes_after(
    like: In[uint8], address: uint64, length: int64, part: uint64, part_length: int64
) -> int64:
    """How many bytes at the end of a byte string are among those of another."""
    k = uint64(length)
    while k > 0 and has_byte(like, part, part_length, load_item(like, address + k - uint64(1))):
        k -= uint64(1)
    return int64(uint64(length) - k)


@helper
def integer_of(like: In[uint8], address: uint64, length: int64) -> tuple[int64, Truth, Truth]:
    """`(number, spelled, fits)`: the int64, whether bytes spell an integer, and whether it has 64 bits."""
    k = uint64(space_before(like, address, length))
    end = uint64(length) - uint64(space_after(like, address, length)) if k < length else k
    negative = False
    if k < end:
        sign = load_item(like, address + k)
        negative = sign == 45
        if sign == 45 or sign == 43:
            k += uint64(1)
    spelled: Truth = k < end
    fits: Truth = True
    limit = uint64(0x7FFFFFFFFFFFFFFF) + uint64(negative)
    value = uint64(0)
    while k < end:
        byte = uint64(load_item(like, address + k))
        digit = byte - uint64(48) if is_digit(byte) else uint64(0)
        fits = fits and value <= uint64(922337203685477580)
        value = multiply(value, uint64(10)) + digit if fits else uint64(0)
        fits = fits and value <= limit
        spelled = spelled and is_digit(byte)
        k += uint64(1)
    number = int64(0)
    if spelled and fits:
        # The least number has no positive counterpart.
        number = -int64(value - uint64(1)) - int64(1) if negative and value > 0 else int64(value)
    return number, spelled, fits
