"""Dictionaries and sets that row functions make: entries in the order in which they came, and an index.

A dictionary is the address of its header of seven words: the address of its entries; how many there are;
how many places of entries are taken, those of deleted ones too; how many have room; the address of the
index; the index's slots less one, which are a power of two; how often a key came or went.

An entry is a word, its key's hash, or 0 once it is deleted; the words of its key; those of its value. A
set has values of no words. A slot of the index has the number of an entry plus 1, or 0; the first slot to
look at for a key follows from its hash, others follow that one. There is always room for one entry more,
where callers write the key that they ask for (`key_room`).

The place of a value, or of an entry of a set, is that of its value's words; it is good until a key comes.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word, set_word
from colkern.kernels.row_items import (
    NODE,
    NUMBER,
    OPTIONAL,
    TEXT,
    UNKNOWN,
    YES,
    Layout,
    Place,
    Room,
    copy_words,
    equal_words,
    hash_words,
)
from colkern.kernels.row_lists import new_list
from colkern.kernels.row_sorting import sort
from colkern.kernels.row_values import DONE, KEY_ERROR, LEFT, NO_ROOM, Arena, Code, allocate

ENTRIES = 0
COUNT = 8
TAKEN = 16
CAPACITY = 24
SLOTS = 32
MASK = 40
CHANGES = 48
HEADER = 56

FEWEST = 8
"""The entries that an empty dictionary has room for: a power of two."""


@helper
def new_dict(arena: Arena, key_words: int64) -> int64:
    """An empty dictionary, or set if values have no words; 0 if the arena has no room."""
    header = allocate(arena, HEADER + 8 + key_words * 8)
    if header != 0:
        # The entries, of which only one key is ever written to.
        set_word(header, header + HEADER)
        set_word(header + CHANGES, int64(0))
        clear_dict(header)
    return header


@helper
def clear_dict(header: int64) -> int64:
    """`dict.clear()`, `set.clear()`: the same dictionary, empty."""
    set_word(header + CHANGES, get_word(header + CHANGES) + 1)
    set_word(header + COUNT, int64(0))
    set_word(header + TAKEN, int64(0))
    set_word(header + CAPACITY, int64(0))
    # A free slot, which the count is as long as there are no entries.
    set_word(header + SLOTS, header + COUNT)
    set_word(header + MASK, int64(0))
    return header


@helper
def rebuild(arena: Arena, entry_words: int64, header: int64) -> bool:
    """Move the entries that are not deleted to where there is room for more; false if there is none."""
    capacity = get_word(header + CAPACITY)
    if get_word(header + COUNT) * 2 >= capacity:
        capacity = max(capacity * 2, int64(FEWEST))
    slots = capacity * 2
    entries_size = (capacity + 1) * entry_words * 8
    target = allocate(arena, entries_size + slots * 8)
    if target == 0:
        return False
    source = get_word(header)
    end = source + get_word(header + TAKEN) * entry_words * 8
    set_word(header, target)
    set_word(header + CAPACITY, capacity)
    set_word(header + SLOTS, target + entries_size)
    set_word(header + MASK, slots - 1)
    for k in range(slots):
        set_word(target + entries_size + k * 8, int64(0))
    number = int64(0)
    while source < end:
        if get_word(source) != 0:
            copy_words(source, target, entry_words)
            number += 1
            index_entry(header, get_word(source), number)
            target += entry_words * 8
        source += entry_words * 8
    set_word(header + TAKEN, number)
    return True


@helper
def index_entry(header: int64, key_hash: int64, number: int64) -> None:
    """Note in the index which entry, counted from 1, has a key of a hash."""
    slots = get_word(header + SLOTS)
    mask = get_word(header + MASK)
    slot = (key_hash >> 1) & mask
    while get_word(slots + slot * 8) != 0:
        slot = (slot + 1) & mask
    set_word(slots + slot * 8, number)


@helper
def find_entry(
    key_layout: Layout, entry_words: int64, header: int64, key: Place, key_hash: int64
) -> int64:
    """The address of the entry that has a key; 0 if none has, -1 if that is unknown."""
    entries = get_word(header) - entry_words * 8
    slots = get_word(header + SLOTS)
    mask = get_word(header + MASK)
    slot = (key_hash >> 1) & mask
    number = get_word(slots + slot * 8)
    # The size of a short text: no other of that size has its hash.
    size = get_word(key + 8) >> 1 if key_layout == TEXT else int64(8)
    while number != 0:
        entry = entries + number * entry_words * 8
        if get_word(entry) == key_hash:
            if size < 8 and get_word(entry + 16) >> 1 == size:
                return entry
            same = equal_words(key_layout, entry + 8, key)
            if same == YES:
                return entry
            if same == UNKNOWN:
                return int64(-1)
        slot = (slot + 1) & mask
        number = get_word(slots + slot * 8)
    return int64(0)


@helper
def dict_size(header: int64) -> int64:
    """`len(dict)`."""
    return get_word(header + COUNT)


@helper
def dict_changes(header: int64) -> int64:
    """The times that a key came or went: a loop over a dictionary is left to Python where that changes."""
    return get_word(header + CHANGES)


@helper
def key_room(key_words: int64, value_words: int64, header: int64) -> Room:
    """Where the words of a key may be written, to ask for it; good until a key comes.

    A key in a constant is asked for with words elsewhere: nothing is written to a constant.
    """
    entry_words = 1 + key_words + value_words
    return get_word(header) + get_word(header + TAKEN) * entry_words * 8 + 8


@helper
def find_place(
    key_layout: Layout, key_words: int64, value_words: int64, header: int64, key: Place
) -> tuple[Place, Code]:
    """The value of a key; 0 if the key is not there: `in`, `get`."""
    entry_words = 1 + key_words + value_words
    entry = find_entry(key_layout, entry_words, header, key, hash_words(key_layout, key))
    if entry <= 0:
        return int64(0), LEFT if entry < 0 else DONE
    return entry + 8 + key_words * 8, DONE


@helper
def insert_place(
    arena: Arena,
    key_layout: Layout,
    key_words: int64,
    value_words: int64,
    header: int64,
    key: Place,
) -> tuple[Place, Code]:
    """The value of a key, to be written: `dict[key] = …`, `set.add`. That of a new key is zeros."""
    entry_words = 1 + key_words + value_words
    key_hash = hash_words(key_layout, key)
    entry = find_entry(key_layout, entry_words, header, key, key_hash)
    if entry < 0:
        return int64(0), LEFT
    value = 8 + key_words * 8
    if entry != 0:
        return entry + value, DONE
    is_full = get_word(header + TAKEN) == get_word(header + CAPACITY)
    if is_full and not rebuild(arena, entry_words, header):
        return int64(0), NO_ROOM
    number = get_word(header + TAKEN)
    entry = get_word(header) + number * entry_words * 8
    set_word(entry, key_hash)
    copy_words(key, entry + 8, key_words)
    for k in range(value_words):
        set_word(entry + value + k * 8, int64(0))
    index_entry(header, key_hash, number + 1)
    set_word(header + TAKEN, number + 1)
    set_word(header + COUNT, get_word(header + COUNT) + 1)
    set_word(header + CHANGES, get_word(header + CHANGES) + 1)
    return entry + value, DONE


@helper
def delete_entry(header: int64, entry: int64) -> None:
    """Delete an entry, whose words stay until a key comes."""
    set_word(entry, int64(0))
    set_word(header + COUNT, get_word(header + COUNT) - 1)
    set_word(header + CHANGES, get_word(header + CHANGES) + 1)


@helper
def take_place(
    key_layout: Layout, key_words: int64, value_words: int64, header: int64, key: Place
) -> tuple[Place, Code]:
    """The value of a key that was there, and is no longer; 0 if it was not: `discard`, `pop(key, x)`."""
    place, code = find_place(key_layout, key_words, value_words, header, key)
    if place != 0:
        delete_entry(header, place - 8 - key_words * 8)
    return place, code


@helper
def pop_item(key_words: int64, value_words: int64, header: int64) -> tuple[Place, Code]:
    """`dict.popitem()`: the words of the key, then those of the value."""
    size = (1 + key_words + value_words) * 8
    number = get_word(header + TAKEN)
    if get_word(header + COUNT) == 0:
        return int64(0), KEY_ERROR
    entry = get_word(header) + (number - 1) * size
    while get_word(entry) == 0:
        entry -= size
    delete_entry(header, entry)
    return entry + 8, DONE


# What `dict` has methods for.


@helper
def get_optional(
    arena: Arena,
    key_layout: Layout,
    value_layout: Layout,
    key_words: int64,
    value_words: int64,
    header: int64,
    key: Place,
) -> tuple[Place, Code]:
    """`dict.get(key)`: a value that may be None."""
    place, code = find_place(key_layout, key_words, value_words, header, key)
    if code != DONE:
        return place, code
    return as_optional(arena, value_layout, value_words, place)


@helper
def as_optional(
    arena: Arena, value_layout: Layout, value_words: int64, place: Place
) -> tuple[Place, Code]:
    """A value that may be None, of a value's place, or of 0 for None."""
    optional = allocate(arena, value_words * 8 + 8)
    if optional == 0:
        return optional, NO_ROOM
    part = value_layout & 15
    set_word(optional, int64(place == 0 and part != NODE))
    if place != 0:
        # A value that may be None anyway says so itself.
        flag = int64(8 if part != OPTIONAL and part != NODE else 0)
        copy_words(place, optional + flag, value_words)
    return optional, DONE


@helper
def set_default(
    arena: Arena,
    key_layout: Layout,
    key_words: int64,
    value_words: int64,
    header: int64,
    key: Place,
    default: Place,
) -> tuple[Place, Code]:
    """`dict.setdefault(key, default)`."""
    before = get_word(header + COUNT)
    place, code = insert_place(arena, key_layout, key_words, value_words, header, key)
    if get_word(header + COUNT) != before:
        copy_words(default, place, value_words)
    return place, code


# One entry after the other.


@helper
def next_item(key_words: int64, value_words: int64, header: int64, place: Place) -> Place:
    """The words of a key, then of its value, of the first item behind another; 0 behind the last.

    Begin with 0. In a loop of `dict_changes` that change, the row is left to Python.
    """
    size = (1 + key_words + value_words) * 8
    entry = place - 8 + size if place != 0 else get_word(header)
    end = get_word(header) + get_word(header + TAKEN) * size
    while entry < end:
        if get_word(entry) != 0:
            return entry + 8
        entry += size
    return int64(0)


@helper
def list_of_entries(arena: Arena, key_words: int64, value_words: int64, header: int64) -> int64:
    """A list of the keys of a dictionary or set, each with its value; 0 if the arena has no room."""
    words = key_words + value_words
    list_ = new_list(arena, words, get_word(header + COUNT))
    if list_ != 0:
        place = get_word(list_)
        key = next_item(key_words, value_words, header, int64(0))
        while key != 0:
            copy_words(key, place, words)
            place += words * 8
            key = next_item(key_words, value_words, header, key)
        set_word(list_ + 8, get_word(header + COUNT))
    return list_


@helper
def update(
    arena: Arena,
    key_layout: Layout,
    key_words: int64,
    value_words: int64,
    header: int64,
    other: int64,
) -> tuple[int64, Code]:
    """`dict.update(other)`, `set.update(other)`, `|=`: the same dictionary, with the items of another."""
    if header == other:
        return header, DONE
    key = next_item(key_words, value_words, other, int64(0))
    while key != 0:
        place, code = insert_place(arena, key_layout, key_words, value_words, header, key)
        if code != DONE:
            return header, code
        copy_words(key + key_words * 8, place, value_words)
        key = next_item(key_words, value_words, other, key)
    return header, DONE


@helper
def copy_dict(arena: Arena, key_words: int64, header: int64) -> tuple[int64, Code]:
    """`dict.copy()`, `set.copy()`, `dict(dict)`, `set(set)`: the entries, and the index behind them."""
    if get_word(header + CAPACITY) == 0:
        other = new_dict(arena, key_words)
        return other, NO_ROOM if other == 0 else DONE
    index = get_word(header + SLOTS) - get_word(header)
    slots = get_word(header + MASK) + 1
    other = allocate(arena, HEADER + index + slots * 8)
    if other == 0:
        return other, NO_ROOM
    copy_words(header, other, int64(HEADER // 8))
    entries = other + HEADER
    # Of equal sizes, whatever room there is.
    taken = get_word(header + TAKEN) * index // (get_word(header + CAPACITY) + 1)
    copy_words(get_word(header), entries, taken // 8)
    copy_words(get_word(header + SLOTS), entries + index, slots)
    set_word(other, entries)
    set_word(other + SLOTS, entries + index)
    return other, DONE


@helper
def merged(
    arena: Arena,
    key_layout: Layout,
    key_words: int64,
    value_words: int64,
    left: int64,
    right: int64,
) -> tuple[int64, Code]:
    """`left | right`."""
    union, code = copy_dict(arena, key_words, left)
    if code != DONE:
        return union, code
    return update(arena, key_layout, key_words, value_words, union, right)


@helper
def dicts_equal(
    key_layout: Layout,
    value_layout: Layout,
    key_words: int64,
    value_words: int64,
    left: int64,
    right: int64,
) -> tuple[bool, Code]:
    """`left == right` of dictionaries; of sets, with values of layout 0."""
    if get_word(left + COUNT) != get_word(right + COUNT):
        return False, DONE
    key = next_item(key_words, value_words, left, int64(0))
    while key != 0:
        place, code = find_place(key_layout, key_words, value_words, right, key)
        if place == 0:
            return False, code
        same = equal_words(value_layout, key + key_words * 8, place)
        if same != YES:
            return False, LEFT if same == UNKNOWN else DONE
        key = next_item(key_words, value_words, left, key)
    return True, DONE


# Counters


@helper
def count_items(
    arena: Arena, key_layout: Layout, key_words: int64, header: int64
) -> tuple[int64, Code]:
    """`Counter(list)`."""
    counter = new_dict(arena, key_words)
    if counter == 0:
        return counter, NO_ROOM
    key = get_word(header)
    for _ in range(get_word(header + 8)):
        place, code = insert_place(arena, key_layout, key_words, int64(1), counter, key)
        if code != DONE:
            return counter, code
        set_word(place, get_word(place) + 1)
        key += key_words * 8
    return counter, DONE


@helper
def most_common(arena: Arena, key_words: int64, header: int64, most: int64) -> tuple[int64, Code]:
    """`Counter.most_common(most)`, pairs of a key and its count; of all of them the greatest int64."""
    words = key_words + 1
    pairs = new_list(arena, words, get_word(header + COUNT))
    if pairs == 0:
        return pairs, NO_ROOM
    set_word(pairs + 8, get_word(header + COUNT))
    target = get_word(pairs)
    key = next_item(key_words, int64(1), header, int64(0))
    while key != 0:
        # The count first: what is sorted by.
        set_word(target, get_word(key + key_words * 8))
        copy_words(key, target + 8, key_words)
        target += words * 8
        key = next_item(key_words, int64(1), header, key)
    pairs, code = sort(arena, int64(NUMBER), words, pairs, True)
    size = max(min(get_word(pairs + 8), most), int64(0))
    set_word(pairs + 8, size)
    place = get_word(pairs)
    for _ in range(size):
        count = get_word(place)
        copy_words(place + 8, place, key_words)
        set_word(place + key_words * 8, count)
        place += words * 8
    return pairs, code
