"""Hints and signatures, read as Arrow types."""

from __future__ import annotations

import datetime
import enum
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, Union

import numpy as np
import pyarrow as pa
import pytest

import colkern as ck
from colkern import schema as s
from colkern.errors import CompileError, UnsupportedError
from colkern.jit import udf
from colkern.jit.signatures import Parameter, signature_of


def of(function: Any, text: str | None = None, returns: Any = None) -> Any:
    return signature_of(function, text, returns)


def test_hints_are_kept_and_results_become_types() -> None:
    def f(a: int, b: float | None, c: Optional[str], d, e: Any) -> datetime.date: ...  # type: ignore[empty-body]  # noqa: UP045

    actual = of(f)
    assert actual.parameters == (
        Parameter("a", int, False),
        Parameter("b", float, True),
        Parameter("c", str, True),
        Parameter("d", None, None),
        Parameter("e", None, None),
    )
    assert actual.returns == s.date32()


@pytest.mark.parametrize(
    ("hint", "type_"),
    [
        (bool, s.bool_()),
        (int, s.int64()),
        (float, s.float64()),
        (str, s.utf8()),
        (bytes, s.binary()),
        (datetime.date, s.date32()),
        (datetime.datetime, s.timestamp("us")),
        (datetime.timedelta, s.duration("us")),
        (datetime.time, s.time64("us")),
        (np.float32, s.float32()),
        (np.uint8, s.uint8()),
        (Annotated[int, "a note", s.date64()], s.date64()),
        (s.large_utf8(), s.large_utf8()),
        ("decimal128(12, 2)", s.decimal128(12, 2)),
        (list[str], s.list_(s.utf8())),
        (list[list[int | None]], s.list_(s.list_(s.int64()))),
        (dict[str, list[float]], s.map_(s.utf8(), s.list_(s.float64()))),
        (tuple[list[np.int8], bool], s.struct([("f0", s.list_(s.int8())), ("f1", s.bool_())])),
        (list[Annotated[int, s.date32()]], s.list_(s.date32())),
    ],
    ids=str,
)
def test_results_of_hints(hint: Any, type_: s.DataType) -> None:
    assert of(lambda x: x, returns=hint).returns == type_


def test_annotated_arrow_types_are_parameters() -> None:
    def f(a: Annotated[int, s.decimal128(12, 2)], b: Annotated[int, s.date32()] | None): ...

    assert of(f).parameters == (
        Parameter("a", s.decimal128(12, 2), False),
        Parameter("b", s.date32(), True),
    )


def test_text_signatures() -> None:
    actual = of(
        lambda a, b, c, d, e: a,
        "(float64, utf8?, decimal128(12, 2), timestamp(us, UTC)?, int8 ) -> large_utf8",
    )
    assert [(p.type, p.nullable) for p in actual.parameters] == [
        (s.float64(), False),
        (s.utf8(), True),
        (s.decimal128(12, 2), False),
        (s.timestamp("us", "UTC"), True),
        (s.int8(), False),
    ]
    assert actual.returns == s.large_utf8()
    assert of(lambda a: a, "(bool)").returns is None


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("list<utf8>", s.list_(s.utf8())),
        (
            "large_list< list_view<timestamp(us, Europe/Berlin)> >",
            s.large_list(s.list_view(s.timestamp("us", "Europe/Berlin"))),
        ),
        ("fixed_size_list<float32, 3>", s.fixed_size_list(s.float32(), 3)),
        ("map<utf8, large_list_view<int8>>", s.map_(s.utf8(), s.large_list_view(s.int8()))),
        (
            "struct<key: utf8, size: decimal128(12, 2)>",
            s.struct([("key", s.utf8()), ("size", s.decimal128(12, 2))]),
        ),
        ("struct<>", s.struct([])),
        (
            "dense_union<a: int8, b: list<bool>>",
            s.dense_union([("a", s.int8()), ("b", s.list_(s.bool_()))]),
        ),
        ("sparse_union<a: int8>", s.sparse_union([("a", s.int8())])),
        ("list<item: int8 not null>", s.list_(s.field("item", s.int8(), nullable=False))),
        ("fixed_size_list<item: float>[3]", s.fixed_size_list(s.float32(), 3)),
        ("array<bigint>", s.list_(s.int64())),
        ("map<string,int>", s.map_(s.utf8(), s.int32())),
        (
            "struct<a:double,b:array<date>>",
            s.struct([("a", s.float64()), ("b", s.list_(s.date32()))]),
        ),
        ("dictionary<int8, utf8>", s.dictionary(s.int8(), s.utf8())),
        (
            "list<dictionary<values=list<item: int8>, indices=uint16, ordered=1>>",
            s.list_(s.dictionary(s.uint16(), s.list_(s.int8()), ordered=True)),
        ),
        ("run_end_encoded<int16, date32>", s.run_end_encoded(s.int16(), s.date32())),
    ],
)
def test_texts_of_types_with_parts(text: str, type_: s.DataType) -> None:
    actual = of(lambda a, b: a, f"({text}, {text} ?) -> {text}")
    assert [(p.type, p.nullable) for p in actual.parameters] == [(type_, False), (type_, True)]
    assert actual.returns == type_
    if not isinstance(type_, s.Union):
        assert s.as_type(str(type_)) == type_


@pytest.mark.parametrize(
    "type_",
    [
        *(pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
        *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(3)),
        *(pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("ms")),
        *(pa.timestamp("us"), pa.timestamp("ns", "Europe/Berlin"), pa.decimal128(12, 2)),
        *(pa.list_(pa.int8()), pa.large_list(pa.string()), pa.list_(pa.float32(), 3)),
        *(pa.struct([("a", pa.int8()), ("b", pa.list_(pa.string()))]),),
        *(pa.dictionary(pa.int8(), pa.string()), pa.run_end_encoded(pa.int16(), pa.string())),
    ],
    ids=str,
)
def test_types_are_named_as_pyarrow_prints_them(type_: pa.DataType) -> None:
    actual = of(lambda a: a, f"({type_})").parameters[0].type
    assert pa.array(ck.nulls(1, actual)).type == type_


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        *[("boolean", s.bool_()), ("tinyint", s.int8()), ("smallint", s.int16())],
        *[("int", s.int32()), ("bigint", s.int64()), ("float", s.float32())],
        *[("double", s.float64()), ("string", s.utf8()), ("binary", s.binary())],
        *[("date", s.date32()), ("decimal(10,2)", s.decimal128(10, 2))],
    ],
)
def test_types_are_named_as_in_spark(name: str, type_: s.DataType) -> None:
    assert of(lambda a: a, f"({name}) -> {name}").returns == type_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(timestamp)", r"timestamp has parameters, as in timestamp\(us\)"),
        ("(decimal)", r"decimal has parameters, as in decimal128\(12, 2\)"),
        ("(floaf64)", "did you mean 'float64'"),
        ("(date32[ms])", "expected day, got ms"),
        ("float64 -> float64", r"expected '\(types\) -> type'"),
        ("(floot64)", "unknown type 'floot64'"),
        ("(float64, float64)", "2 types for 1 parameters"),
        ("(float64 float64)", "is no list of types"),
        ("(float64) -> float64 b", "is no type"),
        ("(decimal128(50, 2))", "decimal128"),
        ("(timestamp(weeks))", "timestamp"),
        ("(list<int8)", "'list<int8' is no list of types"),
        ("(list)", "is no list of types"),
        ("(list<int8?>)", "is no list of types"),
        ("(struct<int8>)", "is no list of types"),
        ("(fixed_size_list<int8>)", "fixed_size_list<int8>: .*list_size"),
        ("(dictionary<utf8>)", r"a type of indices and one of values: dictionary<int32, utf8>"),
        ("(run_end_encoded<int8, utf8>)", "expected int16, int32 or int64"),
        ("(int8) -> list<int8> b", "'list<int8> b' is no type"),
    ],
)
def test_signatures_that_mean_nothing(text: str, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        of(lambda x: x, text)


def test_hints_that_mean_nothing_name_the_parameter() -> None:
    def listed(rows: set[int]): ...

    def missing(x: NoSuchName): ...  # type: ignore[name-defined]  # noqa: F821

    for function, message in [
        (listed, "rows: no Arrow type"),
        (missing, "missing: a type hint cannot be evaluated"),
    ]:
        with pytest.raises(TypeError, match=message):
            of(function)


def test_a_hint_that_only_type_checkers_import_says_only_whether_none_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def f(a: Table, b: Rows[str] | None, c: list[Table], d: int) -> Optional[Table]: ...  # type: ignore[name-defined]  # noqa: F821, UP045

    monkeypatch.setitem(globals(), "TYPE_CHECKING", False)
    actual = of(f)
    assert [(each.type, each.nullable) for each in actual.parameters] == [
        *[(None, False), (None, True), (None, False), (int, False)]
    ]
    assert actual.returns is None


def test_only_positional_parameters_stand_for_columns() -> None:
    with pytest.raises(TypeError, match=r"\*rows is no positional parameter"):
        of(lambda *rows: 1)
    with pytest.raises(TypeError, match="one parameter at least"):
        udf(lambda: 1)


def test_a_parameter_with_a_default_may_be_left_out_behind_all_columns() -> None:
    scaled = udf(lambda x, k=3, more=0: (k := k + more) * x)
    seven, two = ck.array([7]), ck.array([2])
    for given in (scaled(seven), scaled(x=seven)):
        assert given.to_pylist() == [21]
    assert scaled(seven, two).to_pylist() == scaled(seven, k=two).to_pylist() == [14]
    assert scaled(seven, two, two).to_pylist() == [28]
    assert scaled.report().rows == 5
    with pytest.raises(TypeError, match=r"no column for k; a default stands .* use a global"):
        scaled(seven, more=two)
    with pytest.raises(TypeError, match="no column for x"):
        scaled()


def test_an_option_that_is_given_by_name_has_its_default() -> None:
    column = ck.array([7, 0])

    def scaled(x: int, *, k: int = 3, checked: bool = False) -> int:
        return 21 // x if checked else x * k

    assert udf(scaled)(column).to_pylist() == [21, 0]
    assert udf(lambda x, n=2, *, k=3: x * k + n)(column).to_pylist() == [23, 2]
    with pytest.raises(TypeError, match="k is no positional parameter"):
        udf(lambda x, *, k: x * k)


class Number(enum.IntEnum):
    ONE = 1


Key = NewType("Key", int)


class Entry(NamedTuple):
    key: Key
    side: Literal["a", "b"]
    value: int | float | None


HINTS = [
    (Key, int),
    (Key | None, int),
    (NewType("Key2", Key), int),
    (Literal["a", "b", None], str),
    (int | float, float),
    (Union[None, float, int], float),  # noqa: UP007
    (Sequence[Key], ck.list_(ck.int64())),
    (Iterable[float], ck.list_(ck.float64())),
    (Entry, ck.struct([("key", ck.int64()), ("side", ck.utf8()), ("value", ck.float64())])),
    (int | str, None),
    (list[int | str | None], None),
    (Literal[1, "a"], None),
    (Number, None),
    (dict[str, Number], None),
    (Sequence, None),
]


@pytest.mark.parametrize(("hint", "type_"), HINTS, ids=[str(hint) for hint, _ in HINTS])
def test_a_hint_of_a_type_checker_means_the_type_of_its_values(hint: Any, type_: Any) -> None:
    def given(x): ...

    given.__annotations__ = {"x": hint, "return": hint}
    signature = of(given)
    assert [signature.parameters[0].type, signature.hint or signature.returns] == [type_, type_]
    is_null = "None" in str(hint) or "Optional" in str(hint)
    assert signature.parameters[0].nullable == (is_null and type_ is not None)


def test_results_of_hints_of_a_type_checker() -> None:
    def doubled(x: float | None) -> int | float | None:
        return None if x is None else 0 if math.isinf(x) else x * 2

    def level(s: Literal["low", "high"]) -> Number | None:
        return Number.ONE if s == "high" else None

    def letters(s: str) -> set[str]:
        return set(s)

    def next_key(x: Key) -> Key:
        return Key(x + 1)

    column = ck.array([1.5, math.inf, None])
    assert udf(doubled)(column).to_pylist() == [3.0, 0, None]
    assert udf(level)(ck.array(["low", "high"])).to_pylist() == [None, 1]
    assert udf(next_key)(ck.array([1, None])).to_pylist() == [2, None]
    assert udf(letters)(ck.array(["a", ""])).to_pylist() == [["a"], []]


def test_columns_go_by_position_and_by_the_names_of_parameters() -> None:
    @udf
    def difference(a: int, b: int) -> int:
        return a - b

    seven, two = ck.array([7]), ck.array([2])
    for actual in (difference(seven, b=two), difference(b=two, a=seven)):
        assert actual.to_pylist() == [5]
    for columns, named, message in [
        ((seven,), {"c": two}, "difference has no parameter 'c': it takes a, b"),
        ((seven,), {"a": two}, "a is given by position and by name"),
        ((), {"b": two}, "no column for a"),
    ]:
        with pytest.raises(TypeError, match=message):
            difference(*columns, **named)

    @ck.generator
    def between(a: int, b: int) -> int:  # type: ignore[misc]
        while b < a:
            yield b
            b += 1

    assert between(b=two, a=ck.array([4])).to_pylist() == [[2, 3]]
    assert between.explode(b=two, a=ck.array([4]))[1].to_pylist() == [2, 3]


def test_what_udf_takes() -> None:
    with pytest.raises(TypeError, match="expected a Python function"):
        udf(operator.itemgetter("a"))
    with pytest.raises(ValueError, match="nulls: expected 'propagate' or 'pass'"):
        udf(lambda x: x, nulls="drop")
    with pytest.raises(UnsupportedError, match="as an argument of a row function"):
        udf(lambda x: x).result_type(s.dense_union([("a", s.int8())]))
    with pytest.raises(CompileError, match="returns int where day_time_interval is declared"):
        udf("(int64)", returns=s.day_time_interval())(lambda x: x)
