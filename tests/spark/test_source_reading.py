"""Files into partitions and partitions into batches, without Spark, against pyarrow."""

from __future__ import annotations

import datetime
import decimal
import os
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import datasource as spark
from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type
from pyspark.sql.types import StructType, TimestampNTZType, VariantType

import colkern as ck
from colkern.spark.source import ColkernDataSource
from colkern.spark.source import reading as reading_module
from colkern.spark.source.contents import Piece
from colkern.spark.source.filters import filters_text, parsed_filters
from colkern.spark.source.options import WriteOptions
from colkern.spark.source.planning import PushdownReader, SourcePartition, SourceReader
from colkern.spark.source.statistics import KEY, statistics_of
from colkern.spark.source.writer import write_file

N = 10


def write(path: Path, *batches: pa.RecordBatch, stream: bool = False, **options: Any) -> str:
    """Write a file with pyarrow."""
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(path, batches[0].schema, **options) as writer:
        for batch in batches:
            writer.write(batch)
    return str(path)


def numbers(start: int) -> pa.RecordBatch:
    """`n`: start, … start + 9; `t`: its text, null where n is even."""
    values = list(range(start, start + N))
    texts = [str(n) if n % 2 else None for n in values]
    return pa.record_batch({"n": pa.array(values), "t": pa.array(texts)})


def source(*paths: str | Path, **options: str) -> ColkernDataSource:
    import json

    return ColkernDataSource({"paths": json.dumps([str(path) for path in paths]), **options})


def reader(source: ColkernDataSource, declared: StructType | None = None) -> SourceReader:
    """The reader of a source, as the processes of Spark hand it on."""
    result = source.reader(source.schema() if declared is None else declared)
    assert isinstance(result, SourceReader)
    copy: SourceReader = pickle.loads(pickle.dumps(result))
    return copy


def filtered(
    source: ColkernDataSource, *filters: spark.Filter, declared: StructType | None = None
) -> SourceReader:
    """The reader of a source that takes all of some filters over from Spark."""
    source.options["pushdown"] = "true"
    result = reader(source, declared)
    assert isinstance(result, PushdownReader)
    assert result.pushFilters(list(filters)) == []
    return result


def rows(reader_: SourceReader) -> list[dict[str, Any]]:
    return [
        row
        for partition in reader_.partitions()
        for batch in reader_.read(pickle.loads(pickle.dumps(partition)))
        for row in batch.to_pylist()
    ]


# Partitions


def pieces(reader_: SourceReader) -> list[list[tuple[str, tuple[int, ...] | None]]]:
    """Of each partition: name of the file, positions of the batches."""
    return [
        [(Path(piece.path).name, piece.parts) for piece in partition.pieces]
        for partition in reader_.partitions()
        if isinstance(partition, SourcePartition)
    ]


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Two files of two batches, with bodies of the same size, and a stream."""
    for name, start in (("a", N), ("b", 3 * N)):
        write(tmp_path / f"{name}.arrow", numbers(start), numbers(start + N))
    write(tmp_path / "c.arrows", numbers(5 * N), stream=True)
    return tmp_path


def test_small_files_come_together_and_a_stream_stands_alone(three: Path) -> None:
    assert pieces(reader(source(three))) == [
        [("a.arrow", (0, 1)), ("b.arrow", (0, 1))],
        [("c.arrows", None)],
    ]


def test_rows_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / f"{n}.arrow", numbers(N * n), stream=stream)
        for n, stream in enumerate((False, True, False))
    ]
    assert [row["n"] for row in rows(reader(source(*paths)))] == list(range(3 * N))


def test_partitions_have_about_as_many_bytes_as_asked_for(three: Path) -> None:
    with ck.ipc.open_file(three / "a.arrow") as file:
        size = next(iter(file.summaries())).body_bytes
    files = [three / "a.arrow", three / "b.arrow"]
    assert pieces(reader(source(*files, partitionBytes=str(3 * size)))) == [
        [("a.arrow", (0, 1)), ("b.arrow", (0,))],
        [("b.arrow", (1,))],
    ]
    # Of two columns, one counts half.
    halves = reader(source(*files, partitionBytes=str(3 * size), columns="n"))
    assert pieces(halves) == [[("a.arrow", (0, 1)), ("b.arrow", (0, 1))]]
    each = [[("a.arrow", (0,))], [("a.arrow", (1,))], [("b.arrow", (0,))], [("b.arrow", (1,))]]
    assert pieces(reader(source(*files, partitionBytes="1"))) == each


def test_many_small_files_are_read_side_by_side(tmp_path: Path) -> None:
    content = Path(write(tmp_path / "0000.arrow", numbers(0))).read_bytes()
    for n in range(1, 300):
        (tmp_path / f"{n:04d}.arrow").write_bytes(content)
    actual = [len(partition) for partition in pieces(reader(source(tmp_path)))]
    assert len(actual) == 3
    assert sum(actual) == 300
    assert max(actual) <= 128


def test_files_are_listed_once(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = []
    scandir = os.scandir

    def counted(path: Any) -> Any:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counted)
    assert len(rows(reader(source(three)))) == 5 * N
    assert listed == [str(three)]


def test_without_anything_to_read_there_is_a_partition_with_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a.arrow", numbers(0).slice(0, 0))
    assert pieces(reader(source(tmp_path))) == [[]]
    assert rows(reader(source(tmp_path))) == []


def test_every_row_is_read_once(three: Path) -> None:
    expected = pa.Table.from_batches([numbers(start) for start in range(N, 6 * N, N)])
    actual = rows(reader(source(three, partitionBytes="1")))
    assert sorted(actual, key=lambda row: row["n"]) == expected.to_pylist()


# Columns


def test_batches_have_exactly_the_schema_that_spark_asks_for(tmp_path: Path) -> None:
    column = pa.array(["a", None, "a"]).dictionary_encode()
    path = write(tmp_path / "a.arrow", pa.record_batch({"d": column, "i": pa.array([1, 2, 3])}))
    actual = reader(source(path))
    (batch,) = actual.read(SourcePartition((Piece(path, (0,)),)))
    assert batch.schema.equals(to_arrow_schema(source(path).schema(), timezone="UTC"))
    assert batch.to_pydict() == {"d": ["a", None, "a"], "i": [1, 2, 3]}


VALUES = [
    (pa.uint64(), [2**64 - 1, None]),
    (pa.float16(), [0.5, None]),
    (pa.large_string(), ["a", None]),
    (pa.string_view(), ["a string too long for a view", None]),
    (pa.binary(2), [b"ab", None]),
    (pa.date64(), [datetime.date(2000, 1, 1), None]),
    (pa.timestamp("s", "Asia/Tokyo"), [datetime.datetime(2000, 1, 1), None]),
    (pa.time32("ms"), [datetime.time(1, 2, 3), None]),
    (pa.large_list(pa.uint8()), [[1, None], None]),
    (pa.list_(pa.int32(), 2), [[1, 2], None]),
    (pa.list_view(pa.int32()), [[1, 2], None]),
    (pa.struct([("a", pa.large_string())]), [{"a": "x"}, None]),
    (pa.map_(pa.string(), pa.uint8()), [[("k", 1)], None]),
    (pa.run_end_encoded(pa.int32(), pa.int64()), [7, 7]),
    (pa.dictionary(pa.int8(), pa.int64()), [7, None]),
]


@pytest.mark.parametrize(("type_", "values"), VALUES, ids=[str(row[0]) for row in VALUES])
def test_values_of_types_that_spark_lacks_arrive(
    tmp_path: Path, type_: pa.DataType, values: list[Any]
) -> None:
    if pa.types.is_run_end_encoded(type_):
        column = pa.array(pa.RunEndEncodedArray.from_arrays([2], [7], type_))
    else:
        column = pa.array(values, type_)
    path = write(tmp_path / "a.arrow", pa.record_batch({"c": column}))
    actual = [row["c"] for row in rows(reader(source(path)))]
    if pa.types.is_timestamp(type_):
        values = [values[0].replace(tzinfo=datetime.UTC), None]
    assert actual == values


# Of time in nanoseconds; microseconds are Spark's unit.
NANOSECONDS, MICROSECONDS = [1_001, 1_000, -1, -1_000, -1_001, None], [1, 1, -1, -1, -2, None]


@pytest.mark.parametrize("kind", [pa.timestamp, pa.duration])
def test_nanoseconds_are_rounded_down(tmp_path: Path, kind: Any) -> None:
    # As Spark does where it makes microseconds of the nanoseconds of Parquet or of Java.
    column = pa.array(NANOSECONDS, kind("ns"))
    path = write(tmp_path / "a.arrow", pa.record_batch({"t": column}))
    (batch,) = reader(source(path)).read(SourcePartition((Piece(path, (0,)),)))
    assert batch["t"].equals(pa.array(MICROSECONDS, kind("us")))


def test_dates_in_milliseconds_are_rounded_down_to_days(tmp_path: Path) -> None:
    day = 86_400_000
    milliseconds = pa.array([day - 1, day, -1, -day, -day - 1, None], pa.int64())
    path = write(tmp_path / "a.arrow", pa.record_batch({"d": milliseconds.view(pa.date64())}))
    (batch,) = reader(source(path)).read(SourcePartition((Piece(path, (0,)),)))
    assert batch["d"].equals(pa.array([0, 1, -1, -1, -2, None], pa.date32()))


def _in_lists(times: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, len(times)], pa.int32()), times)


NESTED = {
    "list": _in_lists,
    "list of a list": lambda times: _in_lists(_in_lists(times)),
    "struct": lambda times: pa.StructArray.from_arrays([times], ["a"]),
    "map": lambda times: pa.MapArray.from_arrays(
        [0, len(times)], pa.array([str(n) for n in range(len(times))]), times
    ),
    "dictionary": lambda times: pa.DictionaryArray.from_arrays([5, 0, None], times),
    "runs": lambda times: pa.RunEndEncodedArray.from_arrays([3, 4, 5, 6, 7, 8], times),
}


@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
def test_times_within_other_values_are_rounded_too(tmp_path: Path, nested: Any) -> None:
    column, expected = (
        nested(pa.array(times, pa.timestamp(unit)))
        for times, unit in ((NANOSECONDS, "ns"), (MICROSECONDS, "us"))
    )
    # A slice: children begin elsewhere than their parents.
    slices = [column.slice(0), column.slice(len(column) - 1)]
    for number, part in enumerate(slices):
        path = write(tmp_path / f"{number}.arrow", pa.record_batch({"c": part}))
        (batch,) = reader(source(path)).read(SourcePartition((Piece(path, (0,)),)))
        assert batch["c"].to_pylist() == expected.slice(len(column) - len(part)).to_pylist()


def variants(*pairs: tuple[bytes | None, bytes | None] | None) -> pa.RecordBatch:
    """A column `v` as Spark stores variants, of values and metadata."""
    stored = to_arrow_type(VariantType())
    fields = [pa.array([pair[k] if pair else None for pair in pairs], pa.binary()) for k in (0, 1)]
    nulls = pa.array([pair is None for pair in pairs])
    return pa.record_batch({"v": pa.StructArray.from_arrays(fields, fields=stored, mask=nulls)})


def test_variants_keep_their_mark(tmp_path: Path) -> None:
    given = variants((b"\x0c\x01", b"\x01\0\0"), None)
    path = write(tmp_path / "a.arrow", given)
    (batch,) = reader(source(path)).read(SourcePartition((Piece(path, (0,)),)))
    expected = to_arrow_schema(StructType().add("v", VariantType()))
    assert batch.schema.equals(expected, check_metadata=True)
    assert batch.to_pylist() == given.to_pylist()


@pytest.mark.parametrize("pair", [(None, b"\x01\0\0"), (b"\x0c\x01", None)])
def test_a_variant_without_one_of_its_parts_is_refused(
    tmp_path: Path, pair: tuple[bytes | None, bytes | None]
) -> None:
    path = write(tmp_path / "a.arrow", variants((b"\x0c\x01", b"\x01\0\0"), pair))
    name = "value" if pair[0] is None else "metadata"
    with pytest.raises(ValueError, match=rf"a\.arrow: v: '{name}' is null, but declared as never"):
        rows(reader(source(path)))


def test_only_columns_that_are_asked_for_are_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.arrow", numbers(0), numbers(N))
    decoded = []
    column = ck.RecordBatch.column

    def counted(batch: ck.RecordBatch, key: int | str) -> ck.Array:
        decoded.append(batch.schema.fields[key].name if isinstance(key, int) else key)
        return column(batch, key)

    monkeypatch.setattr(ck.RecordBatch, "column", counted)
    rows(reader(source(path, columns="n")))
    assert decoded == ["n", "n"]

    # Where no row passes, the other columns stay what they are.
    decoded.clear()
    assert rows(filtered(source(path), spark.EqualTo(("n",), 3))) == [{"n": 3, "t": "3"}]
    assert set(decoded[:-1]) == {"n", "t"}
    assert decoded[-1] == "n"


def test_a_column_without_a_type_in_spark_is_no_matter_unless_asked_for(tmp_path: Path) -> None:
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    path = write(tmp_path / "a.arrow", pa.record_batch({"u": union, "n": pa.array([1])}))
    with pytest.raises(ck.UnsupportedError, match=r"a\.arrow: u: Spark has no type for .*union"):
        source(path).schema()
    assert rows(reader(source(path, columns="n"))) == [{"n": 1}]


def test_a_declared_schema_chooses_columns_and_their_types(tmp_path: Path) -> None:
    path = write(tmp_path / "a.arrow", numbers(0))
    declared = StructType().add("n", "byte")
    actual = reader(source(path), declared)
    assert [row["n"] for row in rows(actual)] == list(range(N))
    write(tmp_path / "a.arrow", numbers(120))
    with pytest.raises(ValueError, match=r"a\.arrow: n: .*128"):
        rows(actual)
    with pytest.raises(TypeError, match=r"a\.arrow: t: .* does not become"):
        rows(reader(source(path), StructType().add("t", "boolean")))


def test_no_batch_is_decoded_before_the_one_in_front_of_it_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.arrow", *[numbers(N * i) for i in range(5)])
    actual = reader(source(tmp_path))
    decoded = []
    convert = reading_module.converted

    def counted(column: ck.Array, field: ck.Field, path: str) -> ck.Array:
        decoded.append(field.name)
        return convert(column, field, path)

    monkeypatch.setattr(reading_module, "converted", counted)
    (partition,) = actual.partitions()
    for number, _ in enumerate(actual.read(partition), 1):
        assert len(decoded) == 2 * number


# Filters and skipping


def test_rows_that_do_not_pass_are_not_handed_to_spark(three: Path) -> None:
    actual = filtered(source(three), spark.IsNotNull(("t",)), spark.LessThan(("n",), 24))
    assert sorted(row["n"] for row in rows(actual)) == [*range(11, 24, 2)]


def test_filters_that_are_left_to_spark_are_handed_back(three: Path) -> None:
    contains = spark.StringContains(("t",), "1")
    actual = reader(source(three, pushdown="true"))
    assert isinstance(actual, PushdownReader)
    assert actual.pushFilters([spark.LessThan(("n",), 24), contains]) == [contains]


def test_spark_takes_filters_for_pushed_down_only_if_asked_to(three: Path) -> None:
    # By this method Spark tells which readers take filters.
    assert SourceReader.pushFilters is spark.DataSourceReader.pushFilters
    assert not isinstance(reader(source(three)), PushdownReader)


def test_batches_are_skipped_by_null_counts_whoever_wrote_them(tmp_path: Path) -> None:
    none = pa.record_batch({"n": pa.nulls(N, pa.int64()), "t": pa.nulls(N, pa.string())})
    path = write(tmp_path / "a.arrow", none, numbers(0))
    actual = filtered(source(path), spark.IsNotNull(("t",)))
    assert pieces(actual) == [[("a.arrow", (1,))]]


def test_batches_are_skipped_by_the_statistics_of_colkerns_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    batches = [numbers(start) for start in (0, N, 2 * N)]
    with ck.ipc.new_file(path, ck.interchange.import_schema(batches[0].schema)) as writer:
        for batch in batches:
            ours = ck.interchange.import_batch(batch)
            said = {KEY: statistics_of(batch)}
            writer.write(ck.RecordBatch(ours.schema, ours.columns, N, said))
    actual = filtered(source(path), spark.GreaterThan(("n",), 12), spark.LessThan(("t",), "2"))
    assert pieces(actual) == [[("a.arrow", (1,))]]
    # What the values of a column are as another type, the statistics do not say.
    doubles = StructType().add("n", "double")
    above = spark.GreaterThan(("n",), 12.0)
    declared = filtered(source(path), above, declared=doubles)
    assert pieces(declared) == [[("a.arrow", (0, 1, 2))]]


# Conditions as an option


def asked(*conditions: Any) -> list[spark.Filter]:
    """The filters that conditions stand for, over a column of each kind."""
    schema = ck.Schema(
        [
            ("n", ck.int64()),
            ("x", ck.float64()),
            ("d", ck.decimal128(10, 2)),
            ("day", ck.date32()),
            ("at", ck.timestamp("us", "UTC")),
            ("t", ck.utf8()),
            ("s", ck.struct([("a", ck.int32())])),
            ("l", ck.list_(ck.int32())),
        ]
    )
    return list(parsed_filters(filters_text(conditions), schema))


def test_conditions_become_the_filters_that_spark_has() -> None:
    moment = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
    assert asked(
        ("n", "=", 1),
        ("x", "!=", 0.5),
        ("d", "<", decimal.Decimal("1.25")),
        ("day", "in", [datetime.date(2000, 1, 1), None]),
        ("at", ">=", moment),
        ("t", "starts with", "a"),
        (["s", "a"], "is not null"),
    ) == [
        spark.EqualTo(("n",), 1),
        spark.Not(spark.EqualTo(("x",), 0.5)),
        spark.LessThan(("d",), decimal.Decimal("1.25")),
        spark.In(("day",), (datetime.date(2000, 1, 1), None)),
        spark.GreaterThanOrEqual(("at",), moment),
        spark.StringStartsWith(("t",), "a"),
        spark.IsNotNull(("s", "a")),
    ]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (("n", "="), "'=' takes a value"),
        (("n", "is null", 1), "'is null' takes no value"),
        (("n", "~", 1), "expected one of =, "),
        (("z", "=", 1), "no such column among n, x"),
        (("n", "=", "1"), "a column of int64 cannot be asked that"),
        (("n", "<", 2**63), "or has no such value"),
        (("n", "in", 1), "'in' takes a list of values"),
        (("n", "not in", list(range(65))), "65 values, 64 are the most"),
        (("day", ">", 20240101), "texts such as 2024-12-31"),
        ((3, "=", 1), "expected the name of a column"),
        (("n", ["="], 1), "expected one of =, "),
        (("t", "starts with", None), "cannot be asked that"),
        (("day", "=", "soon"), "a column of date32"),
        (("l", "=", 1), "a column of list"),
        (("n",), r"expected \[column, comparison, value\]"),
        ("n", r"expected \[column, comparison, value\]"),
    ],
)
def test_a_condition_that_cannot_be_told_is_named(condition: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"option filters: .*{message}"):
        asked(condition)


def test_rows_and_batches_are_chosen_by_the_option(three: Path) -> None:
    actual = reader(source(three, filters=filters_text([("n", "<", 24), ("t", "<", "2")])))
    assert sorted(row["n"] for row in rows(actual)) == [*range(11, 20, 2)]


def test_an_empty_list_has_no_value_in_it(three: Path) -> None:
    everything = len(rows(reader(source(three))))
    for comparison, count in (("in", 0), ("not in", everything)):
        assert (
            len(rows(reader(source(three, filters=filters_text([("t", comparison, [])]))))) == count
        )


def test_numbers_are_rounded_to_the_type_of_the_column_with_statistics_or_without(
    tmp_path: Path,
) -> None:
    batch = pa.record_batch({"x": pa.array([0.1], pa.float32())})
    write(tmp_path / "without.arrow", batch)
    schema = source(tmp_path / "without.arrow").schema()
    write_file(tmp_path / "with.arrow", [batch], schema, WriteOptions(str(tmp_path)))
    for comparison, passes in (("=", True), ("<=", True), ("<", False), ("!=", False)):
        actual = rows(reader(source(tmp_path, filters=filters_text([("x", comparison, 0.1)]))))
        assert len(actual) == 2 * passes


def test_columns_that_are_named_alike_are_refused(tmp_path: Path) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    path = write(tmp_path / "a.arrow", batch)
    declared = StructType().add("a", "long")
    with pytest.raises(ValueError, match=r"a\.arrow: 2 columns 'a'"):
        rows(reader(source(path), declared))


def test_nanoseconds_are_cut_off_and_nothing_else_is(tmp_path: Path) -> None:
    type_ = pa.struct([("t", pa.timestamp("ns")), ("n", pa.int64())])
    declared = StructType().add("s", StructType().add("t", TimestampNTZType()).add("n", "integer"))
    fits = pa.record_batch({"s": pa.array([{"t": 1999, "n": 5}], type_)})
    path = write(tmp_path / "fits.arrow", fits)
    moment = datetime.datetime(1970, 1, 1, 0, 0, 0, 1)
    assert rows(reader(source(path), declared)) == [{"s": {"t": moment, "n": 5}}]
    path = write(
        tmp_path / "not.arrow",
        pa.record_batch({"s": pa.array([{"t": 1999, "n": 2**40 + 5}], type_)}),
    )
    with pytest.raises(ValueError, match=r"not\.arrow: s.*int32"):
        rows(reader(source(path), declared))


# Several files


def test_files_that_do_not_agree_with_the_first_are_named(tmp_path: Path) -> None:
    write(tmp_path / "a.arrow", numbers(0))
    write(tmp_path / "b.arrow", pa.record_batch({"n": pa.array(["x"]), "t": pa.array(["y"])}))
    with pytest.raises(ValueError, match=r"field n: bigint in .*a\.arrow, but string in .*b\.arr"):
        reader(source(tmp_path)).partitions()
    write(tmp_path / "b.arrow", pa.record_batch({"n": pa.array([1])}))
    with pytest.raises(ValueError, match=r"b\.arrow: no column 't', which .*a\.arrow has"):
        reader(source(tmp_path)).partitions()


def test_merged_schemas_read_what_a_file_lacks_as_nulls(tmp_path: Path) -> None:
    write(tmp_path / "a.arrow", pa.record_batch({"n": pa.array([1])}))
    write(tmp_path / "b.arrow", pa.record_batch({"t": pa.array(["x"]), "n": pa.array([2])}))
    actual = source(tmp_path, mergeSchema="true")
    assert actual.schema().names == ["n", "t"]
    assert rows(reader(actual)) == [{"n": 1, "t": None}, {"n": 2, "t": "x"}]
    some = filtered(actual, spark.IsNotNull(("t",)))
    assert pieces(some) == [[("b.arrow", (0,))]]
    with pytest.raises(ValueError, match="option columns: no file has a column 'z'"):
        source(tmp_path, mergeSchema="true", columns="z").schema()


def test_a_directory_without_files_has_no_schema(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no file; declare the columns with schema"):
        source(tmp_path).schema()


# What is not to be trusted


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    whole = Path(write(path, numbers(0))).read_bytes()
    path.write_bytes(whole[:-7])
    with pytest.raises(ck.InvalidArrowError, match=r"a\.arrow, byte \d+: .*cut short"):
        source(path).schema()
    path.write_bytes(b"PAR1")
    with pytest.raises(ck.UnsupportedError, match=r"a\.arrow: Parquet data"):
        source(path).schema()


def test_offsets_that_lead_out_of_the_file_do_not_reach_spark(tmp_path: Path) -> None:
    path = Path(write(tmp_path / "a.arrow", pa.record_batch({"t": pa.array(["abc", "def"])})))
    offsets = (0).to_bytes(4, "little") + (3).to_bytes(4, "little") + (6).to_bytes(4, "little")
    whole = path.read_bytes()
    assert whole.count(offsets) == 1
    path.write_bytes(whole.replace(offsets, offsets[:8] + (1 << 30).to_bytes(4, "little")))
    with pytest.raises(ck.InvalidArrowError, match=r"t"):
        rows(reader(source(path)))


def test_spark_must_not_take_a_refusal_for_a_reader_without_partitions(tmp_path: Path) -> None:
    # It reads a NotImplementedError, such as UnsupportedError is, in that way.
    (tmp_path / "a.arrow").write_bytes(b"PAR1")
    with pytest.raises(TypeError, match="Parquet data"):
        reader(source(tmp_path), StructType().add("n", "long")).partitions()
