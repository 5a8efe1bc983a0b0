"""Folders of files, whose paths have columns in them: as pyarrow's datasets read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import colkern as ck
from colkern.cuda.stand_in import StandIn

fsspec = pytest.importorskip("fsspec")

FILES = {
    "year=2024/city=Oslo/a.arrow": [1, 2],
    "year=2024/city=a%20b/b.arrow": [3],
    "year=2025/city=__HIVE_DEFAULT_PARTITION__/c.arrow": [4, None],
    "_temporary/year=2026/d.arrow": [5],
    "year=2025/.hidden": [6],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, x in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        ck.ipc.write_file(path, ck.record_batch({"x": ck.array(x, "int64")}))
    return tmp_path


def expected(folder: Path) -> pa.Table:
    result = ds.dataset(str(folder), format="arrow", partitioning="hive").to_table()
    return result.sort_by("x").select(["x", "year", "city"])


def test_keys_in_paths_are_columns(folder: Path) -> None:
    table = ck.ipc.read_table(folder)
    assert table.to_pyarrow().schema == expected(folder).schema
    assert table.to_pyarrow().to_pylist() == expected(folder).to_pylist()
    assert table.num_batches == 3


def test_a_folder_at_a_url_is_read_as_one_at_a_path(folder: Path) -> None:
    fsspec.filesystem("memory").put(f"{folder}/", "/in_memory/", recursive=True)
    try:
        assert ck.ipc.read_table("memory://in_memory").equals(ck.ipc.read_table(folder))
    finally:
        fsspec.filesystem("memory").rm("/in_memory", recursive=True)


def test_files_whose_keys_are_filtered_out_are_not_opened(folder: Path) -> None:
    (folder / "year=2025/city=__HIVE_DEFAULT_PARTITION__/c.arrow").write_bytes(b"not Arrow")
    kept = ck.ipc.read_table(
        folder, columns=["city", "x"], filters=[("year", "==", 2024), ("x", ">", 1)]
    )
    assert kept.to_pydict() == {"city": ["Oslo", "a b"], "x": [2, 3]}
    with pytest.raises(ck.InvalidArrowError, match=r"c\.arrow"):
        ck.ipc.read_table(folder)


@pytest.mark.parametrize(
    "filters",
    [
        [("year", "=", 2024)],
        [("x", "in", [1, 3]), ("city", "not in", ["Oslo"])],
        [("city", "in", ["Oslo"])],
        [("x", "not in", [])],
        [[("year", "==", 2024), ("x", ">", 1)], [("city", "in", ["Oslo"])], [("x", "==", 1)]],
        [[("year", "==", 1999)], [("city", "==", "nowhere"), ("x", ">", 0)]],
    ],
)
def test_filters_are_those_of_pyarrow(folder: Path, filters: Any) -> None:
    kept = pq.filters_to_expression(filters)
    rows = [row["x"] for row in expected(folder).filter(kept).to_pylist()]
    assert ck.ipc.read_table(folder, filters=filters)["x"].to_pylist() == rows


def test_values_that_an_iterator_gives_filter_each_file(folder: Path) -> None:
    filters = [("x", "in", iter([1, 3]))]
    rows = ck.ipc.read_table(folder, filters=[("x", "in", [1, 3])])["x"].to_pylist()
    assert ck.ipc.read_table(folder, filters=filters)["x"].to_pylist() == rows


def test_what_is_filtered_out_entirely_has_its_columns(folder: Path) -> None:
    none = ck.ipc.read_table(folder, filters=[("year", "<", 2000)])
    assert (none.num_rows, none.column_names) == (0, ["x", "year", "city"])


def test_columns_of_paths_are_where_the_others_are(folder: Path, device: StandIn) -> None:
    table = ck.ipc.read_table(folder, device="cuda")
    assert {column.device.kind for batch in table.batches for column in batch.columns} == {"cuda"}
    assert ck.to_host(table).equals(ck.ipc.read_table(folder))


def test_large_and_mixed_keys(tmp_path: Path) -> None:
    for name in ("id=5000000000", "id=1"):
        (tmp_path / name).mkdir()
        ck.ipc.write_file(tmp_path / name / "x.arrow", ck.record_batch({"x": [0]}))
    assert str(ck.ipc.read_table(tmp_path).schema.field("id").type) == "int64"
    (tmp_path / "id=1").rename(tmp_path / "id=one")
    assert ck.ipc.read_table(tmp_path)["id"].to_pylist() == ["5000000000", "one"]


@pytest.mark.parametrize(
    "name", ["a%20key=1", "%C3%A9%3D=x", "id=+1", "id=-1", "id=\N{FULLWIDTH DIGIT ONE}"]
)
def test_keys_are_pyarrows(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    ck.ipc.write_file(tmp_path / name / "x.arrow", ck.record_batch({"x": [0]}))
    theirs = ds.dataset(str(tmp_path), format="arrow", partitioning="hive").to_table()
    assert ck.ipc.read_table(tmp_path).to_pyarrow().equals(theirs)


def test_folders_that_are_no_table(folder: Path) -> None:
    ck.ipc.write_file(folder / "e.arrow", ck.record_batch({"x": [0]}))
    with pytest.raises(ValueError, match=r"different keys in their paths: .*e\.arrow: none"):
        ck.ipc.read_table(folder)
    (folder / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no file in the folder"):
        ck.ipc.read_table(folder / "empty")


def test_a_key_takes_the_place_of_a_column_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "year=1").mkdir()
    batch = ck.record_batch({"year": ["from the file"], "x": [0]})
    ck.ipc.write_file(tmp_path / "year=1" / "a.arrow", batch)
    assert ck.ipc.read_table(tmp_path).to_pydict() == {"year": [1], "x": [0]}


def test_a_file_with_other_columns_is_named(tmp_path: Path) -> None:
    for name in ("x", "y"):
        ck.ipc.write_file(tmp_path / f"{name}.arrow", ck.record_batch({name: [0]}))
    with pytest.raises(
        ck.InvalidArrowError, match=r"y\.arrow, batches\[0\]: batch of y: int64 in a"
    ):
        ck.ipc.read_table(tmp_path)
