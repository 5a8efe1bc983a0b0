"""Parts of texts: items, slices, and what is left without the ends. They lie in the text's own memory."""

from __future__ import annotations

from numpy import int64

from colkern.kernels.arguments import Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, set_byte
from colkern.kernels.row_lists import slice_bound, sliced
from colkern.kernels.row_values import DONE, INDEX_ERROR, NO_ROOM, VALUE_ERROR, Arena, Code, Text
from colkern.kernels.text_building import allocate_text
from colkern.kernels.text_characters import (
    character_at,
    code_at,
    length,
    next_position,
    position_before,
    position_of,
)
from colkern.kernels.text_search import endswith, startswith

TEXT_SPACES = 0x1F0003E00
BYTE_SPACES = 0x100003E00
"""Bit `k`: whether ASCII character `k` is white space in a text; in a byte string."""


@helper
def item(text: Text, index: int64) -> tuple[Text, Code]:
    """`text[index]`."""
    count = length(text)
    index = index + count if index < 0 else index
    if index < 0 or index >= count:
        return Text(text.address, int64(0), True), INDEX_ERROR
    return character_at(text, position_of(text, index)), DONE


@helper
def slice_between(text: Text, start: int64, stop: int64) -> Text:
    """`text[start:stop]`."""
    count = length(text)
    start = slice_bound(count, start, int64(1))
    stop = max(slice_bound(count, stop, int64(1)), start)
    first = position_of(text, start)
    rest = Text(text.address + first, text.size - first, text.ascii)
    return Text(rest.address, position_of(rest, stop - start), text.ascii)


@helper
def slice_from(text: Text, start: int64) -> Text:
    """`text[start:]`."""
    first = position_of(text, slice_bound(length(text), start, int64(1)))
    return Text(text.address + first, text.size - first, text.ascii)


@helper
def slice_to(text: Text, stop: int64) -> Text:
    """`text[:stop]`."""
    return Text(
        text.address, position_of(text, slice_bound(length(text), stop, int64(1))), text.ascii
    )


@helper
def stepped(arena: Arena, text: Text, start: int64, count: int64, step: int64) -> tuple[Text, Code]:
    """Every `step`th of the characters from index `start` on, `count` of them."""
    target = allocate_text(arena, text.size)
    if target == 0:
        return Text(arena, int64(0), True), NO_ROOM
    if text.ascii:
        for k in range(count):
            set_byte(target + k, get_byte(text.address + start + k * step))
        return Text(target, count, True), DONE
    position = position_of(text, start) if count > 0 else int64(0)
    size = int64(0)
    for k in range(count):
        character = character_at(text, position)
        for j in range(character.size):
            set_byte(target + size + j, get_byte(character.address + j))
        size += character.size
        for _ in range(abs(step) if k + 1 < count else int64(0)):
            position = (
                next_position(text, position) if step > 0 else position_before(text, position)
            )
    return Text(target, size, False), DONE


@helper
def slice_step(
    arena: Arena, text: Text, start: int64, stop: int64, step: int64
) -> tuple[Text, Code]:
    """`text[start:stop:step]`; for bounds that are left out, see `slice_list`."""
    if step == 0:
        return Text(text.address, int64(0), True), VALUE_ERROR
    start, count = sliced(length(text), start, stop, step)
    return stepped(arena, text, start, count, step)


@helper
def is_wide_space(code: int64) -> Truth:
    """Whether a code point that is not ASCII is white space."""
    return (
        code == 0x85
        or code == 0xA0
        or code == 0x1680
        or (code >= 0x2000 and code <= 0x200A)
        or code == 0x2028
        or code == 0x2029
        or code == 0x202F
        or code == 0x205F
        or code == 0x3000
    )


@helper
def space_at(text: Text, position: int64, spaces: int64) -> int64:
    """The size of the white space that begins at a position; 0 if there is none."""
    lead = get_byte(text.address + position)
    if lead <= 32:
        return (spaces >> lead) & 1
    if lead < 128 or text.ascii or not is_wide_space(code_at(text.address + position)):
        return int64(0)
    return next_position(text, position) - position


@helper
def first_not_space(text: Text, position: int64, spaces: int64) -> int64:
    """The first position from another on that has no white space, or the end."""
    while position < text.size:
        size = space_at(text, position, spaces)
        if size == 0:
            break
        position += size
    return position


@helper
def last_not_space(text: Text, position: int64, end: int64, spaces: int64) -> int64:
    """The end without the white space before it, no lower than a position."""
    while end > position:
        before = end - 1 if text.ascii else position_before(text, end)
        if space_at(text, before, spaces) == 0:
            break
        end = before
    return end


@helper
def part_of(text: Text, first: int64, end: int64) -> Text:
    """The part of a text between two positions."""
    return Text(text.address + first, end - first, text.ascii)


@helper
def strip(text: Text, spaces: int64, left: int64, right: int64) -> Text:
    """`text.strip()`, at the ends for which `left` and `right` are 1, not 0."""
    first = first_not_space(text, int64(0), spaces) if left != 0 else int64(0)
    end = last_not_space(text, first, text.size, spaces) if right != 0 else text.size
    return part_of(text, first, end)


@helper
def has_character(characters: Text, address: int64, size: int64) -> Truth:
    """Whether the character of UTF-8 at an address is one of those of a text."""
    for k in range(characters.size - size + 1):
        same = int64(0)
        while same < size and get_byte(characters.address + k + same) == get_byte(address + same):
            same += 1
        if same == size:
            return True
    return False


@helper
def first_without(text: Text, characters: Text) -> int64:
    """The first position whose character is not one of others."""
    first = int64(0)
    while first < text.size:
        after = next_position(text, first)
        if not has_character(characters, text.address + first, after - first):
            break
        first = after
    return first


@helper
def last_without(text: Text, first: int64, characters: Text) -> int64:
    """The end without the characters of others before it, no lower than a position."""
    end = text.size
    while end > first:
        before = end - 1 if text.ascii else position_before(text, end)
        if not has_character(characters, text.address + before, end - before):
            break
        end = before
    return end


@helper
def strip_of(text: Text, characters: Text, left: int64, right: int64) -> Text:
    """`text.strip(characters)`, at the ends as `strip`."""
    first = first_without(text, characters) if left != 0 else int64(0)
    end = last_without(text, first, characters) if right != 0 else text.size
    return part_of(text, first, end)


@helper
def removeprefix(text: Text, prefix: Text) -> Text:
    """`text.removeprefix(prefix)`."""
    return part_of(text, prefix.size if startswith(text, prefix) else int64(0), text.size)


@helper
def removesuffix(text: Text, suffix: Text) -> Text:
    """`text.removesuffix(suffix)`."""
    return part_of(text, int64(0), text.size - suffix.size if endswith(text, suffix) else text.size)
