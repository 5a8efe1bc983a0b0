"""Rows of lists, dictionaries and sets.

What gives the elements of a set one after the other has no row: their order is that of Python's hashes.
"""

from __future__ import annotations

from colkern.kernels import constant_tables, row_dicts, row_lists, row_sets, row_sorting
from colkern.rows.methods import Method

_LISTS = [
    Method("len", "(list[T]) -> int", row_lists.list_size),
    Method("[]", "(list[T], int) -> T", row_lists.index_place),
    Method("[]=", "(list[T], int, T) -> None", row_lists.set_place),
    Method("[:]", "(list[T], int, int) -> list[T]", row_lists.slice_between),
    Method("[:]", "(list[T], int, None) -> list[T]", row_lists.slice_from),
    Method("[:]", "(list[T], None, int) -> list[T]", row_lists.slice_to),
    Method("[:]", "(list[T], None, None) -> list[T]", row_lists.copy_list),
    Method("[::]", "(list[T], int, int, int) -> list[T]", row_lists.slice_list),
    Method("[::]", "(list[T], int, None, int) -> list[T]", row_lists.slice_step_from),
    Method("[::]", "(list[T], None, int, int) -> list[T]", row_lists.slice_step_to),
    Method("[::]", "(list[T], None, None, int) -> list[T]", row_lists.slice_step),
    Method("in", "(T, list[T]) -> bool", row_lists.is_in),
    Method("+", "(list[T], list[T]) -> list[T]", row_lists.concatenate),
    Method("*", "(list[T], int) -> list[T]", row_lists.repeat),
    Method("*", "(int, list[T]) -> list[T]", row_lists.repeated),
    Method("==", "(list[T], list[T]) -> bool", row_lists.lists_equal),
    Method("!=", "(list[T], list[T]) -> bool", row_lists.lists_differ),
    Method("<", "(list[T], list[T]) -> bool", row_lists.is_less),
    Method("<=", "(list[T], list[T]) -> bool", row_lists.is_at_most),
    Method(">", "(list[T], list[T]) -> bool", row_lists.is_greater),
    Method(">=", "(list[T], list[T]) -> bool", row_lists.is_at_least),
    Method("list.clear", "(list[T]) -> None", row_lists.clear),
    Method("list.copy", "(list[T]) -> list[T]", row_lists.copy_list),
    Method("list.count", "(list[T], T) -> int", row_lists.count),
    Method("list.extend", "(list[T], list[T]) -> None", row_lists.extend),
    Method(
        "list.index",
        "(list[T], T, int = 0, int = 9223372036854775807) -> int",
        row_lists.index,
    ),
    Method("list.insert", "(list[T], int, T) -> None", row_lists.insert_place),
    Method("list.pop", "(list[T], int = -1) -> T", row_lists.pop_place),
    Method("list.remove", "(list[T], T) -> None", row_lists.remove),
    Method("list.reverse", "(list[T]) -> None", row_lists.reverse),
    Method("list.sort", "(list[T], reverse: bool = False) -> None", row_sorting.sort),
    Method("sorted", "(list[T], reverse: bool = False) -> list[T]", row_sorting.sorted_list),
]

_LOOK_UPS = [
    Method("[]", "(dict[str, V], str) -> V", constant_tables.get_text),
    Method("[]", "(dict[int, V], int) -> V", constant_tables.get_number),
    Method("[]", "(dict[K, V], K) -> V", row_dicts.get_place),
    Method("in", "(str, dict[str, V]) -> bool", constant_tables.is_text_key),
    Method("in", "(int, dict[int, V]) -> bool", constant_tables.is_number_key),
    Method("in", "(K, dict[K, V]) -> bool", row_dicts.is_key),
    Method("in", "(str, set[str]) -> bool", constant_tables.is_text_element),
    Method("in", "(int, set[int]) -> bool", constant_tables.is_number_element),
    Method("in", "(K, set[K]) -> bool", row_sets.is_element),
    Method("dict.get", "(dict[str, V], str, V) -> V", constant_tables.get_text_or),
    Method("dict.get", "(dict[int, V], int, V) -> V", constant_tables.get_number_or),
    Method("dict.get", "(dict[K, V], K, V) -> V", row_dicts.get_or),
    Method("dict.get", "(dict[str, V], str) -> V | None", constant_tables.get_text_optional),
    Method("dict.get", "(dict[int, V], int) -> V | None", constant_tables.get_number_optional),
    Method("dict.get", "(dict[K, V], K) -> V | None", row_dicts.get_optional),
    Method("dict.get", "(dict[str, V], str, None) -> V | None", constant_tables.get_text_optional),
    Method(
        "dict.get", "(dict[int, V], int, None) -> V | None", constant_tables.get_number_optional
    ),
    Method("dict.get", "(dict[K, V], K, None) -> V | None", row_dicts.get_optional),
]

_DICTS = [
    Method("len", "(dict[K, V]) -> int", row_dicts.dict_size),
    Method("[]=", "(dict[K, V], K, V) -> None", row_dicts.set_place),
    Method("==", "(dict[K, V], dict[K, V]) -> bool", row_dicts.dicts_equal),
    Method("!=", "(dict[K, V], dict[K, V]) -> bool", row_dicts.dicts_differ),
    Method("|", "(dict[K, V], dict[K, V]) -> dict[K, V]", row_dicts.merged),
    Method("dict.clear", "(dict[K, V]) -> None", row_dicts.clear_dict),
    Method("dict.copy", "(dict[K, V]) -> dict[K, V]", row_dicts.copy_dict),
    Method("dict.pop", "(dict[K, V], K) -> V", row_dicts.pop_key),
    Method("dict.pop", "(dict[K, V], K, V) -> V", row_dicts.pop_or),
    Method("dict.popitem", "(dict[K, V]) -> tuple[K, V]", row_dicts.pop_item),
    Method("dict.setdefault", "(dict[K, V], K, V) -> V", row_dicts.set_default),
    Method("dict.update", "(dict[K, V], dict[K, V]) -> None", row_dicts.update),
]

_SETS = [
    Method("len", "(set[K]) -> int", row_dicts.dict_size),
    Method("|", "(set[K], set[K]) -> set[K]", row_sets.union),
    Method("&", "(set[K], set[K]) -> set[K]", row_sets.intersection),
    Method("-", "(set[K], set[K]) -> set[K]", row_sets.difference),
    Method("^", "(set[K], set[K]) -> set[K]", row_sets.symmetric_difference),
    Method("==", "(set[K], set[K]) -> bool", row_sets.sets_equal),
    Method("!=", "(set[K], set[K]) -> bool", row_sets.sets_differ),
    Method("<", "(set[K], set[K]) -> bool", row_sets.is_less),
    Method("<=", "(set[K], set[K]) -> bool", row_sets.is_subset),
    Method(">", "(set[K], set[K]) -> bool", row_sets.is_greater),
    Method(">=", "(set[K], set[K]) -> bool", row_sets.is_superset),
    Method("set.add", "(set[K], K) -> None", row_sets.add),
    Method("set.clear", "(set[K]) -> None", row_dicts.clear_dict),
    Method("set.copy", "(set[K]) -> set[K]", row_sets.copy_set),
    Method("set.difference", "(set[K], set[K]) -> set[K]", row_sets.difference),
    Method("set.discard", "(set[K], K) -> None", row_sets.discard),
    Method("set.intersection", "(set[K], set[K]) -> set[K]", row_sets.intersection),
    Method("set.isdisjoint", "(set[K], set[K]) -> bool", row_sets.is_disjoint),
    Method("set.issubset", "(set[K], set[K]) -> bool", row_sets.is_subset),
    Method("set.issuperset", "(set[K], set[K]) -> bool", row_sets.is_superset),
    Method("set.remove", "(set[K], K) -> None", row_sets.remove),
    Method("set.symmetric_difference", "(set[K], set[K]) -> set[K]", row_sets.symmetric_difference),
    Method("set.union", "(set[K], set[K]) -> set[K]", row_sets.union),
    Method("set.update", "(set[K], set[K]) -> None", row_sets.update_set),
]

METHODS = [*_LISTS, *_LOOK_UPS, *_DICTS, *_SETS]
