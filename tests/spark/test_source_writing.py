"""The output of tasks, and how it becomes visible: files, commits and offsets, without Spark."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType, YearMonthIntervalType

from colkern.arrays.chunked import regrouped
from colkern.spark.source import ColkernDataSource
from colkern.spark.source import streams as streams_module
from colkern.spark.source.streams import (
    Offset,
    SourceStreamReader,
    SourceStreamWriter,
    Staged,
    Stamped,
)
from colkern.spark.source.writer import SourceWriter, Written

SCHEMA = StructType().add("n", "long").add("at", "timestamp")


def batch(*values: int, zone: str = "UTC") -> pa.RecordBatch:
    return pa.record_batch(
        {"n": pa.array(values, pa.int64()), "at": pa.array(values, pa.timestamp("us", zone))}
    )


def writer(path: Path, overwrite: bool = False, **options: str) -> SourceWriter:
    """The writer of a job, as the processes of Spark hand it on."""
    result = ColkernDataSource({"path": str(path), **options}).writer(SCHEMA, overwrite)
    copy: SourceWriter = pickle.loads(pickle.dumps(result))
    return copy


def visible(path: Path) -> list[str]:
    return sorted(name for name in os.listdir(path) if not name.startswith((".", "_")))


def values(path: Path) -> list[int]:
    tables = [pa.ipc.open_file(path / name).read_all() for name in visible(path)]
    return sorted(n for table in tables for n in table["n"].to_pylist())


# One file


def test_batches_are_put_together_and_cut() -> None:
    given = [batch(1, 2, 3), batch(), batch(4), batch(5, 6, 7)]
    parts = regrouped(given, 2, pa.concat_batches)
    assert [b["n"].to_pylist() for b in parts] == [[1, 2], [3, 4], [5, 6], [7]]


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_a_file_has_batches_of_the_size_asked_for(tmp_path: Path, compression: str) -> None:
    job = writer(tmp_path / "out", batchRows="50", compression=compression)
    job.commit([job.write(iter([batch(*range(120), zone="Asia/Tokyo")]))])
    (name,) = visible(tmp_path / "out")
    assert name.startswith("part-00000-")
    with pa.ipc.open_file(tmp_path / "out" / name) as file:
        assert [file.get_batch(i).num_rows for i in range(3)] == [50, 50, 20]
        assert file.schema.field("at").type == pa.timestamp("us", "UTC")
        assert file.read_all()["n"].to_pylist() == list(range(120))
        assert (file.stats.num_messages > 0) is True


def test_each_batch_says_between_which_values_it_lies(tmp_path: Path) -> None:
    for said in ("true", "false"):
        job = writer(tmp_path / said, batchRows="2", statistics=said)
        job.commit([job.write(iter([batch(5, 9, 1)]))])
    (name,) = visible(tmp_path / "true")
    with pa.ipc.open_file(tmp_path / "true" / name) as file:
        actual = [
            json.loads(file.get_batch_with_custom_metadata(i)[1]["colkern.statistics"])
            for i in (0, 1)
        ]
    assert [part["columns"]["n"] for part in actual] == [{"min": 5, "max": 9}, {"min": 1, "max": 1}]
    (name,) = visible(tmp_path / "false")
    with pa.ipc.open_file(tmp_path / "false" / name) as file:
        assert file.get_batch_with_custom_metadata(0)[1] is None


def test_without_rows_the_first_partition_keeps_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = writer(tmp_path / "out")
    first = job.write(iter([]))
    monkeypatch.setattr("colkern.spark.source.writer.task_partition", lambda: 1)
    second = job.write(iter([]))
    assert second == Written(None)
    job.commit([first, second])
    (name,) = visible(tmp_path / "out")
    assert pa.ipc.open_file(tmp_path / "out" / name).schema.names == ["n", "at"]


# Commits


def test_nothing_is_visible_before_the_commit(tmp_path: Path) -> None:
    out = tmp_path / "out"
    job = writer(out)
    messages = [job.write(iter([batch(n)])) for n in (1, 2)]
    assert visible(out) == []
    job.commit(messages)
    assert values(out) == [1, 2]
    hidden = [name for name in os.listdir(out) if name.startswith((".", "_"))]
    assert hidden == ["_SUCCESS"]


def test_files_of_attempts_that_do_not_count_are_removed(tmp_path: Path) -> None:
    job = writer(tmp_path / "out")
    job.write(iter([batch(1)]))
    job.commit([job.write(iter([batch(1)]))])
    assert values(tmp_path / "out") == [1]


def test_a_task_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield batch(1)
        raise RuntimeError("task failed")

    out = tmp_path / "out"
    job = writer(out, batchRows="1")
    good = job.write(iter([batch(2)]))
    with pytest.raises(RuntimeError, match="task failed"):
        job.write(failing())
    (staging,) = out.iterdir()
    assert [path.name for path in staging.iterdir()] == [good.name]
    job.abort([good, None])
    assert os.listdir(out) == []


def test_a_task_that_outlives_its_job_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "out"
    job = writer(out, batchRows="1")

    def aborted() -> Iterator[pa.RecordBatch]:
        yield batch(1)
        job.abort([None, None])
        yield batch(2)

    with pytest.raises(FileNotFoundError):
        job.write(aborted())
    with pytest.raises(FileNotFoundError):
        job.write(iter([batch(3)]))
    assert os.listdir(out) == []


def test_appending_keeps_what_is_there_and_overwriting_does_not(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for n, overwrite in ((1, False), (2, False), (3, True)):
        job = writer(out, overwrite)
        messages = [job.write(iter([batch(n)]))]
        # Until it is committed, a job that overwrites destroys nothing.
        assert not out.exists() or values(out) == [1, 2][: n - 1]
        job.commit(messages)
    assert values(out) == [3]


def test_overwriting_removes_directories_too_as_spark_does(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    for folder in (out / "below", out / "_of_another_job", elsewhere):
        job = writer(folder)
        job.commit([job.write(iter([batch(1)]))])
    (out / "link").symlink_to(elsewhere)
    job = writer(out, overwrite=True)
    job.commit([job.write(iter([batch(2)]))])
    assert values(out) == [2]
    assert (out / "_of_another_job").is_dir()
    # What a link leads to is not the directory's.
    assert values(elsewhere) == [1]


def test_a_file_that_the_driver_does_not_see_is_an_error_before_anything_moves(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    job = writer(out)
    with pytest.raises(FileNotFoundError, match="a file system that the driver and all executors"):
        job.commit([job.write(iter([batch(1)])), Written("part-00001-x.arrow")])
    assert visible(out) == []


def test_a_frame_without_columns_is_refused(tmp_path: Path) -> None:
    source = ColkernDataSource({"path": str(tmp_path)})
    for make in (source.writer, source.streamWriter):
        with pytest.raises(ValueError, match="without columns"):
            make(StructType([]), False)


def test_a_column_that_spark_does_not_pass_is_refused_with_its_name(tmp_path: Path) -> None:
    source = ColkernDataSource({"path": str(tmp_path)})
    schema = StructType().add("n", "long").add("span", YearMonthIntervalType())
    for make in (source.writer, source.streamWriter):
        with pytest.raises(TypeError, match=r"span: Spark passes no columns of interval year"):
            make(schema, False)


def test_a_file_in_the_place_of_the_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(NotADirectoryError, match="a file stands where a directory is written"):
        writer(tmp_path / "out").write(iter([batch(1)]))


# Streams out


@pytest.fixture
def sink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceStreamWriter:
    monkeypatch.setattr(streams_module, "_query", lambda: "q")
    result = ColkernDataSource({"path": str(tmp_path / "out")}).streamWriter(SCHEMA, False)
    assert isinstance(result, SourceStreamWriter)
    return result


def staged(sink: SourceStreamWriter, monkeypatch: pytest.MonkeyPatch, *numbers: int) -> list[Any]:
    """The messages of a batch's tasks, one for each number."""
    messages = []
    for partition, number in enumerate(numbers):
        monkeypatch.setattr(streams_module, "task_partition", lambda p=partition: p)
        messages.append(sink.write(iter([batch(number)])))
    return messages


def test_a_batch_that_is_done_again_is_there_once(
    sink: SourceStreamWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    sink.commit(staged(sink, monkeypatch, 1, 2), 0)
    sink.commit(staged(sink, monkeypatch, 3, 4), 1)
    assert values(out) == [1, 2, 3, 4]
    # The same batch, cut into fewer partitions.
    sink.commit(staged(sink, monkeypatch, 7), 1)
    assert values(out) == [1, 2, 7]
    assert visible(out)[-1] == "part-q-000000001-00000.arrow"


def test_a_commit_that_is_done_again_changes_nothing(
    sink: SourceStreamWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = staged(sink, monkeypatch, 1, 2)
    for _ in range(2):
        sink.commit(messages, 0)
    assert values(tmp_path / "out") == [1, 2]


def test_an_aborted_batch_leaves_what_was_there(
    sink: SourceStreamWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink.commit(staged(sink, monkeypatch, 1), 0)
    sink.abort([*staged(sink, monkeypatch, 2), None], 1)
    assert values(tmp_path / "out") == [1]
    assert sorted(os.listdir(tmp_path / "out")) == ["_SUCCESS", "part-q-000000000-00000.arrow"]


def test_a_batch_whose_tasks_tell_nothing_is_removed_by_the_querys_checkpoint(
    sink: SourceStreamWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    sinks = [
        ColkernDataSource({"path": str(out), "checkpointLocation": at}).streamWriter(SCHEMA, False)
        for at in ("a", "b")
    ]
    first, second = (each for each in sinks if isinstance(each, SourceStreamWriter))
    told = [staged(each, monkeypatch, number) for number, each in enumerate((first, second))]
    first.abort([None], 0)
    # What another query has written there meanwhile, stays.
    second.commit(told[1], 0)
    assert values(out) == [1]
    assert sorted(os.listdir(out)) == ["_SUCCESS", "part-q-000000000-00000.arrow"]


def test_a_batch_without_rows_writes_nothing(sink: SourceStreamWriter, tmp_path: Path) -> None:
    message = sink.write(iter([]))
    assert message == Staged("q", 0, None)
    sink.commit([message], 0)
    assert visible(tmp_path / "out") == []


# Streams in

SECOND = 1_000_000_000


def taken(offset: Offset, *files: Stamped, late: int = 10) -> tuple[list[str], Offset]:
    new = offset.new_among(files)
    after = offset.after(new, late) if new else offset
    # As it comes back from a checkpoint.
    return [file.path for file in new], Offset.of_json(json.loads(json.dumps(after.as_json())))


def test_files_are_taken_in_the_order_of_their_times_and_names() -> None:
    files = [Stamped(2, "a"), Stamped(1, "c"), Stamped(1, "b")]
    actual, offset = taken(Offset(), *files)
    assert actual == ["b", "c", "a"]
    assert taken(offset, *files)[0] == []


def test_a_file_that_comes_late_is_new_but_not_one_from_long_before() -> None:
    newest = Stamped(100 * SECOND, "newest")
    _, offset = taken(Offset(), newest)
    late, old = Stamped(95 * SECOND, "late"), Stamped(80 * SECOND, "old")
    actual, offset = taken(offset, newest, late, old)
    assert actual == ["late"]
    assert taken(offset, newest, late, old)[0] == []


def test_an_offset_does_not_grow_with_the_history() -> None:
    offset = Offset()
    for second in range(100):
        _, offset = taken(offset, Stamped(second * SECOND, str(second)))
    assert len(offset.seen) == 11
    assert offset.files == ("99",)


@pytest.fixture
def arriving(tmp_path: Path) -> tuple[Path, SourceStreamReader]:
    options = {"path": str(tmp_path), "maxFilesPerTrigger": "2"}
    result = ColkernDataSource(options).streamReader(StructType().add("n", "long"))
    assert isinstance(result, SourceStreamReader)
    return tmp_path, result


def arrive(folder: Path, name: str, second: int) -> None:
    data = pa.record_batch({"n": [second]})
    with pa.ipc.new_file(folder / name, data.schema) as file:
        file.write(data)
    os.utime(folder / name, (second, second))


def read(reader: SourceStreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[int]:
    parts = reader.partitions(start, end)
    return [n for part in parts for actual in reader.read(part) for n in actual["n"].to_pylist()]


def test_a_stream_reads_each_file_once_and_so_many_at_a_time(
    arriving: tuple[Path, SourceStreamReader],
) -> None:
    folder, reader = arriving
    limit = reader.getDefaultReadLimit()
    start = reader.initialOffset()
    assert reader.latestOffset(start, limit) == start
    assert reader.partitions(start, start) == []
    for second in (1, 2, 3):
        arrive(folder, f"{second}.arrow", second)
    middle = reader.latestOffset(start, limit)
    end = reader.latestOffset(middle, limit)
    assert read(reader, start, middle) == [1, 2]
    assert read(reader, middle, end) == [3]
    assert reader.latestOffset(end, limit) == end
    # A batch that is done again has the files that it had.
    arrive(folder, "0.arrow", 0)
    assert read(reader, start, middle) == [1, 2]


def test_what_comes_after_the_start_is_for_the_next_time_if_all_that_is_there_is_asked_for(
    arriving: tuple[Path, SourceStreamReader],
) -> None:
    folder, reader = arriving
    arrive(folder, "1.arrow", 1)
    reader.prepareForTriggerAvailableNow()
    arrive(folder, "2.arrow", 2)
    limit = reader.getDefaultReadLimit()
    end = reader.latestOffset(reader.initialOffset(), limit)
    assert read(reader, reader.initialOffset(), end) == [1]
    assert reader.latestOffset(end, limit) == end
