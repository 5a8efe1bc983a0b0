"""Lists of Python objects, by the loops that call CPython: as they are read one by one."""

import enum
import sys
import sysconfig
from collections.abc import Callable

import numba  # noqa: F401  # Loops are used where Numba is loaded.
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colkern as ck
from colkern.cpu import python_objects

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="objects are read where CPython with a GIL keeps them",
)

MANY = 100
"""Enough values for a loop."""

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = [
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.booleans(),
    TEXT,
    st.binary(max_size=20),
]


def lists(elements: st.SearchStrategy[object]) -> st.SearchStrategy[list[object]]:
    return st.lists(elements | st.none(), max_size=30).map(lambda values: values * MANY)


@given(values=st.one_of(*map(lists, VALUES)))
@settings(deadline=None)
def test_values_come_back_as_they_were(values: list[object]) -> None:
    built = ck.array(values)
    # By their digits: NaN equals nothing.
    assert repr(pa.array(built).to_pylist()) == repr(values)
    assert repr(built.to_pylist()) == repr(values)


@given(values=lists(st.lists(st.integers(0, 9) | st.none(), max_size=3)))
@settings(deadline=None)
def test_lists_come_back_as_they_were(values: list[object]) -> None:
    assert ck.array(values).to_pylist() == values


@pytest.mark.parametrize("count", [1, 16, 17, 40])
def test_all_classes_are_told_however_many_there_are(count: int) -> None:
    values = [type(f"Class{k}", (), {})() for k in range(count)] * MANY
    assert python_objects.classes_of(values) == set(map(type, values))


ROWS = st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 9) | st.none(), max_size=2)


@given(values=lists(st.fixed_dictionaries({"a": st.integers(0, 9), "b": st.none() | TEXT})))
@settings(deadline=None)
def test_dictionaries_come_back_as_they_were(values: list[object]) -> None:
    built = ck.array(values)
    assert pa.array(built).type == pa.array(values).type
    assert built.to_pylist() == values


@given(values=lists(ROWS))
@settings(deadline=None)
def test_what_dictionaries_lack_is_null(values: list[dict[str, object] | None]) -> None:
    built = ck.array(values, ck.struct({"b": ck.int64(), "a": ck.int64()}))
    expected = [v if v is None else {"b": v.get("b"), "a": v.get("a")} for v in values]
    assert built.to_pylist() == expected
    inferred = pa.array(ck.array(values)).to_pylist()
    assert inferred == pa.array(values).to_pylist()


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ({"c": 1}, r"values\[199\]: no field named 'c'"),
        ({"a": 1, 5: 2}, r"values\[199\]: no field named 5"),
        ({"a": "x"}, r"values\[199\]\['a'\]: expected an integer"),
        ([1], r"values\[199\]: expected a mapping or a tuple"),
    ],
)
def test_errors_of_dictionaries_name_the_place(odd: object, message: str) -> None:
    values = [{"a": 1}, None] * MANY
    values[-1] = odd  # type: ignore[call-overload]
    with pytest.raises((TypeError, ValueError), match=message):
        ck.array(values, ck.struct({"a": ck.int64()}))


class Treacherous(str):
    """A name that empties a list when it is compared."""

    victim: list[object]

    def __eq__(self, other: object) -> bool:
        self.victim.clear()
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_names_that_change_the_list_while_they_are_compared_do_no_harm() -> None:
    name = Treacherous("a")
    values: list[object] = [{name: number} for number in range(MANY)]
    name.victim = values
    built = ck.array(values, ck.struct({"a": ck.int64()}))
    assert built.to_pylist() == [{"a": number} for number in range(MANY)]


@pytest.mark.parametrize("nulls", [[], [None]], ids=["whole", "nulls"])
@pytest.mark.parametrize("wrap", [lambda v: [v, v], lambda v: {"a": v}, lambda v: [{"a": [v]}]])
def test_references_within_nested_values_are_neither_kept_nor_lost(
    wrap: Callable[[object], object], nulls: list[None]
) -> None:
    value = "text of its own é"
    values = [*nulls, *(wrap(value) for _ in range(MANY))]
    row, text = values[-1], sys.getrefcount(value)
    outer, none = sys.getrefcount(row), sys.getrefcount(None)
    for _ in range(3):
        actual = ck.array(values).to_pylist()
        assert actual == values
        assert sys.getrefcount(actual[-1]) == 2 if sys.version_info < (3, 14) else True
        del actual
    assert sys.getrefcount(value) == text
    assert sys.getrefcount(row) == outer
    assert abs(sys.getrefcount(None) - none) < MANY


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    "odd",
    [2**63, 2**64 - 1, np.int16(3), np.uint64(2**63), Level.LOW],
    ids=["uint64", "largest", "int16", "numpy's", "enum"],
)
def test_an_integer_that_no_loop_reads_is_read_as_among_few(odd: int) -> None:
    built = ck.array([5, None] * MANY + [odd])
    assert built.type == ck.array([5, None, odd]).type
    assert built.to_pylist() == [5, None] * MANY + [odd]


@pytest.mark.parametrize(
    ("values", "type_", "message"),
    [
        ([1, "a"], None, r"values\[199\]: expected the same class"),
        ([1, 2.5], "int64", r"values\[199\]: expected an integer, got float"),
        ([1, 300], "int8", r"values\[199\]: 300 is outside the range of int8"),
        ([1, 2**64], None, r"values\[199\]: 18446744073709551616 is outside the range"),
        (["a", "\ud800"], None, r"values\[199\]: .*surrogates not allowed"),
        ([b"a", "a"], "binary", r"values\[199\]: expected bytes, got str"),
        ([True, 1], "bool_", r"values\[199\]: expected bool, got int"),
    ],
)
def test_errors_name_the_place(values: list[object], type_: str | None, message: str) -> None:
    first, last = values
    with pytest.raises((TypeError, ValueError), match=message):
        ck.array([first] * (2 * MANY - 1) + [last], type_ and getattr(ck, type_)())


@pytest.mark.parametrize(
    "type_", [ck.int8(), ck.uint16(), ck.float16(), ck.float32(), ck.large_utf8()]
)
def test_types_of_another_width(type_: ck.DataType) -> None:
    values = ["é", None] * MANY if type_ == ck.large_utf8() else [2, None] * MANY
    given = [v and float(v) for v in values] if "float" in str(type_) else values
    assert ck.array(given, type_).to_pylist() == given


def test_text_that_is_no_utf8_is_refused_with_its_slot() -> None:
    text = pa.array(["a"] * MANY + ["b"]).buffers()
    data = pa.py_buffer(b"a" * MANY + b"\xff")
    built = ck.array(pa.StringArray.from_buffers(MANY + 1, text[1], data))
    with pytest.raises(ck.InvalidArrowError, match=f"slot {MANY}"):
        built.to_pylist()


@pytest.mark.parametrize("value", ["text of its own é", b"bytes of its own", 10**12 + 7, 0.1 + 0.2])
def test_references_are_neither_kept_nor_lost(value: object) -> None:
    values = [value] * MANY
    plain = [float(number) for number in range(MANY)]
    before = sys.getrefcount(value)
    for _ in range(3):
        result = ck.array(values).to_pylist()
        assert sys.getrefcount(result[0]) == sys.getrefcount(plain[0])
        assert len({id(each) for each in result}) == MANY
        del result
    assert sys.getrefcount(value) == before


def test_another_layout_of_objects_is_read_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_objects, "_is_known_layout", lambda: False)
    values = ["a", None] * MANY
    assert python_objects.integers_of([1] * MANY) is None
    assert ck.array(values).to_pylist() == values
