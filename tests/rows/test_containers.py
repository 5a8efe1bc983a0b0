"""Lists, dictionaries, sets and constants of row functions do as Python's do."""

from __future__ import annotations

import copy
import math
import operator
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colkern.errors import UnsupportedError
from colkern.kernels import constant_tables, row_dicts, row_items, row_lists, row_sets, row_sorting
from colkern.kernels.primitives import get_word, set_word
from colkern.kernels.row_values import NO_ROOM
from colkern.rows import kinds as k
from colkern.rows import table
from colkern.rows.constants import constant_block, hash_of, kind_of, layout_of, sequence_kind
from colkern.rows.kinds import Kind
from colkern.rows.methods import Bound, Method
from colkern.rows.methods.containers import HAS_KEY, METHODS
from tests.rows.bodies import LEFT
from tests.rows.containers import Containers, row_of

BY = ("plain", "compiled")
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1

few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))

texts = st.text(st.sampled_from("aabcé€😀\0\x7f"), max_size=20)
floats = st.sampled_from([0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, 1e300]) | st.floats(
    allow_nan=False
)
integers = st.integers(-3, 3) | st.integers(LEAST, GREATEST)
STRATEGIES: dict[Kind, st.SearchStrategy[Any]] = {
    k.INT: integers,
    k.FLOAT: floats,
    k.TEXT: texts,
    k.BYTES: texts.map(str.encode),
    k.tuple_of((k.TEXT, k.INT)): st.tuples(texts, integers),
    k.tuple_of((k.FLOAT, k.TEXT, k.BOOL)): st.tuples(floats, texts, st.booleans()),
}
OPTIONAL: dict[Kind, st.SearchStrategy[Any]] = {
    k.optional(k.TEXT): st.none() | texts,
    k.tuple_of((k.optional(k.FLOAT), k.INT)): st.tuples(st.none() | floats, st.integers(0, 2)),
}


AT_KEY, POP_KEY = (
    Bound(find, code=HAS_KEY).function for find in (row_dicts.find_place, row_dicts.take_place)
)


def outcome(function: Callable[[], Any]) -> Any:
    """A function's result, or the class of its exception."""
    try:
        return function()
    except (IndexError, KeyError, ValueError, TypeError) as error:
        return type(error)


def same(left: Any, right: Any) -> bool:
    """Whether values are equal, and zeros of one sign."""
    return repr(left) == repr(right)


# Lists.


def _get(c: Containers, handle: int, place: Any) -> Any:
    return place if not isinstance(place, int) else c.read(place, c.item)


def _list_step(c: Containers, handle: int, mine: list[Any], data: Any, value: Any, n: int) -> None:
    """One operation on a list and on Python's, with the same outcome."""
    call, place = c.call, c.place(value, c.item)
    step = data.draw(st.sampled_from(range(12)))
    if step <= 1:
        c.put(call(row_lists.append_place, handle), value, c.item)
        mine.append(value)
    elif step == 2:
        assert same(
            _get(c, handle, call(row_lists.index_place, handle, n)), outcome(lambda: mine[n])
        )
    elif step == 3:
        popped = _get(c, handle, call(row_lists.pop_place, handle, n))
        assert same(popped, outcome(lambda: mine.pop(n)))
    elif step == 4:
        c.put(call(row_lists.insert_place, handle, n), value, c.item)
        mine.insert(n, value)
    elif step == 5:
        actual = call(row_lists.remove, handle, place)
        assert outcome(lambda: mine.remove(value)) in (None, actual)
    elif step == 6:
        assert call(row_lists.count, handle, place) == mine.count(value)
        assert call(row_lists.is_in, place, handle) == (value in mine)
    elif step == 7:
        bounds = data.draw(st.sampled_from([(0, GREATEST), (n, GREATEST), (-2, 4), (LEAST, n)]))
        actual = call(row_lists.index, handle, place, *bounds)
        assert actual == outcome(lambda: mine.index(value, *bounds))
    elif step == 8:
        call(row_lists.reverse, handle)
        mine.reverse()
    elif step == 9:
        call(row_lists.extend, handle, c.list([value, value]))
        mine.extend([value, value])
        call(row_lists.extend, handle, handle)
        mine.extend(mine)
        del mine[9:]
        while row_lists.list_size(handle) > 9:
            call(row_lists.pop_place, handle, -1)
    elif step == 10:
        both = call(row_lists.concatenate, handle, c.list([value]))
        assert same(c.values(both), [*mine, value])
        assert same(c.values(call(row_lists.repeat, handle, n)), mine * n)
    else:
        call(row_lists.clear, handle)
        mine.clear()


@pytest.mark.parametrize("by", BY)
@few
@given(data=st.data())
def test_lists_change_as_python_s(by: str, data: Any) -> None:
    kind = data.draw(st.sampled_from([*STRATEGIES, *OPTIONAL]))
    values = (STRATEGIES | OPTIONAL)[kind]
    c = Containers(by, kind)
    mine = data.draw(st.lists(values, max_size=5))
    handle = c.list(mine)
    for _ in range(data.draw(st.integers(1, 8))):
        value = data.draw(st.sampled_from(mine) if mine and data.draw(st.booleans()) else values)
        _list_step(c, handle, mine, data, value, data.draw(st.integers(-6, 6)))
        assert same(c.values(handle), mine)


_BOUNDS = [None, 0, 1, 3, 9, -1, -3, -9, LEAST, GREATEST]


@pytest.mark.parametrize("by", BY)
def test_slices_are_python_s(by: str) -> None:
    c = Containers(by, k.TEXT)
    values = ["a", "b", "é", ""]
    handle = c.list(values)
    for step in (None, 1, 2, 5, -1, -2, -5, LEAST, GREATEST):
        low, high = (LEAST, GREATEST) if step is None or step > 0 else (GREATEST, LEAST)
        for start in _BOUNDS:
            for stop in _BOUNDS if by == "compiled" else _BOUNDS[::3]:
                part = c.call(
                    row_lists.slice_list,
                    handle,
                    low if start is None else start,
                    high if stop is None else stop,
                    1 if step is None else step,
                )
                assert c.values(part) == values[start:stop:step]
    assert c.call(row_lists.slice_list, handle, 0, 1, 0) is ValueError
    assert c.values(c.call(row_lists.slice_list, c.list([]), LEAST, GREATEST, 1)) == []


@pytest.mark.parametrize("by", BY)
@few
@given(data=st.data())
def test_lists_compare_as_python_s(by: str, data: Any) -> None:
    kind = data.draw(st.sampled_from([*STRATEGIES]))
    c = Containers(by, kind)
    left = data.draw(st.lists(STRATEGIES[kind], max_size=4))
    tail = data.draw(st.lists(STRATEGIES[kind], max_size=2))
    right = left[: data.draw(st.integers(0, 4))] + tail
    handles = c.list(left), c.list(right)
    assert c.call(row_lists.lists_equal, *handles) == (left == right)
    assert c.call(row_lists.compare_lists, *handles) == (left > right) - (left < right)


@pytest.mark.parametrize("by", BY)
@few
@given(data=st.data())
def test_lists_sort_as_python_s(by: str, data: Any) -> None:
    kind = data.draw(st.sampled_from([*STRATEGIES]))
    c = Containers(by, kind, room=1 << 20)
    values = data.draw(st.lists(STRATEGIES[kind], max_size=12))
    values *= data.draw(st.sampled_from([1, 1, 4]))
    handle, descending = c.list(values), data.draw(st.booleans())
    assert same(
        c.values(c.call(row_sorting.sorted_list, handle, descending)),
        sorted(values, reverse=descending),
    )
    assert same(c.values(handle), values)
    c.call(row_sorting.sort, handle, descending)
    values.sort(reverse=descending)
    assert same(c.values(handle), values)


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("descending", [False, True])
def test_a_sort_by_the_first_words_of_an_item_is_stable(by: str, descending: bool) -> None:
    c = Containers(by, k.tuple_of((k.INT, k.INT)), room=1 << 20)
    values = [(n * 7 % 5, n) for n in range(100)]
    handle = c.list(values)
    c.call(row_sorting.sort, handle, descending, item_layout=row_items.NUMBER)
    assert c.values(handle) == sorted(values, key=lambda pair: pair[0], reverse=descending)


@pytest.mark.parametrize("by", BY)
def test_what_depends_on_a_nan_or_on_none_is_left_to_python(by: str) -> None:
    c = Containers(by, k.FLOAT)
    handle, nan = c.list([1.0, math.nan]), c.place(math.nan, k.FLOAT)
    assert c.call(row_lists.is_in, nan, handle) == LEFT
    assert c.call(row_lists.is_in, c.place(2.0, k.FLOAT), handle) is False
    assert c.call(row_lists.count, handle, nan) == LEFT
    assert c.call(row_lists.lists_equal, handle, c.list([1.0, math.nan])) == LEFT
    assert c.call(row_lists.lists_equal, handle, c.list([1.0, 2.0])) is False
    assert c.call(row_lists.compare_lists, handle, c.list([1.0, 2.0])) == LEFT
    assert c.call(row_sorting.sort, handle, False) == LEFT
    c = Containers(by, k.optional(k.INT))
    assert c.call(row_sorting.sort, c.list([1, None]), False) == LEFT
    c = Containers(by, k.list_of(k.INT))
    assert c.call(row_lists.lists_equal, c.list([[1]]), c.list([[1]])) == LEFT
    assert c.call(row_sorting.sort, c.list([[1], [0]]), False) == LEFT


# Dictionaries.


def _dict_step(c: Containers, handle: int, mine: dict[Any, Any], data: Any, key: Any) -> None:
    """One operation on a dictionary and on Python's, with the same outcome."""
    call, value = c.call, data.draw(st.integers(-2, 2))
    room = call(row_dicts.key_room, handle)
    c.put(room, key, c.item)
    step = data.draw(st.sampled_from(range(8)))

    def read(place: Any) -> Any:
        return c.read(place, c.value) if isinstance(place, int) and place else place

    if step <= 2:
        place = call(row_dicts.insert_place, handle, room)
        assert same(read(place), mine.get(key, 0))
        set_word(place, value)
        mine[key] = value
    elif step == 3:
        assert same(read(call(AT_KEY, handle, room)), outcome(lambda: mine[key]))
        assert (call(row_dicts.find_place, handle, room) != 0) == (key in mine)
    elif step == 4:
        assert same(read(call(POP_KEY, handle, room)), outcome(lambda: mine.pop(key)))
    elif step == 5:
        place = call(row_dicts.pop_item, handle)
        pair = k.tuple_of((c.item, c.value))
        actual = c.read(place, pair) if isinstance(place, int) else place
        assert same(actual, outcome(mine.popitem))
    elif step == 6:
        changes = row_dicts.dict_changes(handle)
        assert (read(call(row_dicts.take_place, handle, room)) or None) == (
            mine.pop(key, 0) or None
        )
        assert row_dicts.dict_changes(handle) in (changes, changes + 1)
    elif data.draw(st.integers(0, 4)) == 0:
        call(row_dicts.clear_dict, handle)
        mine.clear()


@pytest.mark.parametrize("by", BY)
@few
@given(data=st.data())
def test_dictionaries_change_as_python_s(by: str, data: Any) -> None:
    kind = data.draw(st.sampled_from([*STRATEGIES, *OPTIONAL]))
    c = Containers(by, kind, k.INT)
    of = k.dict_of(kind, k.INT)
    keys = data.draw(st.lists((STRATEGIES | OPTIONAL)[kind], min_size=1, max_size=9))
    handle, mine = c.call(row_dicts.new_dict), {}
    for _ in range(data.draw(st.integers(1, 20))):
        _dict_step(c, handle, mine, data, data.draw(st.sampled_from(keys)))
        assert same(c.values(handle, of), mine)
    other = c.call(row_dicts.copy_dict, handle)
    assert c.call(row_dicts.dicts_equal, handle, other) is True
    keep = data.draw(st.integers(0, 9))
    changed = dict.fromkeys(keys[:keep], 7)
    source = int(get_word(c.place(changed, of)))
    c.call(row_dicts.update, other, source)
    assert same(c.values(other, of), mine | changed)
    assert c.call(row_dicts.dicts_equal, handle, other) == (mine == mine | changed)


@pytest.mark.parametrize("by", BY)
def test_a_dictionary_grows_and_forgets_its_deleted_keys(by: str) -> None:
    c = Containers(by, k.INT, k.INT, room=1 << 22)
    handle, mine = c.call(row_dicts.new_dict), {}
    for n in range(300):
        key = n * 37 % 91 - 45
        place = c.place(key, k.INT)
        if n % 3:
            set_word(c.call(row_dicts.insert_place, handle, place), n)
            mine[key] = n
        else:
            c.call(row_dicts.take_place, handle, place)
            mine.pop(key, None)
    assert list(c.values(handle, k.dict_of(k.INT, k.INT)).items()) == list(mine.items())
    assert get_word(handle + row_dicts.CAPACITY) <= 256


@pytest.mark.parametrize("by", BY)
def test_a_full_arena_is_said(by: str) -> None:
    c = Containers(by, k.INT, room=400)
    handle = c.list([])
    first = c.call(row_dicts.new_dict)
    while place := c.call(row_lists.append_place, handle):
        c.put(place, 5, k.INT)
    assert c.values(handle) == [5] * row_lists.list_size(handle)
    while c.call(row_dicts.new_dict):
        pass
    assert c.call(row_lists.concatenate, handle, handle) == NO_ROOM
    assert c.call(row_dicts.insert_place, first, c.place(1, k.INT)) == NO_ROOM
    assert row_dicts.dict_size(first) == 0


# Sets.


@pytest.mark.parametrize("by", BY)
@few
@given(data=st.data())
def test_sets_combine_as_python_s(by: str, data: Any) -> None:
    kind = data.draw(st.sampled_from([*STRATEGIES, *OPTIONAL]))
    values = (STRATEGIES | OPTIONAL)[kind]
    c = Containers(by, kind)
    left = data.draw(st.lists(values, max_size=6))
    right = data.draw(st.lists(st.sampled_from(left) if left else values, max_size=6))
    right += data.draw(st.lists(values, max_size=2))
    mine, others = set(left), set(right)
    a, b = (c.call(row_dicts.new_dict) for _ in range(2))
    for handle, side in ((a, left), (b, right)):
        for item in side:
            c.call(row_dicts.insert_place, handle, c.place(item, kind))
    of = k.set_of(kind)
    operations = {
        row_dicts.merged: mine | others,
        row_sets.intersection: mine & others,
        row_sets.difference: mine - others,
        row_sets.symmetric_difference: mine ^ others,
    }
    for body, wanted in operations.items():
        actual = c.values(c.call(body, a, b), of)
        assert sorted(map(repr, actual)) == sorted(map(repr, wanted))
    common = c.call(row_sets.count_common, a, b)
    sizes = row_dicts.dict_size(a), row_dicts.dict_size(b)
    assert (common == sizes[0]) == (mine <= others)
    assert (common == sizes[0] < sizes[1]) == (mine < others)
    assert (common == 0) == mine.isdisjoint(others)
    assert c.call(row_dicts.dicts_equal, a, b) == (mine == others)


# Counters.


@pytest.mark.parametrize("by", BY)
@few
@given(data=st.data())
def test_counters_count_as_python_s(by: str, data: Any) -> None:
    kind = data.draw(st.sampled_from([*STRATEGIES]))
    some = data.draw(st.lists(STRATEGIES[kind], min_size=1, max_size=4))
    values = data.draw(st.lists(st.sampled_from(some), max_size=12))
    c = Containers(by, kind, k.INT)
    counted = c.call(row_dicts.count_items, c.list(values))
    mine = Counter(values)
    assert same(c.values(counted, k.dict_of(kind, k.INT)), dict(mine))
    pairs = k.list_of(k.tuple_of((kind, k.INT)))
    for most in (-1, 0, 1, 2, 99):
        actual = c.values(c.call(row_dicts.most_common, counted, most), pairs)
        assert same(actual, mine.most_common(most))
    assert same(
        c.values(c.call(row_dicts.most_common, counted, GREATEST), pairs), mine.most_common()
    )


# Rows of the table.

_ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "str": st.sampled_from(["", "a", "b", "é"]),
    "int": st.integers(-3, 3),
    "bool": st.booleans(),
    "None": st.none(),
}
_SYMBOLS: dict[str, Callable[..., Any]] = {
    "[]": operator.getitem,
    "[]=": operator.setitem,
    "[:]": lambda values, start, stop: values[start:stop],
    "[::]": lambda values, start, stop, step: values[start:stop:step],
    "in": lambda value, values: value in values,
    "+": operator.add,
    "*": operator.mul,
    "-": operator.sub,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "len": len,
    "sorted": lambda values, reverse: sorted(values, reverse=reverse),
    "list.sort": lambda values, reverse: values.sort(reverse=reverse),
}


def _argument(kind: Kind) -> st.SearchStrategy[Any]:
    if not isinstance(kind, k.Container):
        return _ARGUMENTS[kind.name]
    items = list(map(_argument, kind.items))
    if kind.name == "dict":
        return st.dictionaries(*items, max_size=3)
    return (st.lists if kind.name == "list" else st.sets)(items[0], max_size=3)


@pytest.mark.parametrize(
    "method", METHODS, ids=[f"{method.name}{method.signature}" for method in METHODS]
)
def test_a_row_of_the_table_does_as_python(method: Method) -> None:
    bindings: dict[str, Kind] = {"T": k.TEXT, "K": k.TEXT, "V": k.INT}
    parameters = row_of(method).parameters
    kinds = [table.kind_of(parameter.kind, bindings) for parameter in parameters]
    python = _SYMBOLS.get(method.name) or operator.methodcaller
    name = method.name.partition(".")[2]

    @settings(max_examples=12, deadline=None)
    @given(arguments=st.tuples(*map(_argument, kinds)))
    def check(arguments: tuple[Any, ...]) -> None:
        mine, theirs = copy.deepcopy(list(arguments)), copy.deepcopy(list(arguments))
        actual = Containers("plain", k.TEXT).do(method, mine, bindings)
        if python is operator.methodcaller:
            wanted = outcome(lambda: getattr(theirs[0], name)(*theirs[1:]))
        else:
            wanted = outcome(lambda: python(*theirs))
        assert actual == wanted
        if not isinstance(wanted, type):
            assert mine == theirs
            assert list(map(repr, mine)) == list(map(repr, theirs)) or "set" in method.signature

    check()


# Constants.


@pytest.mark.parametrize("by", BY)
@few
@given(data=st.data())
def test_constants_are_looked_up_as_python_s(by: str, data: Any) -> None:
    kind = data.draw(st.sampled_from([*STRATEGIES, *OPTIONAL]))
    values = (STRATEGIES | OPTIONAL)[kind]
    keys = data.draw(st.lists(values, min_size=1, max_size=12))
    table = {key: (str(key), [number]) for number, key in enumerate(keys)}
    of = k.dict_of(kind, k.tuple_of((k.TEXT, k.list_of(k.INT))))
    c = Containers(by, kind, of.items[1])
    header = int(get_word(c.place(table, of)))
    assert same(c.values(header, of), table)
    for key in [*keys, *data.draw(st.lists(values, max_size=3))]:
        at = c.place(key, kind)
        assert int(row_items.hash_words(layout_of(kind), at)) % (1 << 64) == hash_of(key, kind)
        place = c.call(row_dicts.find_place, header, at)
        actual = c.read(place, of.items[1]) if place else None
        assert same(actual, table.get(key))
        special = {k.TEXT: constant_tables.find_text}
        if kind in special:
            assert c.call(special[kind], header, c._memory.argument(key)) == place
        if kind == k.INT:
            assert c.call(constant_tables.find_number, header, key) == place


CONSTANTS = [
    ({"a": 1, "é": 2}, k.dict_of(k.TEXT, k.INT)),
    (frozenset({"x", "y", "x" * 100}), k.set_of(k.TEXT)),
    ({1: "a", None: "b"}, k.dict_of(k.optional(k.INT), k.TEXT)),
    ({("a", 1): None, ("b", 2): 0.5}, None),
    ([1.5, None], k.list_of(k.optional(k.FLOAT))),
    ({"a": {"b": [b"c"]}, "d": {}}, k.dict_of(k.TEXT, k.dict_of(k.TEXT, k.list_of(k.BYTES)))),
    (("a", 2), k.tuple_of((k.TEXT, k.INT))),
]


@pytest.mark.parametrize(("value", "kind"), CONSTANTS)
def test_a_constant_of_one_kind_is_read_back(value: Any, kind: Kind | None) -> None:
    actual = kind_of(value)
    assert kind in (None, actual)
    c = Containers("plain", k.INT)
    assert c.read(c.place(value, actual), actual) == value


def test_the_days_of_a_constant_are_numbers() -> None:
    c = Containers("plain", k.INT)
    value = {date(1970, 1, 2): timedelta(milliseconds=-1)}
    assert c.read(c.place(value, kind_of(value)), k.dict_of(k.INT, k.INT)) == {1: -1000}


def test_a_tuple_is_a_sequence_too() -> None:
    c = Containers("plain", k.INT)
    assert c.read(c.place(("a", "b"), sequence_kind(("a", "b"))), k.list_of(k.TEXT)) == ["a", "b"]


@pytest.mark.parametrize(
    "value",
    [
        {1: 1, "a": 1},
        [1, 2.0],
        [True, 1],
        [1 << 64],
        [-1, 1 << 63],
        {(1, 2): [1], (1, 3.0): [2]},
        object(),
        [len, 1],
        "\ud800",
    ],
)
def test_a_constant_of_several_kinds_is_refused(value: Any) -> None:
    with pytest.raises(UnsupportedError):
        constant_block(value, kind_of(value))


def test_a_block_is_the_same_in_every_process() -> None:
    names = [f"name {number}" for number in range(50)]
    kind = k.set_of(k.TEXT)
    assert constant_block({*names}, kind) == constant_block(names[::-1], kind)
