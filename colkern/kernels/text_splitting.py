"""Texts in pieces: by separators, by white space, by lines.

The items of a list that is being made are written where the arena's next allocation begins: nothing else
is allocated meanwhile. `form` is how an item says its size: `size << (form >> 1) | form & 1`, so 0 for byte
strings, 2 for texts, 3 for texts of ASCII.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, get_word, range_places, set_word
from colkern.kernels.row_lists import new_list, reverse
from colkern.kernels.row_values import DONE, NO_ROOM, VALUE_ERROR, Arena, Code, Text
from colkern.kernels.text_characters import code_at, next_position, position_before
from colkern.kernels.text_parts import first_not_space, last_not_space, part_of, space_at
from colkern.kernels.text_words import (
    SPILL,
    are_same,
    edges_of,
    find_last_part,
    find_part,
    first_hit,
    hits_at,
    low_places,
    readable,
)


@helper
def form_of(text: Text) -> int64:
    """The form of the items of a text's pieces."""
    return int64(2) + int64(text.ascii)


@helper
def write_piece(arena: Arena, place: int64, address: int64, size: int64, form: int64) -> int64:
    """Write an item at the end of the arena. The place behind it; 0 if the arena has no room."""
    if place == 0 or place + 16 > get_word(arena + 8):
        return int64(0)
    set_word(place, address)
    set_word(place + 8, size << (form >> 1) | form & 1)
    return place + 16


@helper
def closed(arena: Arena, header: int64, place: int64) -> tuple[int64, Code]:
    """The list whose items end at a place of the arena, which is 0 if they had no room."""
    if place == 0:
        return header, NO_ROOM
    items = get_word(arena)
    count = (place - items) >> 4
    set_word(header, items)
    set_word(header + 8, count)
    set_word(header + 16, count)
    set_word(arena, place)
    return header, DONE


@helper
def split_by(
    arena: Arena, text: Text, separator: Text, most: int64, form: int64
) -> tuple[int64, Code]:
    """Pieces between separators, of which at most `most` count; all of them if it is negative."""
    header = new_list(arena, int64(2), int64(0))
    if separator.size == 0 or header == 0:
        return header, VALUE_ERROR if separator.size == 0 else NO_ROOM
    place = get_word(arena)
    limit = text.size - separator.size + 1
    near, head, tail = edges_of(separator.address, separator.size)
    first = int64(0)
    k = int64(0)
    while k < limit and most != 0:
        hits = hits_at(text.address + k, limit - k, near, head, tail)
        while hits != 0 and most != 0:
            hit = k + first_hit(hits)
            hits &= hits - 1
            if hit >= first and (
                separator.size <= 2
                or are_same(text.address + hit, separator.address, separator.size)
            ):
                place = write_piece(arena, place, text.address + first, hit - first, form)
                first = hit + separator.size
                most -= int64(most > 0)
        k += SPILL - near
    place = write_piece(arena, place, text.address + first, text.size - first, form)
    return closed(arena, header, place)


@helper
def rsplit_by(
    arena: Arena, text: Text, separator: Text, most: int64, form: int64
) -> tuple[int64, Code]:
    """As `split_by`, with separators counted from the end."""
    header = new_list(arena, int64(2), int64(0))
    if separator.size == 0 or header == 0:
        return header, VALUE_ERROR if separator.size == 0 else NO_ROOM
    place = get_word(arena)
    end = text.size
    hit = int64(0)
    while hit >= 0:
        hit = int64(-1)
        if most != 0:
            hit = find_last_part(text.address, int64(0), end, separator.address, separator.size)
        first = int64(0) if hit < 0 else hit + separator.size
        place = write_piece(arena, place, text.address + first, end - first, form)
        end = hit
        most -= int64(most > 0)
    result, code = closed(arena, header, place)
    if code == DONE:
        reverse(int64(2), result)
    return result, code


@helper
def ascii_pieces(
    arena: Arena, place: int64, text: Text, most: int64, spaces: int64, form: int64
) -> int64:
    """The items of `split_by_space` of ASCII, written at a place. The place behind; 0 without room."""
    before = int64(1)
    first = int64(-1)
    k = int64(0)
    while k < text.size:
        piece = readable(text.address + k, text.size - k, int64(SPILL))
        # Tab to carriage return; the separators, where they are spaces, and the space.
        separators = int64(4) * (spaces >> 28 & 1)
        blanks = range_places(piece, int64(9), int64(5))
        blanks |= range_places(piece, 32 - separators, 1 + separators)
        blanks >>= text.address + k - piece
        edges = (blanks ^ (blanks << 1 | before)) & low_places(text.size - k)
        before = blanks >> (SPILL - 1) & 1
        while edges != 0:
            edge = k + first_hit(edges)
            edges &= edges - 1
            if first < 0:
                first = edge
                if most == 0:
                    edges = int64(0)
                    k = text.size
            else:
                place = write_piece(arena, place, text.address + first, edge - first, form)
                first = int64(-1)
                most -= int64(most > 0)
        k += SPILL
    if first >= 0:
        place = write_piece(arena, place, text.address + first, text.size - first, form)
    return place


@helper
def split_by_space(
    arena: Arena, text: Text, most: int64, spaces: int64, form: int64
) -> tuple[int64, Code]:
    """Pieces between white space, as `split_by`."""
    header = new_list(arena, int64(2), int64(0))
    if header == 0:
        return header, NO_ROOM
    place = get_word(arena)
    if text.ascii:
        return closed(arena, header, ascii_pieces(arena, place, text, most, spaces, form))
    first = first_not_space(text, int64(0), spaces)
    while first < text.size:
        end = text.size
        if most != 0:
            end = first
            while end < text.size and space_at(text, end, spaces) == 0:
                end = next_position(text, end)
        place = write_piece(arena, place, text.address + first, end - first, form)
        first = first_not_space(text, end, spaces)
        most -= int64(most > 0)
    return closed(arena, header, place)


@helper
def rsplit_by_space(
    arena: Arena, text: Text, most: int64, spaces: int64, form: int64
) -> tuple[int64, Code]:
    """Pieces between white space, as `rsplit_by`."""
    header = new_list(arena, int64(2), int64(0))
    if header == 0:
        return header, NO_ROOM
    place = get_word(arena)
    end = last_not_space(text, int64(0), text.size, spaces)
    while end > 0:
        first = int64(0)
        if most != 0:
            first = end
            before = end
            while before >= 0 and first > 0:
                before = first - 1 if text.ascii else position_before(text, first)
                if space_at(text, before, spaces) != 0:
                    before = int64(-1)
                else:
                    first = before
        place = write_piece(arena, place, text.address + first, end - first, form)
        end = last_not_space(text, int64(0), first, spaces)
        most -= int64(most > 0)
    result, code = closed(arena, header, place)
    if code == DONE:
        reverse(int64(2), result)
    return result, code


@helper
def line_end_at(text: Text, position: int64) -> int64:
    """The size of the end of a line that begins at a position; 0 if there is none."""
    lead = get_byte(text.address + position)
    if lead < 128:
        if lead == 13 and position + 1 < text.size:
            return 1 + int64(get_byte(text.address + position + 1) == 10)
        return int64((lead >= 10 and lead <= 13) or (lead >= 28 and lead <= 30))
    code = code_at(text.address + position)
    if code == 0x85 or code == 0x2028 or code == 0x2029:
        return next_position(text, position) - position
    return int64(0)


@helper
def splitlines(arena: Arena, text: Text, keepends: bool) -> tuple[int64, Code]:
    """`text.splitlines(keepends)`."""
    header = new_list(arena, int64(2), int64(0))
    if header == 0:
        return header, NO_ROOM
    place = get_word(arena)
    first = int64(0)
    k = int64(0)
    while k < text.size:
        count = text.size - k
        piece = readable(text.address + k, count, int64(SPILL))
        hits = range_places(piece, int64(10), int64(4)) | range_places(piece, int64(28), int64(3))
        if not text.ascii:
            # The leads of U+0085, U+2028 and U+2029, and of others.
            hits |= range_places(piece, int64(0xC2), int64(1))
            hits |= range_places(piece, int64(0xE2), int64(1))
        hits = (hits >> (text.address + k - piece)) & low_places(count)
        while hits != 0:
            hit = k + first_hit(hits)
            hits &= hits - 1
            # A line feed may belong to the carriage return before.
            size = line_end_at(text, hit) if hit >= first else int64(0)
            if size > 0:
                end = hit + size if keepends else hit
                place = write_piece(arena, place, text.address + first, end - first, form_of(text))
                first = hit + size
        k += SPILL
    if first < text.size:
        place = write_piece(arena, place, text.address + first, text.size - first, form_of(text))
    return closed(arena, header, place)


@helper
def _parted(
    text: Text, place: int64, separator: Text, missing: int64
) -> tuple[tuple[Text, Text, Text], Code]:
    """The parts of a text before, at and behind a separator; if there is none, one part is all of it."""
    if separator.size == 0:
        return (text, text, text), VALUE_ERROR
    first = missing if place < 0 else place
    end = missing if place < 0 else place + separator.size
    return (
        part_of(text, int64(0), first),
        part_of(text, first, end),
        part_of(text, end, text.size),
    ), DONE


@helper
def partition(text: Text, separator: Text) -> tuple[tuple[Text, Text, Text], Code]:
    """`text.partition(separator)`."""
    place = find_part(text.address, int64(0), text.size, separator.address, separator.size)
    return _parted(text, place, separator, text.size)


@helper
def rpartition(text: Text, separator: Text) -> tuple[tuple[Text, Text, Text], Code]:
    """`text.rpartition(separator)`."""
    place = find_last_part(text.address, int64(0), text.size, separator.address, separator.size)
    return _parted(text, place, separator, int64(0))
