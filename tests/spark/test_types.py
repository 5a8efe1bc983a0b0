"""Spark's types and Arrow's: the table of both directions against PySpark's own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

import colkern as ck
from colkern.interchange import import_type
from colkern.spark.types import VARIANT, arrow_schema, arrow_type, spark_schema, spark_type

SCALARS: list[spark.DataType] = [
    spark.NullType(),
    spark.BooleanType(),
    spark.ByteType(),
    spark.ShortType(),
    spark.IntegerType(),
    spark.LongType(),
    spark.FloatType(),
    spark.DoubleType(),
    spark.DecimalType(10, 2),
    spark.DecimalType(38, 38),
    spark.StringType(),
    spark.BinaryType(),
    spark.DateType(),
    spark.TimeType(),
    spark.TimestampType(),
    spark.TimestampNTZType(),
    spark.DayTimeIntervalType(),
    spark.VariantType(),
    spark.GeometryType(4326),
    spark.GeographyType(4326),
]
NESTED: list[spark.DataType] = [
    spark.ArrayType(spark.IntegerType(), containsNull=False),
    spark.ArrayType(spark.ArrayType(spark.StringType())),
    spark.MapType(spark.StringType(), spark.DoubleType(), valueContainsNull=False),
    spark.MapType(spark.LongType(), spark.ArrayType(spark.TimestampType())),
    spark.StructType(),
    spark.StructType(
        [
            spark.StructField("a", spark.DateType(), nullable=False),
            spark.StructField("b", spark.VariantType(), metadata={"comment": "ü"}),
            spark.StructField("c", spark.MapType(spark.DateType(), spark.DecimalType(38, 2))),
        ]
    ),
]


@pytest.mark.parametrize("data_type", [*SCALARS, *NESTED], ids=lambda t: t.simpleString())
def test_each_type_in_both_directions_as_pyspark_has_it(data_type: spark.DataType) -> None:
    theirs = to_arrow_type(data_type, timezone="UTC")
    ours = arrow_type(data_type)
    assert pa.field("x", pa.DataType._import_from_c_capsule(ours.__arrow_c_schema__())).equals(
        pa.field("x", theirs), check_metadata=True
    )
    assert spark_type(ours) == data_type == from_arrow_type(theirs)
    assert spark_type(import_type(theirs)) == data_type


@pytest.mark.parametrize(
    ("data_type", "plain"),
    [
        (ck.large_utf8(), "string"),
        (ck.utf8_view(), "string"),
        (ck.binary_view(), "binary"),
        (ck.fixed_size_binary(16), "binary"),
        (ck.large_list(ck.int8()), "array<tinyint>"),
        (ck.fixed_size_list(ck.float32(), 3), "array<float>"),
        (ck.list_view(ck.bool_()), "array<boolean>"),
        (ck.dictionary(ck.int8(), ck.utf8()), "string"),
        (ck.run_end_encoded(ck.int32(), ck.date32()), "date"),
    ],
    ids=str,
)
def test_encodings_are_results_of_their_values_type(data_type: ck.DataType, plain: str) -> None:
    assert spark_type(data_type).simpleString() == plain


@pytest.mark.parametrize(
    ("data_type", "instead"),
    [
        (ck.uint32(), "uint32; declare int64"),
        (ck.float16(), "declare float32 or float64"),
        (ck.decimal256(40, 2), "declare decimal128"),
        (ck.date64(), "declare date32"),
        (ck.time32("s"), "declare time64"),
        (ck.timestamp("ns"), r'declare timestamp\("us"\)'),
        (ck.duration("s"), r'declare duration\("us"\)'),
        (ck.month_interval(), "int32 for months"),
        (ck.month_day_nano_interval(), "int32 for months"),
        (ck.list_(ck.struct({"a": ck.uint8()})), "uint8; declare int64"),
        (ck.uuid(), "its storage type"),
    ],
    ids=str,
)
def test_types_that_spark_lacks_say_what_to_declare(data_type: ck.DataType, instead: str) -> None:
    with pytest.raises(ck.UnsupportedError, match=instead):
        spark_type(data_type)


@pytest.mark.parametrize(
    ("data_type", "said"),
    [
        (spark.YearMonthIntervalType(), "a: Spark passes no columns of interval .*CAST"),
        (spark.CalendarIntervalType(), "a: .* interval .*day-time interval"),
        (spark.ArrayType(spark.CalendarIntervalType()), "a: .* interval"),
    ],
)
def test_types_that_spark_does_not_pass_say_so(data_type: spark.DataType, said: str) -> None:
    with pytest.raises(ck.UnsupportedError, match=said):
        arrow_schema(spark.StructType([spark.StructField("a", data_type)]))


def test_a_struct_is_a_variant_by_its_metadata_alone() -> None:
    plain = ck.struct([("value", ck.binary()), ("metadata", ck.binary())])
    assert spark_type(VARIANT) == spark.VariantType()
    assert spark_type(plain).simpleString() == "struct<value:binary,metadata:binary>"


def test_schemas_keep_names_order_and_nullability() -> None:
    fields: Any = {"b": ck.int32(), "a": ck.list_(ck.utf8())}
    result = spark_schema(fields)
    assert result.simpleString() == "struct<b:int,a:array<string>>"
    strict = ck.Schema([ck.field("a", ck.int8(), nullable=False)])
    assert not spark_schema(strict)["a"].nullable
    assert arrow_schema(spark_schema(strict)) == strict
