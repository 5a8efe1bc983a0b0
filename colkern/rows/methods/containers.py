"""Rows for lists, dictionaries and sets.

Methods that return the elements of a set one after the other have no row: Python's order depends on hashes.
"""

from __future__ import annotations

import operator
from typing import Any

from colkern.kernels import constant_tables, row_dicts, row_lists, row_sets, row_sorting
from colkern.rows.methods import Body, Bound, Method, in_order, raised_by, steps_of

_COPY = Bound(row_lists.repeat, times=1)

_UNION = Bound(row_dicts.merged, value_words=0)

_AS_SETS: dict[str, Any] = {"value_layout": 0, "value_words": 0}

_PROPER_SUBSET = Bound(
    row_sets.is_subset, result="{} and get_word(left + COUNT) != get_word(right + COUNT)"
)


_KEYS = ("key_layout", "key_words")
_WORDS = (*_KEYS, "value_words")


def _contains(find: Body, *leading: str, **values: Any) -> Body:
    """Returns the body of `in`, from the body that finds a key."""
    return Bound(find, *leading, "key", "header", result="{} != 0", **values)


_NO_KEY = raised_by(operator.getitem, {}, "?")

HAS_KEY = "KEY_ERROR if result == 0 and code == DONE else code"
"""The code where a key must be there, from that of the body that finds it."""


def _or_default(find: Body, *leading: str) -> Body:
    """Returns the body of `get` or `pop` with a default, from the body that finds a key."""
    order = (*leading, "header", "key", "default: Place")
    return Bound(find, *order, result="{0} if {0} != 0 else default", gives="Place")


def _swapped(body: Body) -> Body:
    return Bound(body, *_KEYS, "right", "left")


_LISTS = [
    Method("len", "(list[T]) -> int", row_lists.list_size),
    Method(
        "[]",
        "(list[T], int) -> T",
        row_lists.index_place,
        message=raised_by(operator.getitem, [], 0),
    ),
    Method("[]=", "(list[T], int, T) -> None", Bound(row_lists.index_place, gives="Room")),
    Method("[:]", "(list[T], int, int) -> list[T]", Bound(row_lists.slice_list, step=1)),
    Method(
        "[:]",
        "(list[T], int, None) -> list[T]",
        Bound(row_lists.slice_list, stop="GREATEST", step=1),
    ),
    Method("[:]", "(list[T], None, int) -> list[T]", Bound(row_lists.slice_list, start=0, step=1)),
    Method("[:]", "(list[T], None, None) -> list[T]", _COPY),
    *steps_of("list[T]", row_lists.slice_list),
    Method("in", "(T, list[T]) -> bool", row_lists.is_in),
    Method("+", "(list[T], list[T]) -> list[T]", row_lists.concatenate),
    Method("*", "(list[T], int) -> list[T]", row_lists.repeat),
    Method(
        "*",
        "(int, list[T]) -> list[T]",
        Bound(row_lists.repeat, "arena", "item_words", "times", "header"),
    ),
    Method("==", "(list[T], list[T]) -> bool", row_lists.lists_equal),
    Method("!=", "(list[T], list[T]) -> bool", Bound(row_lists.lists_equal, result="not {}")),
    *in_order("list[T]", row_lists.compare_lists),
    Method("list.clear", "(list[T]) -> None", row_lists.clear),
    Method("list.copy", "(list[T]) -> list[T]", _COPY),
    Method("list.count", "(list[T], T) -> int", row_lists.count),
    Method("list.extend", "(list[T], list[T]) -> None", row_lists.extend),
    Method(
        "list.index",
        "(list[T], T, int = 0, int = 9223372036854775807) -> int",
        row_lists.index,
        message=raised_by(list.index, [], "?"),
    ),
    Method("list.insert", "(list[T], int, T) -> None", row_lists.insert_place),
    Method("list.pop", "(list[T], int = -1) -> T", row_lists.pop_place),
    Method(
        "list.remove",
        "(list[T], T) -> None",
        row_lists.remove,
        message=raised_by(list.remove, [], "?"),
    ),
    Method("list.reverse", "(list[T]) -> None", row_lists.reverse),
    Method("list.sort", "(list[T], reverse: bool = False) -> None", row_sorting.sort),
    Method("sorted", "(list[T], reverse: bool = False) -> list[T]", row_sorting.sorted_list),
]


def _look_ups(
    key: str, leading: tuple[str, ...], find: Body, code: str, get_optional: Body
) -> list[Method]:
    """Returns the rows that look for a key of a kind, with the parameters that come before it."""
    of_set = tuple(name for name in leading if name != "value_words")
    dict_ = f"dict[{key}, V], {key}"
    return [
        Method("[]", f"({dict_}) -> V", Bound(find, code=code), message=_NO_KEY),
        Method("in", f"({key}, dict[{key}, V]) -> bool", _contains(find, *leading)),
        Method("in", f"({key}, set[{key}]) -> bool", _contains(find, *of_set, value_words=0)),
        Method("dict.get", f"({dict_}, V) -> V", _or_default(find, *leading)),
        Method("dict.get", f"({dict_}) -> V | None", get_optional),
        Method("dict.get", f"({dict_}, None) -> V | None", get_optional),
    ]


_LOOK_UPS = [
    *(
        row
        for key, find, get_optional in (
            ("str", constant_tables.find_text, constant_tables.get_text_optional),
            ("int", constant_tables.find_number, constant_tables.get_number_optional),
        )
        for row in _look_ups(
            key, ("value_words",), find, "KEY_ERROR if result == 0 else DONE", get_optional
        )
    ),
    *_look_ups("K", _WORDS, row_dicts.find_place, HAS_KEY, row_dicts.get_optional),
]

_DICTS = [
    Method("len", "(dict[K, V]) -> int", row_dicts.dict_size),
    Method("[]=", "(dict[K, V], K, V) -> None", Bound(row_dicts.insert_place, gives="Room")),
    Method("==", "(dict[K, V], dict[K, V]) -> bool", row_dicts.dicts_equal),
    Method("!=", "(dict[K, V], dict[K, V]) -> bool", Bound(row_dicts.dicts_equal, result="not {}")),
    Method("|", "(dict[K, V], dict[K, V]) -> dict[K, V]", row_dicts.merged),
    Method("dict.clear", "(dict[K, V]) -> None", row_dicts.clear_dict),
    Method("dict.copy", "(dict[K, V]) -> dict[K, V]", row_dicts.copy_dict),
    Method(
        "dict.pop",
        "(dict[K, V], K) -> V",
        Bound(row_dicts.take_place, code=HAS_KEY),
        message=_NO_KEY,
    ),
    Method("dict.pop", "(dict[K, V], K, V) -> V", _or_default(row_dicts.take_place, *_WORDS)),
    Method("dict.popitem", "(dict[K, V]) -> tuple[K, V]", row_dicts.pop_item),
    Method("dict.setdefault", "(dict[K, V], K, V) -> V", row_dicts.set_default),
    Method("dict.update", "(dict[K, V], dict[K, V]) -> None", row_dicts.update),
]

_SETS = [
    Method("len", "(set[K]) -> int", row_dicts.dict_size),
    Method("|", "(set[K], set[K]) -> set[K]", _UNION),
    Method("&", "(set[K], set[K]) -> set[K]", row_sets.intersection),
    Method("-", "(set[K], set[K]) -> set[K]", row_sets.difference),
    Method("^", "(set[K], set[K]) -> set[K]", row_sets.symmetric_difference),
    Method("==", "(set[K], set[K]) -> bool", Bound(row_dicts.dicts_equal, **_AS_SETS)),
    Method(
        "!=", "(set[K], set[K]) -> bool", Bound(row_dicts.dicts_equal, result="not {}", **_AS_SETS)
    ),
    Method("<", "(set[K], set[K]) -> bool", _PROPER_SUBSET),
    Method("<=", "(set[K], set[K]) -> bool", row_sets.is_subset),
    Method(">", "(set[K], set[K]) -> bool", _swapped(_PROPER_SUBSET)),
    Method(">=", "(set[K], set[K]) -> bool", _swapped(row_sets.is_subset)),
    Method(
        "set.add",
        "(set[K], K) -> None",
        Bound(row_dicts.insert_place, value_words=0, result="header"),
    ),
    Method("set.clear", "(set[K]) -> None", row_dicts.clear_dict),
    Method("set.copy", "(set[K]) -> set[K]", row_dicts.copy_dict),
    Method("set.difference", "(set[K], set[K]) -> set[K]", row_sets.difference),
    Method(
        "set.discard",
        "(set[K], K) -> None",
        Bound(row_dicts.take_place, value_words=0, result="header"),
    ),
    Method("set.intersection", "(set[K], set[K]) -> set[K]", row_sets.intersection),
    Method(
        "set.isdisjoint", "(set[K], set[K]) -> bool", Bound(row_sets.count_common, result="{} == 0")
    ),
    Method("set.issubset", "(set[K], set[K]) -> bool", row_sets.is_subset),
    Method("set.issuperset", "(set[K], set[K]) -> bool", _swapped(row_sets.is_subset)),
    Method(
        "set.remove",
        "(set[K], K) -> None",
        Bound(row_dicts.take_place, value_words=0, result="header", code=HAS_KEY),
    ),
    Method("set.symmetric_difference", "(set[K], set[K]) -> set[K]", row_sets.symmetric_difference),
    Method("set.union", "(set[K], set[K]) -> set[K]", _UNION),
    Method("set.update", "(set[K], set[K]) -> None", Bound(row_dicts.update, value_words=0)),
]

METHODS = [*_LISTS, *_LOOK_UPS, *_DICTS, *_SETS]
