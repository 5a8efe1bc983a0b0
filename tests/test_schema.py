"""Types, fields and schemas: values with Arrow's names, printed as pyarrow prints them."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import type_of

import colkern as ck
from colkern import schema as s
from colkern.errors import InvalidArrowError

PYARROW_TYPES = [
    pa.null(),
    pa.bool_(),
    *[getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)],
    *[getattr(pa, f"float{bits}")() for bits in (16, 32, 64)],
    pa.decimal32(9, 2),
    pa.decimal64(18, -2),
    pa.decimal128(38, 10),
    pa.decimal256(76, 0),
    pa.date32(),
    pa.date64(),
    pa.time32("s"),
    pa.time32("ms"),
    pa.time64("us"),
    pa.time64("ns"),
    *[pa.timestamp(unit) for unit in s.TIME_UNITS],
    pa.timestamp("us", "Europe/Paris"),
    pa.timestamp("ns", "+01:00"),
    *[pa.duration(unit) for unit in s.TIME_UNITS],
    pa.month_day_nano_interval(),
    pa.binary(0),
    pa.binary(5),
    pa.binary(),
    pa.utf8(),
    pa.large_binary(),
    pa.large_utf8(),
    pa.binary_view(),
    pa.string_view(),
    pa.list_(pa.int8()),
    pa.list_(pa.field("element", pa.int8(), nullable=False)),
    pa.large_list(pa.utf8()),
    pa.list_view(pa.int8()),
    pa.large_list_view(pa.int8()),
    pa.list_(pa.int8(), 3),
    pa.struct([]),
    pa.struct([("a", pa.int8()), pa.field("b", pa.list_(pa.utf8()), nullable=False)]),
    pa.map_(pa.utf8(), pa.int8()),
    pa.map_(pa.field("k", pa.utf8(), nullable=False), pa.int8()),
    pa.map_(pa.utf8(), pa.field("v", pa.int8(), nullable=False), keys_sorted=True),
    pa.sparse_union([pa.field("a", pa.int8()), pa.field("b", pa.utf8())]),
    pa.dense_union([pa.field("a", pa.int8()), pa.field("b", pa.utf8(), nullable=False)], [5, 9]),
    pa.dictionary(pa.int8(), pa.utf8()),
    pa.dictionary(pa.uint64(), pa.list_(pa.int8()), ordered=True),
    pa.run_end_encoded(pa.int16(), pa.utf8()),
]


@pytest.mark.parametrize("theirs", PYARROW_TYPES, ids=str)
def test_types_print_as_pyarrow_prints_them(theirs: pa.DataType) -> None:
    assert str(type_of(theirs)) == str(theirs)


@pytest.mark.parametrize("theirs", PYARROW_TYPES, ids=str)
def test_types_are_values(theirs: pa.DataType) -> None:
    one, other = type_of(theirs), type_of(theirs)
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert len({one, *map(type_of, PYARROW_TYPES)}) == len(PYARROW_TYPES)


def test_types_without_a_pyarrow_spelling_print_their_name() -> None:
    assert str(s.month_interval()) == "month_interval"
    assert str(s.day_time_interval()) == "day_time_interval"
    assert str(s.extension("a.b", s.int8())) == "extension<a.b[int8]>"


def test_every_class_of_type_is_made_by_a_function() -> None:
    actual = {type(type_of(theirs)) for theirs in PYARROW_TYPES}
    actual |= {type(s.month_interval()), type(s.extension("x", s.int8()))}
    classes = {
        each
        for _, each in inspect.getmembers(s, inspect.isclass)
        if issubclass(each, s.DataType) and each is not s.DataType and each.__name__[0] != "_"
    }
    assert actual == classes


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: s.decimal32(10), "precision"),
        (lambda: s.decimal64(0), "precision"),
        (lambda: s.decimal128(39), "precision"),
        (lambda: s.decimal256(77), "precision"),
        (lambda: s.time32("us"), "unit: expected one of s, ms, got 'us'"),
        (lambda: s.time64("s"), "unit: expected one of us, ns, got 's'"),
        (lambda: s.timestamp("day"), "unit"),
        (lambda: s.duration(""), "unit"),
        (lambda: s.fixed_size_binary(-1), "byte_width"),
        (lambda: s.fixed_size_binary(2**31), "byte_width: must not be over 2147483647"),
        (lambda: s.fixed_size_list(s.int8(), 2**31), "list_size: must not be over 2147483647"),
        (lambda: s.decimal128(5, 2**31), "scale: must fit 32 bits"),
        (lambda: s.decimal32(5, -(2**31) - 1), "scale: must fit 32 bits"),
        (lambda: s.fixed_size_list(s.int8(), -1), "list_size"),
        (lambda: s.sparse_union([("a", s.int8())], [1, 2]), "type_codes"),
        (lambda: s.dense_union([("a", s.int8()), ("b", s.int8())], [1, 1]), "distinct"),
        (lambda: s.dense_union([("a", s.int8())], [128]), "0 to 127"),
        (lambda: s.run_end_encoded(s.int8(), s.int8()), "run_end_type"),
        (lambda: s.run_end_encoded(s.uint32(), s.int8()), "run_end_type"),
    ],
)
def test_parameters_out_of_range_are_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: s.list_(dict),
        lambda: s.struct({"a": None}),  # type: ignore[arg-type]
        lambda: s.dictionary(s.utf8(), s.utf8()),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_type_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        make()


# A module that can be called, which type checkers do not know.
make_schema: Any = ck.schema

TYPE_ARGUMENTS: dict[str, Callable[[Any], object]] = {
    "field": lambda given: s.field("a", given).type,
    "Field": lambda given: s.Field("a", given).type,
    "schema": lambda given: make_schema([("a", given)]).types[0],
    "list_": lambda given: s.list_(given).value_type,
    "struct": lambda given: s.struct({"a": given}).fields[0].type,
    "map_": lambda given: s.map_("string", given).item_field.type,
    "dictionary": lambda given: s.dictionary("int8", given).value_type,
    "run_end_encoded": lambda given: s.run_end_encoded("int16", given).value_type,
    "sparse_union": lambda given: s.sparse_union([("a", given)]).fields[0].type,
    "extension": lambda given: s.extension("x", given).storage_type,
    "array": lambda given: ck.array([1], given).type,
    "nulls": lambda given: ck.nulls(1, given).type,
    "cast": lambda given: ck.cast(ck.array([1]), given).type,
    "Builder": lambda given: ck.Builder(given).type,
}


@pytest.mark.parametrize("argument", TYPE_ARGUMENTS)
def test_a_type_argument_is_a_type_a_name_or_another_librarys_type(argument: str) -> None:
    actual = TYPE_ARGUMENTS[argument]
    assert actual(s.int32()) == actual("int32") == actual(pa.int32()) == s.int32()
    with pytest.raises(TypeError, match=r"int32 is a function .*: int32\(\)"):
        actual(s.int32)
    with pytest.raises(ValueError, match="no data type has the name 'int33'"):
        actual("int33")
    with pytest.raises(TypeError, match="expected a data type"):
        actual(dict)


@pytest.mark.parametrize(
    ("given", "type_"),
    [
        *(
            (bool, s.bool_()),
            (int, s.int64()),
            (float, s.float64()),
            (str, s.utf8()),
            (bytes, s.binary()),
        ),
        *((np.int8, s.int8()), (np.dtype("float32"), s.float32()), (np.bool_, s.bool_())),
        *(
            (text, s.dictionary("int32", "utf8"))
            for text in ("dictionary<int32, utf8>", "dictionary[int32, utf8]")
        ),
        *(("decimal128(12, 2)", s.decimal128(12, 2)), ("list<int64>", s.list_("int64"))),
        ("struct<a: int8, b: list[int8]>", s.struct([("a", "int8"), ("b", s.list_("int8"))])),
    ],
)
def test_classes_and_types_with_parts_in_words_are_types(given: Any, type_: s.DataType) -> None:
    assert s.as_type(given) == type_


def test_words_that_are_no_type_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^index: unknown type 'foo'"):
        s.as_type("list<foo>", "index")


@pytest.mark.parametrize(
    "name",
    [
        *("null", "bool", "boolean", "int8", "uint64", "halffloat", "float16", "float"),
        *("float32", "double", "float64", "string", "utf8", "str", "large_string", "large_utf8"),
        *("binary", "large_binary", "string_view", "binary_view", "date32", "date64"),
        *("date32[day]", "date64[ms]", "time32[s]", "time64[ns]", "timestamp[us]", "duration[ms]"),
        "month_day_nano_interval",
    ],
)
def test_names_of_types_are_those_of_pyarrow(name: str) -> None:
    assert s.as_type(name) == s.as_type(pa.field("a", name).type)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (s.field("a", s.int8()), "got <colkern.Field a: int8>"),
        (s.Schema([s.field("a", s.int8())]), "got <colkern.Schema"),
        (pa.field("a", pa.int8()), "got a field: pyarrow.Field<a: int8>"),
        (pa.schema({"a": pa.int8()}), "got a schema: a: int8"),
        (ck.array, "got array"),
        (ck.field, "got field"),
    ],
    ids=["Field", "Schema", "pyarrow.Field", "pyarrow.Schema", "array", "field"],
)
def test_what_is_no_type_is_refused_as_one(value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^type: expected a data type such as .*{message}"):
        s.as_type(value)


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (s.int8, r"int8\(\)"),
        (s.decimal128, r"decimal128\(…\)"),
        (s.list_, r"list_\(…\)"),
        (ck.uuid, r"uuid\(\)"),
        (ck.fixed_shape_tensor, r"fixed_shape_tensor\(…\)"),
    ],
)
def test_a_function_that_makes_a_type_is_to_be_called(function: Any, call: str) -> None:
    with pytest.raises(TypeError, match=f"is a function that makes a data type; call it: {call}$"):
        s.as_type(function)


def test_a_struct_type_of_another_library_is_no_schema() -> None:
    assert s.as_type(pa.struct({"a": pa.int8()})) == s.struct([("a", s.int8())])


FIELDS = [s.field("a", s.int8()), s.field("b", s.utf8())]


@pytest.mark.parametrize(
    "fields",
    [
        FIELDS,
        tuple(FIELDS),
        iter(FIELDS),
        [("a", s.int8()), ["b", "string"]],
        {"a": "int8", "b": s.utf8()},
        [pa.field("a", pa.int8()), s.field("b", "utf8")],
        pa.schema({"a": pa.int8(), "b": pa.string()}),
        s.Schema(FIELDS),
    ],
)
def test_a_schema_of_what_people_write(fields: Any) -> None:
    assert make_schema(fields) == s.Schema(FIELDS)


@pytest.mark.parametrize(
    "fields", [["a"], "ab", [1], 1, None, [("a", s.int8(), True)], [(1, s.int8())]]
)
def test_what_makes_no_schema_is_refused(fields: Any) -> None:
    with pytest.raises(TypeError, match=r"expected (fields|a field|the name)"):
        make_schema(fields)


def test_fields_of_nested_types_are_those_of_the_children() -> None:
    assert [f.name for f in s.list_(s.int8()).fields] == ["item"]
    assert [f.name for f in s.map_(s.utf8(), s.int8()).fields] == ["entries"]
    assert [f.name for f in s.run_end_encoded(s.int16(), s.int8()).fields] == ["run_ends", "values"]
    assert s.extension("x", s.list_(s.int8())).fields == s.list_(s.int8()).fields
    assert s.dictionary(s.int8(), s.list_(s.int8())).fields == ()


def test_keys_of_maps_and_run_ends_are_never_null() -> None:
    map_type = s.map_(s.utf8(), s.int8())
    assert not map_type.key_field.nullable
    assert not map_type.entries_field.nullable
    assert not s.run_end_encoded(s.int16(), s.int8()).run_ends_field.nullable


def test_metadata_of_fields_and_schemas_is_not_compared() -> None:
    field = s.field("a", s.int8())
    assert field == field.with_metadata({b"k": b"v"})
    assert s.Schema([field]) == s.Schema([field], {b"k": b"v"})


def test_an_extension_travels_as_two_metadata_keys() -> None:
    field = s.field("a", s.extension("x.y", s.int8(), b"p"), metadata={b"k": b"v"})
    wire = s.field_to_wire(field)
    assert wire.type == s.int8()
    assert wire.metadata == {
        b"k": b"v",
        b"ARROW:extension:name": b"x.y",
        b"ARROW:extension:metadata": b"p",
    }
    back = s.field_from_wire(wire.name, wire.type, wire.nullable, wire.metadata)
    assert back == field
    assert back.metadata == field.metadata


def test_an_extension_name_is_utf8() -> None:
    with pytest.raises(InvalidArrowError, match="extension name is not UTF-8"):
        s.field_from_wire("a", s.int8(), True, {b"ARROW:extension:name": b"\xff"})


def test_a_schema_finds_fields_by_position_and_by_a_unique_name() -> None:
    schema = s.Schema([("a", s.int8()), ("b", s.utf8()), ("b", s.bool_())])
    assert len(schema) == 3
    assert schema.names == ["a", "b", "b"]
    assert schema.field("a").type == s.int8()
    assert schema.field(-1).type == s.bool_()
    with pytest.raises(KeyError, match="2 fields named 'b'"):
        schema.index("b")
    with pytest.raises(KeyError, match="no field named 'z'"):
        schema.index("z")
    with pytest.raises(IndexError, match="field 3"):
        schema.index(3)


def test_a_schema_takes_fields_pairs_or_a_mapping() -> None:
    by_mapping = s.Schema({"a": s.int8(), "b": s.utf8()})
    assert by_mapping == s.Schema([("a", s.int8()), s.field("b", s.utf8())])
    theirs = pa.schema({"a": pa.int8(), "b": pa.utf8()})
    assert str(by_mapping) == str(theirs)


def nested(depth: int, wrap: Callable[[s.DataType], s.DataType]) -> s.DataType:
    result: s.DataType = s.int8()
    for _ in range(depth):
        result = wrap(result)
    return result


WRAPS: dict[str, Callable[[s.DataType], s.DataType]] = {
    "list": s.list_,
    "large list": s.large_list,
    "list view": s.list_view,
    "fixed list": lambda inner: s.fixed_size_list(inner, 2),
    "struct": lambda inner: s.struct([("a", inner), ("b", s.utf8())]),
    "map": lambda inner: s.map_(s.utf8(), inner),
    "union": lambda inner: s.dense_union([("a", inner)], [5]),
    "dictionary": lambda inner: s.dictionary(s.int8(), inner),
    "runs": lambda inner: s.run_end_encoded(s.int32(), inner),
    "extension": lambda inner: s.list_(s.extension("x", inner, b"y")),
}


@pytest.mark.parametrize("kind", WRAPS)
def test_types_may_nest_deeper_than_python_calls(kind: str) -> None:
    """Compared, hashed, printed, pickled, copied: at a depth that recursion would not reach."""
    a, b, other = (nested(depth, WRAPS[kind]) for depth in (2_000, 2_000, 1_999))
    assert a == b
    assert hash(a) == hash(b)
    assert a != other
    assert s.same_type(a, b)
    assert not s.same_type(a, other)
    assert repr(a) == repr(b)
    assert "int8" in str(a)
    for field in (s.field("f", a), s.Schema([("f", a)])):
        assert pickle.loads(pickle.dumps(field)) == field
    assert copy.deepcopy(a) is copy.copy(a) is a


@pytest.mark.parametrize("kind", WRAPS)
def test_the_text_of_nested_types_is_that_of_pyarrow(kind: str) -> None:
    ours = nested(3, WRAPS[kind])
    if kind in ("map", "runs", "extension"):
        # pyarrow has other words for these: each level's text is within that of the next one.
        assert str(nested(2, WRAPS[kind])) in str(ours)
        return
    assert str(ours) == str(pa.field(pa.schema(s.Schema([("f", ours)])).field("f")).type)


def test_names_that_carry_no_meaning() -> None:
    """Those of list elements, of map entries, and of their keys and items; not of a struct's fields."""
    numbers, texts = s.int8(), s.utf8()
    entries = s.Struct((s.field("K", texts, False), s.field("V", numbers)))
    odd = s.Map(s.field("E", entries, False))
    assert s.same_type(odd, s.map_(texts, numbers))
    assert odd != s.map_(texts, numbers)
    assert s.same_type(s.list_(s.field("x", odd)), s.list_(s.map_(texts, numbers)))
    for wrap in (s.list_, s.large_list_view, lambda inner: s.map_(texts, inner)):
        left, right = (wrap(s.struct([(name, numbers)])) for name in "ab")
        assert not s.same_type(left, right)
    assert not s.same_type(s.list_(numbers), s.list_(s.field("item", numbers, False)))


@pytest.mark.parametrize("name", ["timestamp[us, Europe/Oslo]", "timestamp[us, tz=Europe/Oslo]"])
def test_a_timestamp_with_a_zone_has_a_name(name: str) -> None:
    assert s.as_type(name) == s.timestamp("us", "Europe/Oslo")
