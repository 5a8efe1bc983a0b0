"""Functions of rows where files are read, and the formats of files, against plain Python and pyarrow."""

from __future__ import annotations

import csv
import gzip
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

import colkern as ck
from colkern.spark import read
from colkern.spark.source import ColkernDataSource
from colkern.spark.source.computed import Reading, computed
from colkern.spark.source.planning import Plan, SourceReader

pytestmark = pytest.mark.spark


def source(*paths: Path, **options: str) -> ColkernDataSource:
    return ColkernDataSource({"paths": json.dumps(list(map(str, paths))), **options})


def rows(*paths: Path, **options: str) -> list[dict[str, Any]]:
    """The rows of all partitions, each of them and the reader handed on as Spark does."""
    actual = source(*paths, **options)
    result = actual.reader(actual.schema())
    assert isinstance(result, SourceReader)
    copy: SourceReader = pickle.loads(pickle.dumps(result))
    partitions = pickle.loads(pickle.dumps(result.partitions()))
    return [row for part in partitions for batch in copy.read(part) for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("mebibytes", "tasks", "parts"), [(9, 2, 2), (9, 4, 4), (3, 4, 3), (300, 1, 3), (300, 2, 3)]
)
def test_lines_are_cut_for_the_tasks_into_parts_of_1_to_128_mebibytes(
    mebibytes: int, tasks: int, parts: int, tmp_path: Path
) -> None:
    path = tmp_path / "lines.txt"
    with path.open("wb") as file:
        file.truncate(mebibytes << 20)
    actual = source(path)
    result = actual.reader(actual.schema())
    assert isinstance(result, SourceReader)
    assert len(result.plan.shared(tasks).partitions()) == parts


def test_row_groups_are_shared_among_the_tasks(tmp_path: Path) -> None:
    path = tmp_path / "numbers.parquet"
    pq.write_table(pa.table({"n": range(300_000)}), path, row_group_size=20_000)
    actual = source(path)
    result = actual.reader(actual.schema())
    assert isinstance(result, SourceReader)
    pieces = [piece for part in result.plan.shared(2).partitions() for piece in part.pieces]
    assert [len(piece.parts or ()) for piece in pieces] == [8, 7]


class Session:
    """As much of a session as `computed` asks for: it runs the tasks, one after the other, here."""

    def range(self, start: int, stop: int, step: int, partitions: int) -> Session:
        assert (start, step, partitions) == (0, 1, stop)
        self.parts = [[pa.record_batch({"id": [number]})] for number in range(stop)]
        return self

    def mapInArrow(self, function: Any, schema: object) -> Session:
        if isinstance(function, Reading):
            function = pickle.loads(pickle.dumps(function))
        self.parts = [list(function(iter(part))) for part in self.parts]
        return self

    def repartition(self, count: int) -> Session:
        assert count == 1
        self.parts = [[batch for part in self.parts for batch in part]]
        return self


def results(
    path: Path,
    compute: Mapping[str, Callable[..., object]],
    columns: Sequence[str] | None = (),
    filters: Sequence[Any] = (),
    **options: str,
) -> list[dict[str, Any]]:
    """The rows of `read` with functions, without Spark."""

    def plan_of(names: Sequence[str] | None, conditions: Sequence[object]) -> Plan:
        chosen = {} if names is None else {"columns": json.dumps(names)}
        actual = source(path, **options, **chosen, filters=json.dumps(conditions))
        reader = actual.reader(actual.schema())
        assert isinstance(reader, SourceReader)
        return reader.plan

    session: Any = Session()
    frame: Any = computed(session, plan_of, columns, filters, compute)
    return [row for part in frame.parts for batch in part for row in batch.to_pylist()]


# Formats

TABLE = pa.table(
    {
        "n": pa.array([*range(500), None]),
        "x": pa.array([None, *[n / 8 for n in range(500)]]),
        "t": pa.array([f"row {n}" for n in range(501)]),
    }
)


@pytest.fixture
def table(tmp_path: Path, file_format: str) -> Path:
    """The table in a file of three parts at least, or in one whose ranges are small."""
    path = tmp_path / f"table.{file_format}"
    if file_format == "parquet":
        pq.write_table(TABLE, path, row_group_size=200)
    elif file_format == "arrow":
        with pa.ipc.new_file(path, TABLE.schema) as writer:
            writer.write_table(TABLE, 200)
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(TABLE.column_names)
            writer.writerows(row.values() for row in TABLE.to_pylist())
    return path


in_each_format = pytest.mark.parametrize("file_format", ["parquet", "arrow", "csv"])


@in_each_format
def test_every_row_is_read_once(table: Path) -> None:
    assert rows(table) == TABLE.to_pylist()
    assert rows(table, partitionBytes="100") == TABLE.to_pylist()
    assert rows(table, columns="t,n") == TABLE.select(["t", "n"]).to_pylist()
    conditions = json.dumps([["n", ">=", 190], ["n", "<", 210], ["x", "is not null"]])
    assert rows(table, filters=conditions) == TABLE.slice(190, 20).to_pylist()


def scaled(x: float | None, n: int | None) -> float | None:
    return None if x is None or n is None else x * n


def is_round(t: str) -> bool:
    return t.endswith("0")


@in_each_format
def test_filters_come_before_functions_and_after_them(table: Path) -> None:
    actual = results(
        table,
        {"y": scaled},
        columns=["t"],
        filters=[("n", ">", 10), is_round, ("y", "<", 1000.0)],
        partitionBytes="500",
    )
    expected = [
        {"t": row["t"], "y": scaled(row["x"], row["n"])}
        for row in TABLE.to_pylist()
        if row["n"] is not None and row["n"] > 10 and is_round(row["t"])
    ]
    assert actual == [row for row in expected if row["y"] is not None and row["y"] < 1000]
    assert len(actual) > 3


def test_row_groups_without_a_match_are_not_planned(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    nan = pa.array([1.0, float("nan"), 2.0, 3.0])
    pq.write_table(pa.table({"n": [1, 2, 3, 4], "x": nan}), path, row_group_size=2)
    for condition, groups in (
        (["n", ">", 2], [(1,)]),
        # For Spark a NaN is above all numbers; Parquet's statistics leave it out.
        (["x", ">", 5.0], [(0, 1)]),
        (["n", "is null"], []),
    ):
        actual = source(path, filters=json.dumps([condition]))
        result = actual.reader(actual.schema())
        assert isinstance(result, SourceReader)
        plan = result.plan.partitions()
        assert [piece.parts for part in plan for piece in part.pieces] == groups


def test_types_of_parquet_are_those_of_spark(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    column = pa.array([1_001, None], pa.timestamp("ns"))
    pq.write_table(pa.table({"at": column, "d": pa.array(["a", "b"]).dictionary_encode()}), path)
    assert [field.simpleString() for field in source(path).schema()] == [
        "at:timestamp_ntz",
        "d:string",
    ]
    assert [(row["at"] and row["at"].microsecond, row["d"]) for row in rows(path)] == [
        (1, "a"),
        (None, "b"),
    ]


# Lines of text


ENDS = ["\n", "\r\n", "\r", "\n\n", "\r\r\n"]


@pytest.mark.parametrize("last", ["", "\n", "\r"])
@pytest.mark.parametrize("end", ENDS)
def test_lines_are_read_once_wherever_a_range_ends(tmp_path: Path, end: str, last: str) -> None:
    text = end.join(["one", "", "zwölf", "a longer line"]) + last
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    with path.open(encoding="utf-8") as file:
        expected = [{"value": line.rstrip("\n")} for line in file]
    for size in range(1, len(text) + 3):
        assert rows(path, partitionBytes=str(size)) == expected, size


def test_lines_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    lines = ["x" * (9 << 20), "", "y" * 10, "\0z"]
    path = tmp_path / "a.log"
    path.write_text("\n".join(lines))
    assert [row["value"] for row in rows(path)] == lines


def words(value: str) -> int:
    return len(value.split())


def first_number(value: str) -> int:
    return int(value.split(" ")[0])


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """Two files of lines, one of them compressed; the first word is a number."""
    text = [f"{n} {'word ' * (n % 7)}" for n in range(300)]
    (tmp_path / "a.txt").write_text("\n".join(text[:200]) + "\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("\n".join(text[200:]).encode()))
    return tmp_path


def test_lines_of_several_files_become_numbers(lines: Path) -> None:
    actual = results(
        lines,
        {"number": first_number, "words": words},
        filters=[("words", "!=", 3)],
        partitionBytes="200",
    )
    expected = [{"number": n, "words": 1 + n % 7} for n in range(300)]
    assert actual == [row for row in expected if row["words"] != 3]


def test_without_lines_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    assert results(tmp_path, {"words": words}) == []


# CSV


def test_values_with_line_ends_are_not_cut_apart(tmp_path: Path) -> None:
    values = [["a", 'with "quotes"'], ["b\nb", "2"], ["c", "three,\r\n3"]]
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(values)
    expected = [dict(zip(("k", "v"), row, strict=True)) for row in values]
    size = path.stat().st_size
    named = {"columnNames": "k,v"}
    for step in range(1, size + 1):
        assert rows(path, multiLine="true", partitionBytes=str(step), **named) == expected
    # Each range has an even number of quotes: either it is fine, or it is said that it is not.
    assert rows(path, partitionBytes=str(size), **named) == expected
    with pytest.raises(ValueError, match=r"a\.csv: .*multiLine"):
        rows(path, partitionBytes="22", **named)


def test_other_delimiters_and_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"k;v\n1;a,b\n2;\n"))
    assert rows(path, delimiter=";") == [{"k": 1, "v": "a,b"}, {"k": 2, "v": ""}]


def test_a_value_of_another_type_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n1\n")
    (tmp_path / "b.csv").write_text("n\n1\nx\n")
    with pytest.raises(ValueError, match=r"b\.csv.*'x'"):
        rows(tmp_path)


# Reducers


class mean_words:
    def init() -> tuple[int, int]:
        return 0, 0

    def update(state: tuple[int, int], value: str) -> tuple[int, int]:
        return state[0] + len(value.split()), state[1] + 1

    def merge(state: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        return state[0] + other[0], state[1] + other[1]

    def finish(state: tuple[int, int]) -> float | None:
        return state[0] / state[1] if state[1] else None


class longest:
    def init() -> int:
        return 0

    def update(state: int, value: str) -> int:
        return max(state, len(value))

    def merge(state: int, other: int) -> int:
        return max(state, other)


def is_long(value: str) -> bool:
    return len(value) > 20


def test_reducers_give_one_row(lines: Path) -> None:
    compute: dict[str, Any] = {"mean": mean_words, "longest": longest}
    for filters in ([], [is_long], [("value", "=", "none of them")]):
        texts = [f"{n} {'word ' * (n % 7)}" for n in range(300)]
        if filters:
            texts = [text for text in texts if filters == [is_long] and is_long(text)]
        counts = [len(text.split()) for text in texts]
        assert results(lines, compute, filters=filters, partitionBytes="300") == [
            {
                "mean": sum(counts) / len(counts) if counts else None,
                "longest": max(map(len, texts), default=0),
            }
        ]


# Errors


def test_an_exception_names_the_function_the_line_and_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{n if n != 77 else 'x'} word\n" for n in range(100)))
    with pytest.raises(ValueError, match="'x'") as caught:
        results(path, {"number": first_number}, filters=[words_are_two], partitionBytes="100")
    (note,) = [note for note in caught.value.__notes__ if "line 78" in note]
    assert "first_number" in note
    assert str(path) in note


def words_are_two(value: str) -> bool:
    return len(value.split()) == 2 and not value.startswith("1")


def test_wrong_use_is_refused(lines: Path) -> None:
    for compute, columns, filters, expected in (
        ({"value": words}, ["value"], [], "two columns 'value'"),
        ({}, [], [is_long], "columns: expected at least one column"),
        ({"n": words}, [], [words], "filters: words returns int64"),
        ({"n": words}, [], [longest], "filters: longest is a reducer"),
        ({"n": words, "m": longest}, [], [], "either functions of a row or reducers"),
        ({"m": longest}, ["value"], [], "reducers give one row"),
        ({"n": scaled}, [], [], "no column 'x'"),
        ({"n": scaled}, None, [], "scaled: no column 'x'"),
        ({"n": words}, [], [("n", "=", "x")], "option filters"),
    ):
        with pytest.raises((TypeError, ValueError), match=expected):
            results(lines, compute, columns, filters)
    with pytest.raises(ValueError, match="option format: expected one of arrow"):
        rows(lines, format="orc")


# In Spark


def test_spark_gets_what_was_computed(spark: SparkSession, lines: Path) -> None:
    frame = read(
        spark,
        str(lines),
        columns=["value"],
        compute={"number": ck.udf(first_number), "words": words},
        filters=[is_long, ("words", ">", 4)],
        partitionBytes=1000,
    )
    assert frame.schema.simpleString() == "struct<value:string,number:bigint,words:bigint>"
    assert frame.rdd.getNumPartitions() > 2
    texts = [f"{n} {'word ' * (n % 7)}" for n in range(300)]
    expected = [(text, first_number(text), words(text)) for text in texts]
    assert [tuple(row) for row in frame.collect()] == [
        row for row in expected if is_long(row[0]) and row[2] > 4
    ]
    (total,) = read(spark, str(lines), compute={"longest": longest}).collect()
    assert total.longest == max(map(len, texts))
    (lines / "bad.txt").write_text("none\n")
    failing = read(spark, str(lines / "bad.txt"), columns=[], compute={"n": first_number})
    with pytest.raises(PythonException, match=r"invalid literal[\s\S]*line 1 of .*bad\.txt"):
        failing.collect()


def test_declared_columns_of_csv(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("1,2\n3,\n")
    options: dict[str, Any] = {"schema": "a double, b string", "columnNames": ["a", "b"]}
    plain = read(spark, str(path), **options)
    result = read(spark, str(path), columns=["b"], compute={"n": doubled}, **options)
    assert plain.collect() == [(1.0, "2"), (3.0, "")]
    assert result.collect() == [("2", 2.0), ("", 6.0)]


def doubled(a: float) -> float:
    return 2 * a
