"""Canonical extension types: rules of the format one by one, beside pyarrow where it knows the type."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import json
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from by_hand import buffer
from hypothesis import given
from hypothesis import strategies as st
from present import present

import colkern as ck
import colkern.ipc
from colkern import Array, InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.arrays.extension_values import OffsetTimestamp
from colkern.extensions.canonical import parameters_of
from colkern.extensions.metadata import OpaqueParameters, TensorParameters
from colkern.interchange import import_array, import_field
from colkern.schema import Extension

UTC = dt.UTC

SAME_AS_PYARROW = {
    "uuid": (ck.uuid(), pa.uuid()),
    "bool8": (ck.bool8(), pa.bool8()),
    "json": (ck.json_(), pa.json_()),
    "large json": (ck.json_(ck.large_utf8()), pa.json_(pa.large_utf8())),
    "json views": (ck.json_(ck.utf8_view()), pa.json_(pa.string_view())),
    "opaque": (
        ck.opaque(ck.binary(), "géométrie", "PostGIS"),
        pa.opaque(pa.binary(), "géométrie", "PostGIS"),
    ),
    "tensor": (
        ck.fixed_shape_tensor(ck.int32(), [2, 3]),
        pa.fixed_shape_tensor(pa.int32(), [2, 3]),
    ),
    "named tensor": (
        ck.fixed_shape_tensor(ck.float16(), (2, 3), ("a", 'b"'), (1, 0)),
        pa.fixed_shape_tensor(pa.float16(), [2, 3], ["a", 'b"'], [1, 0]),
    ),
    "point": (ck.fixed_shape_tensor(ck.int8(), []), pa.fixed_shape_tensor(pa.int8(), [])),
}


@pytest.mark.parametrize("name", SAME_AS_PYARROW)
def test_types_are_pyarrows(name: str) -> None:
    ours, theirs = SAME_AS_PYARROW[name]
    assert import_field(pa.field("x", theirs)).type == ours
    assert str(ours) == str(theirs)
    assert pa.field(ck.field("x", ours)).type == theirs


@pytest.mark.parametrize("name", SAME_AS_PYARROW)
def test_types_travel_through_ipc(name: str) -> None:
    ours, theirs = SAME_AS_PYARROW[name]
    schema = pa.schema({"x": theirs})
    assert colkern.ipc.read_schema(schema.serialize().to_pybytes()).types == [ours]
    sink = io.BytesIO()
    colkern.ipc.write_stream(sink, [ck.record_batch({"x": ck.nulls(0, ours)})])
    assert pa.ipc.open_stream(sink.getvalue()).schema == schema


def test_types_that_pyarrow_has_no_name_for() -> None:
    shapes = ck.variable_shape_tensor(ck.float32(), 2, ["H", "W"], [1, 0], [None, 3])
    assert shapes.extension_metadata == (
        b'{"permutation":[1,0],"dim_names":["H","W"],"uniform_shape":[null,3]}'
    )
    # It has no function to make the type, but knows it when it reads one.
    assert str(pa.field(ck.field("x", shapes)).type) == str(shapes)
    assert str(pa.field(ck.field("x", ck.variable_shape_tensor(ck.int8(), 1))).type) == (
        "extension<arrow.variable_shape_tensor[value_type=int8, ndim=1]>"
    )
    assert str(ck.timestamp_with_offset("us")) == (
        "extension<arrow.timestamp_with_offset[time_unit=us]>"
    )
    assert str(ck.variant()) == "extension<arrow.parquet.variant>"


def test_an_unknown_type_is_shown_with_its_storage_and_carried_unchanged() -> None:
    ours = ck.extension("some.one's", ck.list_(ck.int8()), b"\0\xff")
    assert parameters_of(ours) is None
    assert str(ours) == "extension<some.one's[list<item: int8>]>"
    array = Array(ours, 1, [None, buffer([0, 2], "<i4")], [ck.array([1, 2], ck.int8())])
    array.validate(full=True)
    assert array.to_pylist() == [[1, 2]]
    sink = io.BytesIO()
    colkern.ipc.write_stream(sink, [ck.record_batch({"x": array})])
    (back,) = colkern.ipc.open(sink.getvalue())
    assert back["x"].type == ours
    assert back["x"].equals(array)


# Metadata and storage


def test_parameters_of_tensors() -> None:
    ours = ck.fixed_shape_tensor(ck.int8(), [100, 200, 500], ["C", "H", "W"], [2, 0, 1])
    actual = parameters_of(ours)
    assert actual == TensorParameters(
        ck.int8(), 3, (100, 200, 500), None, ("C", "H", "W"), (2, 0, 1)
    )
    # The example of the format's text.
    assert isinstance(actual, TensorParameters)
    assert actual.logical(present(actual.shape)) == (500, 100, 200)
    spaced = Extension(ours.storage_type, ours.extension_name, b'{ "shape": [100, 200, 500]}')
    actual = parameters_of(spaced)
    assert isinstance(actual, TensorParameters)
    assert actual.permutation is None
    shapes = ck.variable_shape_tensor(ck.int8(), 3)
    none = Extension(shapes.storage_type, shapes.extension_name, b"")
    assert parameters_of(none) == parameters_of(shapes) == TensorParameters(ck.int8(), 3)


SIX = ck.fixed_size_list(ck.int8(), 6)
SHAPES = ck.variable_shape_tensor(ck.int8(), 2).storage_type
STAMPS = ck.timestamp_with_offset("s").storage_type


def variant_of(*fields: Any, metadata: bool = True) -> ck.DataType:
    first = [ck.field("metadata", ck.binary(), nullable=False)] if metadata else []
    return ck.struct([*first, *fields])


def shredded(*fields: Any) -> ck.Field:
    return ck.field("item", ck.struct(fields), nullable=False)


MALFORMED = [
    ("fixed_shape_tensor", ck.list_(ck.int8()), b'{"shape":[6]}', "stored as list"),
    ("fixed_shape_tensor", SIX, b"", "not JSON"),
    ("fixed_shape_tensor", SIX, b"\xff", "not JSON"),
    ("fixed_shape_tensor", SIX, b"[6]", "not a JSON object"),
    ("fixed_shape_tensor", SIX, b"{}", "shape None"),
    ("fixed_shape_tensor", SIX, b'{"shape":6}', "not an array"),
    ("fixed_shape_tensor", SIX, b'{"shape":[5]}', r"shape \[5\] of lists of 6"),
    ("fixed_shape_tensor", SIX, b'{"shape":[-2,-3]}', "no size"),
    ("fixed_shape_tensor", SIX, b'{"shape":[6.0]}', "no size"),
    ("fixed_shape_tensor", SIX, b'{"shape":[6,true]}', "no size"),
    ("fixed_shape_tensor", SIX, b'{"shape":[6,null]}', "no size"),
    ("fixed_shape_tensor", SIX, b'{"shape":[6,[]]}', "no size"),
    ("fixed_shape_tensor", SIX, b'{"shape":[9223372036854775808]}', "no size"),
    ("fixed_shape_tensor", SIX, b'{"shape":[2,3],"permutation":[0]}', "permutation"),
    ("fixed_shape_tensor", SIX, b'{"shape":[2,3],"permutation":[1,1]}', "permutation"),
    ("fixed_shape_tensor", SIX, b'{"shape":[2,3],"permutation":[1,2]}', "permutation"),
    ("fixed_shape_tensor", SIX, b'{"shape":[2,3],"permutation":"10"}', "permutation"),
    ("fixed_shape_tensor", SIX, b'{"shape":[2,3],"dim_names":["a"]}', "dim_names"),
    ("fixed_shape_tensor", SIX, b'{"shape":[2,3],"dim_names":["a",1]}', "dim_names"),
    ("fixed_shape_tensor", SIX, b'{"shape":' + b"[" * 9999 + b"]" * 9999 + b"}", "JSON|no size"),
    ("fixed_shape_tensor", SIX, b'{"shape":[' + b"9" * 9999 + b"]}", "JSON|no size"),
    ("variable_shape_tensor", ck.struct([("data", ck.list_(ck.int8()))]), b"", "stored as"),
    (
        "variable_shape_tensor",
        ck.struct([("data", SIX), ("shape", ck.fixed_size_list(ck.int32(), 2))]),
        b"",
        "stored as",
    ),
    (
        "variable_shape_tensor",
        ck.struct([("data", ck.list_(ck.int8())), ("shape", ck.fixed_size_list(ck.int64(), 2))]),
        b"",
        "stored as",
    ),
    ("variable_shape_tensor", SHAPES, b'{"uniform_shape":[1]}', "uniform_shape"),
    ("variable_shape_tensor", SHAPES, b'{"uniform_shape":[1,-1]}', "no size"),
    ("variable_shape_tensor", SHAPES, b'{"permutation":[0,1,2]}', "permutation"),
    ("variable_shape_tensor", SHAPES, b"x", "not JSON"),
    ("json", ck.binary(), b"", "stored as binary"),
    ("json", ck.utf8(), b"[]", "not a JSON object"),
    ("uuid", ck.fixed_size_binary(15), b"", r"stored as fixed_size_binary\[15\]"),
    ("uuid", ck.fixed_size_binary(16), b"x", "it has none"),
    ("bool8", ck.uint8(), b"", "stored as uint8"),
    ("bool8", ck.int8(), b"{}", "it has none"),
    ("opaque", ck.null(), b"", "not JSON"),
    ("opaque", ck.null(), b'{"type_name":"a"}', "type_name and vendor_name"),
    ("opaque", ck.null(), b'{"type_name":"a","vendor_name":1}', "type_name and vendor_name"),
    ("timestamp_with_offset", STAMPS, b"x", "it has none"),
    ("timestamp_with_offset", ck.struct(STAMPS.fields[::-1]), b"", "stored as"),
    (
        "timestamp_with_offset",
        ck.struct([("timestamp", ck.timestamp("s")), ("offset_minutes", ck.int16())]),
        b"",
        "stored as",
    ),
    (
        "timestamp_with_offset",
        ck.struct([("timestamp", ck.timestamp("s", "UTC")), ("offset_minutes", ck.int32())]),
        b"",
        "stored as",
    ),
    ("parquet.variant", variant_of(), b"", "stored as"),
    ("parquet.variant", variant_of(("value", ck.binary()), metadata=False), b"", "stored as"),
    (
        "parquet.variant",
        ck.struct([("metadata", ck.binary()), ("value", ck.binary())]),
        b"",
        "not nullable",
    ),
    ("parquet.variant", variant_of(("value", ck.utf8())), b"", "stored as"),
    ("parquet.variant", variant_of(("value", ck.binary()), ("x", ck.binary())), b"", "stored as"),
    ("parquet.variant", variant_of(*[("value", ck.binary())] * 2), b"", "stored as"),
    ("parquet.variant", variant_of(("typed_value", ck.uint64())), b"", "stored as"),
    ("parquet.variant", variant_of(("typed_value", ck.list_(ck.int8()))), b"", "stored as"),
    ("parquet.variant", variant_of(("value", ck.binary())), b"{}", "it has none"),
]


@pytest.mark.parametrize(
    ("name", "storage", "metadata", "message"),
    MALFORMED,
    ids=[f"{case[0]}-{i}" for i, case in enumerate(MALFORMED)],
)
def test_malformed_types_are_read_and_refused_by_validate(
    name: str, storage: ck.DataType, metadata: bytes, message: str
) -> None:
    type_ = ck.extension(f"arrow.{name}", storage, metadata)
    plain = ck.nulls(2, storage)
    array = Array(type_, 2, plain.buffers, plain.children, plain.dictionary)
    batch = ck.record_batch({"x": array})
    for full in (False, True):
        with pytest.raises(InvalidArrowError, match=message) as caught:
            batch.validate(full=full)
        assert caught.value.place == "x"
    # Everything else goes on as for a type that is not known.
    assert str(type_) == f"extension<arrow.{name}[{storage}]>"
    assert array.to_pylist() == plain.to_pylist()
    assert "2 values" in repr(array)
    sink = io.BytesIO()
    colkern.ipc.write_stream(sink, [batch])
    (back,) = colkern.ipc.open(sink.getvalue())
    assert back["x"].type == type_


def test_limits_of_metadata() -> None:
    long = ck.opaque(ck.null(), "x" * 65_000, "y")
    actual = parameters_of(long)
    assert isinstance(actual, OpaqueParameters)
    assert actual.type_name == "x" * 65_000
    longer = ck.extension("arrow.opaque", ck.null(), b'{"type_name":"' + b"x" * 65_536 + b'"}')
    with pytest.raises(LimitExceededError, match="over the limit of 65536"):
        ck.nulls(1, longer).validate()
    many = ck.extension("arrow.fixed_shape_tensor", SIX, b'{"shape":[6' + b",1" * 64 + b"]}")
    with pytest.raises(UnsupportedError, match="65 dimensions"):
        ck.nulls(1, many).validate()
    assert ck.nulls(1, many).to_pylist() == [None]


def test_variants_may_be_shredded() -> None:
    primitive = ("typed_value", ck.int64())
    result: list[list[Any]] = [
        [("value", ck.binary_view()), primitive],
        [("typed_value", ck.list_(shredded(("value", ck.binary()), primitive)))],
        [("typed_value", ck.large_list(shredded(primitive)))],
        [("typed_value", ck.struct([ck.field("a", ck.struct([primitive]), nullable=False)]))],
        [("typed_value", ck.uuid())],
        [("typed_value", ck.timestamp("ns", "UTC"))],
    ]
    for fields in result:
        type_ = ck.variant(variant_of(*fields))
        assert "typed_value" in str(type_)
    encoded = ck.field("metadata", ck.dictionary(ck.int8(), ck.binary()), nullable=False)
    ck.variant(ck.struct([("value", ck.binary()), encoded]))
    runs = ck.field("metadata", ck.run_end_encoded(ck.int32(), ck.binary()), nullable=False)
    ck.variant(ck.struct([("value", ck.binary()), runs]))
    nullable = ck.field("item", ck.struct([primitive]))
    for wrong in [
        ck.float16(),
        ck.decimal256(3),
        ck.time32("s"),
        ck.timestamp("s"),
        ck.timestamp("us", "Europe/Paris"),
        ck.list_(nullable),
        ck.struct([("a", ck.struct([primitive]))]),
        ck.fixed_size_list(shredded(primitive), 2),
    ]:
        with pytest.raises(ValueError, match=r"arrow.parquet.variant stored as"):
            ck.variant(variant_of(("typed_value", wrong)))


def test_wrong_use_is_a_value_error() -> None:
    makes: list[Callable[[], object]] = [
        lambda: ck.fixed_shape_tensor(ck.int8(), [2], ["a", "b"]),
        lambda: ck.fixed_shape_tensor(ck.int8(), [2], permutation=[1]),
        lambda: ck.fixed_shape_tensor(ck.int8(), [-2, -3]),
        lambda: ck.variable_shape_tensor(ck.int8(), 2, uniform_shape=[1]),
        lambda: ck.variable_shape_tensor(ck.int8(), -1),
        lambda: ck.json_(ck.int8()),
        lambda: ck.opaque(ck.int8(), 1, "x"),  # type: ignore[arg-type]
        lambda: ck.timestamp_with_offset("h"),
        lambda: ck.variant(ck.int8()),
    ]
    for make in makes:
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the class below is the point
            make()
        assert not isinstance(caught.value, InvalidArrowError)


# They get arguments of wrong types.
loose_fixed: Any = ck.fixed_shape_tensor
loose_variable: Any = ck.variable_shape_tensor


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: loose_fixed(ck.int8(), "ab"), "shape: expected a sequence of integers"),
        (lambda: loose_fixed(ck.int8(), [2.7]), "shape: expected a sequence"),
        (lambda: loose_fixed(ck.int8(), 2), "shape: expected a sequence"),
        (lambda: loose_fixed(ck.int8(), [1, 2], "ab"), "dim_names: expected a sequence"),
        (lambda: loose_fixed(ck.int8(), [1], [b"a"]), "dim_names: expected a sequence"),
        (lambda: loose_fixed(ck.int8(), [1], permutation=[0.0]), "permutation: expected"),
        (lambda: loose_variable(ck.int8(), 2.0), "ndim: expected an integer"),
        (lambda: loose_variable(ck.int8(), 2, "ab"), "dim_names: expected a sequence"),
        (lambda: loose_variable(ck.int8(), 1, uniform_shape=[1.5]), "uniform_shape: exp"),
        (lambda: loose_fixed(ck.int8(), object()), "shape: .*, got object$"),
        (lambda: loose_fixed(ck.int8(), [1], object()), "dim_names: .*, got object$"),
        (
            lambda: loose_variable(ck.int8(), 1, uniform_shape=object()),
            "uniform_shape: .*, got object$",
        ),
    ],
)
def test_sequences_of_another_class_are_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_sequences_of_numpys_are_sequences() -> None:
    order: Any = np.array([1, 0])
    shape: Any = np.array([2, 3])
    names: Any = np.array(["a", "b"])
    uniform: Any = np.array([1, 2])
    ndim: Any = np.int64(2)
    assert ck.fixed_shape_tensor(ck.int8(), shape, permutation=order) == (
        ck.fixed_shape_tensor(ck.int8(), [2, 3], permutation=[1, 0])
    )
    assert ck.variable_shape_tensor(
        ck.int8(), ndim, names, order, uniform
    ) == ck.variable_shape_tensor(ck.int8(), 2, ["a", "b"], [1, 0], [1, 2])


def test_shapes_of_more_elements_than_a_list_holds_are_named() -> None:
    with pytest.raises(ValueError, match=r"shape: \[65536, 65536\] has over 2147483647 elements"):
        ck.fixed_shape_tensor(ck.int8(), [2**16, 2**16])


# Values


IDS = [uuid.UUID(int=1), None, uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")]


def test_uuids() -> None:
    ours = ck.array(IDS, ck.uuid())
    assert ours.to_pylist() == IDS == pa.array(ours).to_pylist()
    # Big-endian, as the text reads.
    assert present(ours.buffers[1]).tobytes()[32:].hex() == present(IDS[2]).hex
    assert ck.array(pa.array(IDS, pa.uuid())).equals(ours)
    assert ck.array([value and value.bytes for value in IDS], ck.uuid()).equals(ours)
    assert "12345678-9abc-def0-1234-56789abcdef0" in repr(ours)
    with pytest.raises(TypeError, match=r"values\[0\]"):
        ck.array(["12345678-9abc-def0-1234-56789abcdef0"], ck.uuid())
    with pytest.raises(ValueError, match=r"values\[1\]"):
        ck.array([None, b"short"], ck.uuid())


def test_bool8_is_true_for_every_number_but_zero() -> None:
    ours = ck.array([True, None, False, np.True_, 2], ck.bool8())
    assert ours.to_pylist() == [True, None, False, True, True] == pa.array(ours).to_pylist()
    assert present(ours.buffers[1]).tobytes()[:5] == b"\1\0\0\1\2"
    assert ck.array(np.array([True, False]), ck.bool8()).to_pylist() == [True, False]


def test_json_is_text() -> None:
    texts = ['{"a":1}', None, "[]"]
    ours = ck.array(texts, ck.json_())
    assert ours.to_pylist() == texts == pa.array(ours).to_pylist()


def test_opaque_values_and_variants_are_those_of_the_storage() -> None:
    assert ck.array([b"x", None], ck.opaque(ck.binary(), "a", "b")).to_pylist() == [b"x", None]
    rows = [{"metadata": b"\1\0\0", "value": b"\0"}, None]
    assert ck.array(rows, ck.variant()).to_pylist() == rows


def test_an_extension_of_an_extension_has_its_values() -> None:
    ours = ck.array(IDS, ck.uuid())
    outer = Array(ck.extension("mine", ck.uuid()), 3, ours.buffers)
    assert outer.to_pylist() == IDS
    wrapped = ck.opaque(ck.uuid(), "id", "db")
    assert Array(wrapped, 3, ours.buffers).to_pylist() == IDS


def test_extension_values_within_other_types() -> None:
    nested = ck.array([{"ids": IDS}, {"ids": []}], ck.struct([("ids", ck.list_(ck.uuid()))]))
    assert nested.to_pylist() == [{"ids": IDS}, {"ids": []}]
    encoded = ck.array(IDS, ck.dictionary(ck.int8(), ck.uuid()))
    assert encoded.to_pylist() == IDS


# Timestamps with an offset


def test_timestamps_keep_their_own_offset() -> None:
    paris, newfoundland = (
        dt.timezone(dt.timedelta(hours=1)),
        dt.timezone(dt.timedelta(minutes=-210)),
    )
    values = [
        dt.datetime(2025, 1, 1, 12, 30, tzinfo=paris),
        None,
        dt.datetime(2025, 7, 1, 0, 0, tzinfo=newfoundland),
        dt.datetime(2025, 1, 1, tzinfo=UTC),
    ]
    ours = ck.array(values, ck.timestamp_with_offset("us"))
    actual = ours.to_pylist()
    assert actual == values
    assert [value and value.utcoffset() for value in actual] == [
        value and value.utcoffset() for value in values
    ]
    ours.validate(full=True)
    # pyarrow does not know the type, and has the storage.
    theirs = pa.array(ours)
    assert theirs.field("offset_minutes").to_pylist() == [60, 0, -210, 0]
    assert [child.null_count for child in theirs.flatten()] == [1, 1]
    assert theirs[0].as_py()["timestamp"] == values[0]


def test_nanoseconds_and_far_offsets_are_tuples() -> None:
    stamp = np.datetime64("2025-01-01T00:00:00.000000001", "ns")
    ours = ck.array([OffsetTimestamp(stamp, -420)], ck.timestamp_with_offset("ns"))
    assert ours.to_pylist() == [OffsetTimestamp(stamp, -420)]
    first = dt.datetime(1, 1, 1, tzinfo=UTC)
    edge = ck.array([OffsetTimestamp(first, -60)], ck.timestamp_with_offset("us"))
    assert edge.to_pylist() == [OffsetTimestamp(first, -60)]


def test_null_timestamps_are_null_and_null_offsets_are_zero() -> None:
    storage = ck.struct([("timestamp", ck.timestamp("s", "UTC")), ("offset_minutes", ck.int16())])
    plain = ck.array([(0, None), (None, 60), (60, 60), None], storage)
    type_ = ck.extension("arrow.timestamp_with_offset", storage)
    ours = Array(type_, 4, plain.buffers, plain.children)
    ours.validate(full=True)
    epoch = dt.datetime(1970, 1, 1, tzinfo=UTC)
    assert ours.to_pylist() == [epoch, None, epoch + dt.timedelta(minutes=1), None]


@pytest.mark.parametrize("form", ["plain", "dictionary", "runs"])
def test_offsets_have_a_range(form: str) -> None:
    minutes = {
        "plain": ck.int16(),
        "dictionary": ck.dictionary(ck.int8(), ck.int16()),
        "runs": ck.run_end_encoded(ck.int32(), ck.int16()),
    }[form]
    storage = ck.struct([("timestamp", ck.timestamp("s", "UTC")), ("offset_minutes", minutes)])
    type_ = ck.extension("arrow.timestamp_with_offset", storage)

    def made(*offsets: int) -> Array:
        plain = ck.array([(0, offset) for offset in offsets], storage)
        return Array(type_, plain.length, plain.buffers, plain.children)

    made(-779, 780, 0).validate(full=True)
    for wrong in (-780, 781, 32767):
        with pytest.raises(InvalidArrowError, match=f"slot 1: {wrong} minutes from UTC"):
            made(0, wrong).validate(full=True)
        made(0, wrong).validate()
        assert len(made(0, wrong).to_pylist()) == 2
        made(0, wrong, 5).slice(2).to_pylist()


def test_only_aware_datetimes_of_whole_minutes() -> None:
    seconds = dt.timezone(dt.timedelta(seconds=30))
    for value, error in [
        (dt.datetime(2025, 1, 1), ValueError),
        (dt.datetime(2025, 1, 1, tzinfo=seconds), ValueError),
        (dt.date(2025, 1, 1), TypeError),
        (5, TypeError),
    ]:
        with pytest.raises(error, match=r"values\[0\]"):
            ck.array([value], ck.timestamp_with_offset("us"))


# Tensors of one shape


@given(
    st.lists(st.integers(0, 3), max_size=4).flatmap(
        lambda shape: st.tuples(st.just(shape), st.permutations(range(len(shape))))
    ),
    st.integers(0, 3),
    st.sampled_from(["int8", "int64", "float32", "uint16"]),
)
def test_fixed_shape_tensors_both_ways(given_: Any, count: int, number: str) -> None:
    shape, order = given_
    type_ = ck.fixed_shape_tensor(getattr(ck, number)(), shape, permutation=order)
    physical = np.arange(count * int(np.prod(shape, dtype=int)), dtype=number)
    physical = physical.reshape(count, *shape)
    logical = physical.transpose([0, *(1 + axis for axis in order)])
    for values in (logical, [np.asarray(tensor) for tensor in logical]):
        ours = ck.array(values, type_)
        assert ours.children[0].to_pylist() == physical.reshape(-1).tolist()
        ours.validate(full=True)
        result = ours.to_pylist()
        assert len(result) == count
        for tensor, expected in zip(result, logical, strict=True):
            assert tensor.dtype == expected.dtype
            assert tensor.shape == expected.shape
            assert np.array_equal(tensor, expected)


# pyarrow 26 takes elements twice, and others not at all, where a permutation is not its own inverse.
@pytest.mark.parametrize("order", [None, [0, 1, 2], [0, 2, 1], [2, 1, 0]])
def test_fixed_shape_tensors_are_pyarrows(order: list[int] | None) -> None:
    type_ = pa.fixed_shape_tensor(pa.int32(), [2, 3, 4], permutation=order)
    stored = pa.FixedSizeListArray.from_arrays(pa.array(range(72), pa.int32()), 24)
    theirs = pa.ExtensionArray.from_storage(type_, stored)
    ours = import_array(theirs)
    assert np.array_equal(np.stack(ours.to_pylist()), theirs.to_numpy_ndarray())
    assert np.array_equal(ours.slice(1).to_pylist()[0], theirs.to_numpy_ndarray()[1])
    back = pa.array(ck.array(np.stack(ours.to_pylist()), ours.type))
    assert back.equals(theirs)


def test_tensors_are_not_copied() -> None:
    memory = np.arange(24.0).reshape(2, 3, 4)
    ours = ck.array(memory, ck.fixed_shape_tensor(ck.float64(), [3, 4]))
    assert np.shares_memory(present(ours.children[0].buffers[1]).array, memory)
    tensor = ours.to_pylist()[1]
    assert np.shares_memory(tensor, memory)
    assert not tensor.flags.writeable


def test_nulls_of_tensors_and_within_them() -> None:
    type_ = ck.fixed_shape_tensor(ck.int8(), [2, 2], permutation=[1, 0])
    ours = ck.array([[1, 2, 3, 4], None, [5, None, 7, 8]], type_)
    first, second, third = ours.to_pylist()
    assert (first.dtype, first.tolist()) == (np.int8, [[1, 3], [2, 4]])
    assert second is None
    assert (third.dtype, third.tolist()) == (object, [[5, 7], [None, 8]])
    assert repr(ours).splitlines()[1] == "[[[1, 3], [2, 4]], null, [[5, 7], [null, 8]]]"


def test_tensors_of_other_types_hold_objects() -> None:
    ours = ck.array([["a", "b"]], ck.fixed_shape_tensor(ck.utf8(), [2, 1]))
    assert ours.to_pylist()[0].tolist() == [["a"], ["b"]]
    lists = ck.array([[[1, 2], [3, 4]]], ck.fixed_shape_tensor(ck.list_(ck.int8()), [2]))
    assert lists.to_pylist()[0].tolist() == [[1, 2], [3, 4]]
    assert repr(ours).splitlines()[1] == "[['a', 'b']]"


def test_large_tensors_are_shown_in_part() -> None:
    ours = ck.array(
        np.zeros((3, 1000, 1000), np.int8), ck.fixed_shape_tensor(ck.int8(), [1000] * 2)
    )
    assert len(repr(ours)) < 600


def test_tensors_of_another_shape_are_refused() -> None:
    type_ = ck.fixed_shape_tensor(ck.int8(), [2, 3], permutation=[1, 0])
    with pytest.raises(ValueError, match=r"values\[0\]: expected shape \(3, 2\)"):
        ck.array([np.zeros((2, 3), np.int8)], type_)
    with pytest.raises(ValueError, match=r"tensors of shape \(3, 2\)"):
        ck.array(np.zeros((5, 2, 3), np.int8), type_)
    with pytest.raises(ValueError, match=r"tensors of shape \(3, 2\)"):
        ck.array(np.zeros(5, np.int8), type_)
    with pytest.raises(ValueError, match="one dimension"):
        ck.array(np.zeros((5, 2)), ck.float64())
    with pytest.raises(TypeError, match="masked"):
        ck.array(np.ma.zeros((5, 3, 2), np.int8), type_)


def test_a_shape_without_elements_may_be_too_large_for_numpy() -> None:
    huge = json.dumps({"shape": [0, 2**62, 2**62]}).encode()
    type_ = ck.extension("arrow.fixed_shape_tensor", ck.fixed_size_list(ck.int8(), 0), huge)
    array = Array(type_, 1, [None], [ck.array([], ck.int8())])
    message = r"shape \[0, 4611686018427387904, 4611686018427387904\]; NumPy has none that large"
    with pytest.raises(UnsupportedError, match=message):
        array.to_pylist()
    assert "UnsupportedError" in repr(array)


# Tensors with shapes of their own


def variable(rows: list[Any], type_: Extension | None = None, dimensions: int = 2) -> Array:
    """Storage values as an array of the type."""
    type_ = type_ or ck.variable_shape_tensor(ck.int32(), dimensions)
    plain = ck.array(rows, type_.storage_type)
    return Array(type_, plain.length, plain.buffers, plain.children)


def test_variable_shape_tensors() -> None:
    type_ = ck.variable_shape_tensor(ck.int32(), 2, permutation=[1, 0], uniform_shape=[None, 3])
    tensors = [np.arange(6, dtype=np.int32).reshape(3, 2), None, np.zeros((3, 0), np.int32)]
    ours = ck.array(tensors, type_)
    ours.validate(full=True)
    assert ours.children[0].to_pylist()[0] == [0, 2, 4, 1, 3, 5]
    assert ours.children[1].to_pylist()[0] == [2, 3]
    first, second, third = ours.to_pylist()
    assert first.tolist() == present(tensors[0]).tolist()
    assert second is None
    assert third.shape == (3, 0)
    assert repr(ours).splitlines()[1] == "[[[0, 1], [2, 3], [4, 5]], null, [[], [], []]]"
    assert [len(part.to_pylist()) for part in (ours.slice(1), ours.slice(2))] == [2, 1]
    assert import_array(pa.array(ours)).equals(ours)
    with pytest.raises(ValueError, match="which all have"):
        ck.array([np.zeros((2, 2), np.int32)], type_)
    with pytest.raises(ValueError, match="expected 2 dimensions"):
        ck.array([np.zeros(2, np.int32)], type_)


def test_fields_of_variable_shape_tensors_may_stand_in_any_order() -> None:
    shapes = ck.variable_shape_tensor(ck.int32(), 1)
    turned = ck.extension(shapes.extension_name, ck.struct(shapes.fields[::-1]))
    ours = variable([([2], [7, 8])], turned)
    ours.validate(full=True)
    assert ours.to_pylist()[0].tolist() == [7, 8]


@pytest.mark.parametrize(
    ("row", "uniform", "message"),
    [
        (([1, 2, 3], [2, 2]), None, r"slot 1: 3 elements, shape \[2, 2\]"),
        (([1, 2, 3, 4], [-2, -2]), None, r"slot 1: 4 elements, shape \[-2, -2\]"),
        (([], [2**31 - 1] * 2), None, "slot 1: 0 elements"),
        (([1, 2], [2, None]), None, "slot 1: 2 elements"),
        (([1, 2], [1, 2]), [2, None], r"uniform shape \[2, None\]"),
    ],
)
def test_variable_shapes_are_checked_slot_by_slot(row: Any, uniform: Any, message: str) -> None:
    type_ = ck.variable_shape_tensor(ck.int32(), 2, uniform_shape=uniform)
    good = ([1, 2], [2, 1])
    variable([good, None, good], type_).validate(full=True)
    ours = variable([good, row, good], type_)
    ours.validate()
    with pytest.raises(InvalidArrowError, match=message):
        ours.validate(full=True)
    ours.slice(2).validate(full=True)
    if uniform is None:
        with pytest.raises(InvalidArrowError, match="slot 1"):
            ours.to_pylist()


def test_a_shape_of_its_own_may_be_too_large_for_numpy_too() -> None:
    ours = variable([([1], [1] * 4), ([], [0, *[2**31 - 1] * 3])], dimensions=4)
    ours.validate(full=True)
    with pytest.raises(UnsupportedError, match=r"slot 1: a tensor of shape \[0, 2147483647, "):
        ours.to_pylist()


def test_a_null_within_a_shape_is_shown_as_null() -> None:
    with pytest.raises(InvalidArrowError, match=r"slot 0: shape \[2, null\] of 2 elements"):
        variable([([1, 2], [2, None])]).to_pylist()


def test_null_data_or_shapes_are_null_tensors() -> None:
    ours = variable([(None, [1, 1]), ([1], None), ([1], [1, 1])])
    ours.validate(full=True)
    assert [tensor if tensor is None else tensor.tolist() for tensor in ours.to_pylist()] == [
        None,
        None,
        [[1]],
    ]


def test_no_dimensions_are_one_element() -> None:
    ours = variable([([5], [])], dimensions=0)
    ours.validate(full=True)
    assert ours.to_pylist()[0].tolist() == 5
    with pytest.raises(InvalidArrowError, match="2 elements"):
        variable([([5, 6], [])], dimensions=0).validate(full=True)


# Interchange


@pytest.mark.parametrize("name", SAME_AS_PYARROW)
def test_arrays_travel_both_ways(name: str) -> None:
    ours, theirs = SAME_AS_PYARROW[name]
    array = ck.nulls(3, ours)
    assert pa.array(array).type == theirs
    assert import_array(pa.array(array)).equals(array)
    batch = pa.record_batch({"x": pa.nulls(3, theirs)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    (read,) = colkern.ipc.open(sink.getvalue().to_pybytes())
    assert read["x"].equals(array)
    mine = io.BytesIO()
    colkern.ipc.write_file(mine, [read])
    assert pa.ipc.open_file(mine.getvalue()).read_all() == pa.table(batch)


@given(st.binary(max_size=60))
def test_any_metadata_ends_cleanly(metadata: bytes) -> None:
    for storage in (SIX, SHAPES, ck.utf8(), ck.fixed_size_binary(16), STAMPS):
        for name in ("fixed_shape_tensor", "variable_shape_tensor", "json", "uuid", "opaque"):
            array = ck.nulls(1, ck.extension(f"arrow.{name}", storage, metadata))
            assert array.to_pylist() == [None]
            repr(array)
            with contextlib.suppress(InvalidArrowError, UnsupportedError):
                array.validate(full=True)
