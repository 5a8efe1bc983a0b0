"""The schemas of files in Spark's terms, and those of several files as one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_type

import colkern as ck
from colkern.spark.source.spark_types import (
    FileSchema,
    merged,
    require_same,
    schema_in_spark,
)

SAME_IN_SPARK = [
    pa.null(),
    pa.bool_(),
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(38, 3),
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.large_binary(),
    pa.binary(3),
    pa.date32(),
    pa.time64("ns"),
    pa.timestamp("us"),
    pa.timestamp("ns", "Asia/Tokyo"),
    pa.duration("us"),
    pa.list_(pa.int32()),
    pa.large_list(pa.string()),
    pa.list_(pa.int32(), 2),
    pa.map_(pa.string(), pa.int32()),
    pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))]),
]


@pytest.mark.parametrize("type_", SAME_IN_SPARK, ids=str)
def test_types_are_those_that_spark_sees(type_: pa.DataType) -> None:
    schema = pa.schema([("c", type_)])
    ours = schema_in_spark(ck.interchange.import_schema(schema), None, "f")
    assert ours == from_arrow_schema(schema).toNullable()


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (ck.uint8(), spark.ShortType()),
        (ck.uint16(), spark.IntegerType()),
        (ck.uint32(), spark.LongType()),
        (ck.uint64(), spark.DecimalType(20, 0)),
        (ck.float16(), spark.FloatType()),
        (ck.decimal64(12, 2), spark.DecimalType(12, 2)),
        (ck.date64(), spark.DateType()),
        (ck.utf8_view(), spark.StringType()),
        (ck.binary_view(), spark.BinaryType()),
        (ck.list_view(ck.int8()), spark.ArrayType(spark.ByteType())),
        (ck.dictionary(ck.int8(), ck.utf8()), spark.StringType()),
        (ck.run_end_encoded(ck.int32(), ck.int64()), spark.LongType()),
        (ck.uuid(), spark.BinaryType()),
    ],
    ids=str,
)
def test_types_that_spark_lacks_become_ones_that_hold_all_values(
    type_: ck.DataType, expected: spark.DataType
) -> None:
    actual = schema_in_spark(ck.Schema([("c", type_)]), None, "f")
    assert actual == spark.StructType([spark.StructField("c", expected)])


def test_a_type_without_a_counterpart_is_named_with_its_field_and_file() -> None:
    inner = ck.struct([("u", ck.sparse_union([("x", ck.int32())]))])
    schema = ck.Schema([("a", ck.int32()), ("s", inner), ("i", ck.month_day_nano_interval())])
    with pytest.raises(ck.UnsupportedError, match=r"f\.arrow: s\.u: Spark has no type for .*union"):
        schema_in_spark(schema, None, "f.arrow")
    with pytest.raises(ck.UnsupportedError, match=r"f\.arrow: i: .* with the option columns"):
        schema_in_spark(schema, ["i"], "f.arrow")
    assert schema_in_spark(schema, ["a"], "f.arrow").names == ["a"]


def test_a_column_that_is_not_there_or_there_twice_is_named() -> None:
    schema = ck.Schema([("a", ck.int32()), ("b", ck.int32()), ("b", ck.int32())])
    with pytest.raises(ValueError, match=r"f: no column 'c'; the file has a, b, b"):
        schema_in_spark(schema, ["c"], "f")
    with pytest.raises(ValueError, match="f: 2 columns 'b'"):
        schema_in_spark(schema, None, "f")


# What Spark makes of a variant, and the mark by which it knows one again.
STORED = to_arrow_type(spark.VariantType())
MARK = {"variant": "true"}


def in_spark(type_: pa.DataType) -> spark.DataType:
    schema = ck.interchange.import_schema(pa.schema([("c", type_)]))
    return schema_in_spark(schema, None, "f")["c"].dataType


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (STORED, spark.VariantType()),
        (pa.list_(STORED), spark.ArrayType(spark.VariantType())),
        (pa.struct([("a", STORED)]), spark.StructType().add("a", spark.VariantType())),
        # Other writers have other types of bytes, and another order.
        (
            pa.struct(
                [
                    pa.field("metadata", pa.large_binary(), metadata=MARK),
                    pa.field("value", pa.binary_view()),
                ]
            ),
            spark.VariantType(),
        ),
    ],
    ids=str,
)
def test_a_struct_that_spark_has_marked_is_a_variant(type_: pa.DataType, expected: Any) -> None:
    assert in_spark(type_) == expected


@pytest.mark.parametrize(
    "fields",
    [
        [("value", pa.binary()), ("metadata", pa.binary())],
        [("value", pa.binary()), pa.field("metadata", pa.binary(), metadata={"variant": "false"})],
        [("value", pa.string()), pa.field("metadata", pa.binary(), metadata=MARK)],
        [("metadata", pa.binary()), pa.field("value", pa.binary(), metadata=MARK)],
        [("typed_value", pa.int64()), *STORED],
        [("a", pa.binary()), pa.field("metadata", pa.binary(), metadata=MARK)],
    ],
    ids=str,
)
def test_other_structs_are_none_whatever_they_are_marked_as(fields: list[Any]) -> None:
    assert isinstance(in_spark(pa.struct(fields)), spark.StructType)


# Several files


def of(path: str, text: str) -> FileSchema:
    return FileSchema(path, struct(text))


def struct(text: str) -> spark.StructType:
    """From `name type, …`; structs as `name{…}`, lists as `name[type]`, to one level."""
    types = {"int": spark.IntegerType(), "str": spark.StringType(), "void": spark.NullType()}
    result = spark.StructType()
    for part in text.split(", "):
        name, _, kind = part.partition(" ")
        if kind.startswith("["):
            result.add(name, spark.ArrayType(types[kind[1:-1]]))
        elif kind.startswith("{"):
            result.add(name, struct(kind[1:-1].replace("; ", ", ")))
        else:
            result.add(name, types[kind])
    return result


def test_merged_fields_come_in_the_order_in_which_files_have_them() -> None:
    files = [of("1", "a int, b str"), of("2", "c int, a int"), of("3", "b str, d str")]
    assert merged(files) == struct("a int, b str, c int, d str")


def test_fields_of_structs_are_merged_too() -> None:
    files = [of("1", "s {a int; b str}"), of("2", "s {c int; a int}")]
    assert merged(files) == struct("s {a int; b str; c int}")


def test_a_field_without_values_takes_the_type_of_another_file() -> None:
    files = [of("1", "a void, b int"), of("2", "a str, b void")]
    assert merged(files) == struct("a str, b int")


@pytest.mark.parametrize(
    ("first", "other", "message"),
    [
        ("a int", "a str", r"field a: int in 1, but string in 3"),
        ("s {a int; b int}", "s {b str}", r"field s\.b: int in 1, but string in 3"),
        ("l [int]", "l [str]", r"field l\.element: int in 1, but string in 3"),
        ("l [int]", "l int", r"field l: array<int> in 1, but int in 3"),
        ("n void", "n {a int}", None),
    ],
)
def test_a_conflict_names_the_field_and_both_files(
    first: str, other: str, message: str | None
) -> None:
    files = [of("1", first), of("2", "z int"), of("3", other)]
    if message is None:
        merged(files)
    else:
        with pytest.raises(ValueError, match=message):
            merged(files)


def test_the_file_of_a_conflict_is_the_one_that_brought_the_field() -> None:
    files = [of("1", "s {a int}"), of("2", "s {b int}"), of("3", "s {b str}")]
    with pytest.raises(ValueError, match=r"field s\.b: int in 2, but string in 3"):
        merged(files)


def test_unless_merged_the_first_file_decides() -> None:
    first = of("1", "a int, b str")
    require_same(first, of("2", "b str, a int, c int"))
    with pytest.raises(
        ValueError, match=r"2: no column 'b', which 1 has as string; .* mergeSchema"
    ):
        require_same(first, of("2", "a int"))
    with pytest.raises(ValueError, match="field a: int in 1, but string in 2"):
        require_same(first, of("2", "a str, b str"))
