"""Parquet, CSV and JSON as tables: what pyarrow reads, from any source, to host or device."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import colkern as ck
from colkern.cuda.stand_in import StandIn
from colkern.errors import UnsupportedError

DATA = pa.table({"x": [1, 2, None, 4, 5], "y": ["a", None, "c", "d", "e"], "z": [0.5] * 5})

SOURCES: dict[str, Callable[[Path, bytes], Any]] = {
    "path": lambda path, data: path,
    "text of a path": lambda path, data: str(path),
    "bytes": lambda path, data: data,
    "Buffer": lambda path, data: ck.Buffer.from_object(data),
    "file object": lambda path, data: io.BytesIO(data),
    "URL": lambda path, data: f"file://{path}",
}


def text(kind: str) -> bytes:
    rows = DATA.to_pylist()
    if kind == "csv":
        return b"x,y,z\n1,a,.5\n2,,.5\n,c,.5\n4,d,.5\n5,e,.5\n"
    import json

    return "\n".join(map(json.dumps, rows)).encode()


def read_text(kind: str) -> Any:
    return ck.read_csv if kind == "csv" else ck.read_json


@pytest.mark.parametrize("source", SOURCES)
def test_row_groups_of_parquet_are_batches(source: str, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(DATA, path, row_group_size=2)
    table = ck.read_parquet(SOURCES[source](path, path.read_bytes()))
    assert [batch.length for batch in table.batches] == [2, 2, 1]
    assert table.to_pydict() == DATA.to_pydict()
    assert table.to_pyarrow().schema == DATA.schema


def test_filters_of_parquet_keep_what_pyarrow_keeps(tmp_path: Path) -> None:
    pq.write_table(DATA, tmp_path / "t.parquet", row_group_size=2)
    filters: list[Any] = [("x", ">", 1), ("z", "==", 0.5)]
    for chosen in (filters, [filters, [("y", "in", ["a", "e"])], [("x", "<", 2)]]):
        table = ck.read_parquet(tmp_path / "t.parquet", columns=["y"], filters=chosen)
        assert table.to_pyarrow().equals(
            pq.read_table(tmp_path / "t.parquet", columns=["y"], filters=chosen)
        )
    assert ck.read_parquet(tmp_path / "t.parquet", filters=[("x", ">", 9)]).shape == (0, 3)


def test_folders_of_parquet_have_columns_in_their_paths(tmp_path: Path) -> None:
    pq.write_to_dataset(DATA, tmp_path, partition_cols=["y"])
    rows = ck.read_parquet(tmp_path, columns=["y", "x"], filters=[("y", ">=", "c")])
    assert rows.to_pydict() == {"y": ["c", "d", "e"], "x": [None, 4, 5]}
    # The same file alone has the columns that are in it.
    (file,) = (tmp_path / "y=d").iterdir()
    assert ck.read_parquet(file).column_names == ["x", "z"]


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_several_files_of_parquet_are_one_table(scheme: str, tmp_path: Path) -> None:
    paths = [tmp_path / "b.parquet", tmp_path / "a.parquet"]
    for number, path in enumerate(paths):
        pq.write_table(DATA.slice(2 * number, 2 + number), path)
    assert ck.read_parquet([f"{scheme}{path}" for path in paths]).to_pydict() == DATA.to_pydict()
    with pytest.raises(ValueError, match="source: expected a path at least, got none"):
        ck.read_parquet([])


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_text_is_what_pyarrow_reads(kind: str, source: str, tmp_path: Path) -> None:
    (tmp_path / f"t.{kind}").write_bytes(text(kind))
    table = read_text(kind)(SOURCES[source](tmp_path / f"t.{kind}", text(kind)))
    # An empty value of text is no null in CSV.
    y = ["a", "" if kind == "csv" else None, "c", "d", "e"]
    assert table.to_pydict() == DATA.to_pydict() | {"y": y}


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_columns_filters_and_types_of_text(kind: str) -> None:
    table = read_text(kind)(text(kind), columns=["y"], filters=[("x", ">", 2)], types={"x": "int8"})
    assert table.to_pydict() == {"y": ["d", "e"]}
    either = [[("x", ">", 2), ("y", "<", "e")], [("x", "=", 1)]]
    assert read_text(kind)(text(kind), filters=either)["x"].to_pylist() == [1, 4]
    whole = read_text(kind)(text(kind), types={"x": "int8"})
    assert str(whole.schema.field("x").type) == "int8"


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_csv_of_other_forms(scheme: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"1;a\n2;b\n"))
    table = ck.read_csv(f"{scheme}{path}", delimiter=";", names=["n", "t"])
    assert table.to_pydict() == {"n": [1, 2], "t": ["a", "b"]}


def test_csv_has_the_options_of_pyarrow() -> None:
    data = "größe;n\n'1;5';-\n".encode("latin-1")
    options: dict[str, Any] = {"encoding": "latin-1", "quote_char": "'", "null_values": ["-"]}
    assert ck.read_csv(data, delimiter=";", **options).to_pylist() == [{"größe": "1;5", "n": None}]
    with pytest.raises(TypeError, match=r"there is no option 'sep'; write delimiter"):
        ck.read_csv(data, sep=";")
    with pytest.raises(TypeError, match=r"read_csv: there is no option 'quotes'$"):
        ck.read_csv(data, quotes=";")


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_pattern_of_paths(scheme: str, tmp_path: Path) -> None:
    for name, start in (("b", 2), ("a", 0), ("c[1]", 4)):
        pq.write_table(DATA.slice(start, 2), tmp_path / f"{name}.parquet")
    table = ck.read_parquet(f"{scheme}{tmp_path}/[ab].parquet")
    assert table.to_pylist() == DATA.slice(0, 4).to_pylist()
    table = ck.read_parquet(f"{scheme}{tmp_path}/c[1].parquet")
    assert table.to_pylist() == DATA.slice(4, 2).to_pylist()
    with pytest.raises(FileNotFoundError, match=r"x\*\.parquet"):
        ck.read_parquet(f"{scheme}{tmp_path}/x*.parquet")


@pytest.mark.parametrize("scheme", ["", "file://", "memory://"])
@pytest.mark.parametrize("name", ["t.json", "t.json.gz", "t.arrow"])
def test_a_file_whose_writing_fails_is_as_it_was(name: str, scheme: str, tmp_path: Path) -> None:
    path = f"{scheme}{tmp_path}/{name}"
    plain, *others = [ck.table({"x": [value]}) for value in (1.5, 2.5, float("nan"))]
    if name.endswith("arrow"):
        plain.write_ipc(path)
        broken = ck.Table([*plain.batches, *map(_failing, plain.batches)], plain.schema)
        with pytest.raises(ZeroDivisionError):
            broken.write_ipc(path)
        assert ck.ipc.read_table(path).equals(plain)
    else:
        ck.write_json(plain, path)
        with pytest.raises(UnsupportedError, match="write_json: "):
            ck.write_json(ck.concat(others), path)
        assert ck.read_json(path).to_pydict() == {"x": [1.5]}


def test_files_at_urls_are_compressed_as_their_readers_expect() -> None:
    for name, decompress in (("t.json.xz", lzma.decompress), ("t.json.gz", gzip.decompress)):
        url = f"memory://{name}"
        ck.write_json(ck.table({"x": [1.5]}), url)
        with fsspec.open(url) as file:
            assert json.loads(decompress(file.read())) == {"x": 1.5}
        assert ck.read_json(url).to_pydict() == {"x": [1.5]}


def _failing(batch: ck.RecordBatch) -> ck.RecordBatch:
    return ck.RecordBatch.lazy(
        batch.schema, batch.length, lambda position: ck.array([position // 0])
    )


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_columns_go_to_a_device(kind: str, device: StandIn) -> None:
    sink = io.BytesIO()
    pq.write_table(DATA, sink)
    read, data = (
        (ck.read_parquet, sink.getvalue()) if kind == "parquet" else (read_text(kind), text(kind))
    )
    table = read(data, columns=["x", "z"], filters=[("x", "<", 5)], device="cuda")
    assert {column.device.kind for batch in table.batches for column in batch.columns} == {"cuda"}
    assert ck.to_host(table).to_pydict() == {"x": [1, 2, 4], "z": [0.5] * 3}


def test_parquet_at_a_url_of_a_folder(tmp_path: Path) -> None:
    pq.write_to_dataset(DATA, tmp_path, partition_cols=["y"])
    fsspec.filesystem("memory").put(f"{tmp_path}/", "/parquet/", recursive=True)
    try:
        assert ck.read_parquet("memory://parquet").equals(ck.read_parquet(tmp_path))
    finally:
        fsspec.filesystem("memory").rm("/parquet", recursive=True)


@pytest.mark.parametrize("read", [ck.read_parquet, ck.read_csv, ck.read_json])
def test_refusals(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"filters: x '~': expected one of ==, =, !=, <"):
        read(b"", filters=[("x", "~", 1)])
    wrong: list[Any] = [
        ("x", ">", 1),
        [("x", ">")],
        [[]],
        [[("x", ">", 1)], ("x", ">", 1)],
        "x > 1",
        None,
        pc.field("x") > 1,
    ]
    for filters in wrong:
        with pytest.raises(TypeError, match=r"filters: expected a list of triples, .* got"):
            read(b"", filters=filters)
    with pytest.raises(TypeError, match="bytes-like"):
        read(7)
    for module in ("dataset", "csv", "json"):
        monkeypatch.setitem(sys.modules, f"pyarrow.{module}", None)
    with pytest.raises(
        ModuleNotFoundError, match=rf"colkern\.{read.__name__}: .*pip install pyarrow"
    ):
        read(b"")


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_columns_that_are_not_there_are_named(kind: str) -> None:
    data, read = io.BytesIO(), ck.read_parquet if kind == "parquet" else read_text(kind)
    pq.write_table(DATA, data)
    for options in ({"columns": ["nope"]}, {"filters": [("nope", "==", 1)]}):
        with pytest.raises(KeyError, match="nope"):
            read(data.getvalue() if kind == "parquet" else text(kind), **options)


def test_columns_that_csv_cannot_have_are_named() -> None:
    rows = ck.table({"a": [1], "b": [[1, 2]]})
    with pytest.raises(ck.UnsupportedError, match=r"write_csv: column 'b' of list<.* leave it out"):
        ck.write_csv(rows, io.BytesIO())


def test_rows_are_written_as_json(tmp_path: Path) -> None:
    data = ck.table(
        {"n": [1, None], "t": ["é", 'a"b'], "l": [[1.5], None], "d": [date(2024, 1, 2), None]}
    )
    ck.write_json(data, tmp_path / "t.json.gz")
    lines = gzip.decompress((tmp_path / "t.json.gz").read_bytes()).decode().splitlines()
    assert lines[0] == '{"n": 1, "t": "é", "l": [1.5], "d": "2024-01-02"}'
    read = ck.read_json(tmp_path / "t.json.gz", columns=["n", "t", "l"])
    assert read.to_pydict() == data.select(["n", "t", "l"]).to_pydict()
    for refused in (b"a", float("nan")):
        with pytest.raises(UnsupportedError, match="write_json: "):
            ck.write_json(ck.table({"x": [refused]}), tmp_path / "t.json")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_nulls_alone_in_their_lines_stay_rows(name: str, tmp_path: Path) -> None:
    for values in ([1, None, 3], ["a", None], [None, None], [1.5, None], [True, None]):
        ck.table({"x": values}).write_csv(tmp_path / name)
        read = ck.read_csv(tmp_path / name, strings_can_be_null=True)
        assert read["x"].to_pylist() == values
    of_dictionary = ck.dictionary_encode(ck.array(["a", None]), null_encoding="encode")
    ck.table({"x": of_dictionary}).write_csv(tmp_path / name)
    read = ck.read_csv(tmp_path / name, strings_can_be_null=True)
    assert read["x"].to_pylist() == ["a", None]


def test_text_views_are_written_as_csv() -> None:
    sink = io.BytesIO()
    ck.write_csv(pa.table({"x": pa.array(["a", None], pa.string_view()), "y": [1, 2]}), sink)
    assert sink.getvalue() == b'"x","y"\n"a",1\n,2\n'


@pytest.mark.parametrize(
    ("write", "refused"),
    [
        (ck.write_parquet, pc.run_end_encode(pa.array([1]))),
        (ck.write_csv, pa.array([[1]])),
        (ck.write_json, pa.array([1.0, float("nan")])),
    ],
)
def test_a_file_stays_as_it_was_if_writing_fails(write: Any, refused: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(b"before")
    with pytest.raises(UnsupportedError, match=f"{write.__name__}: "):
        write(ck.table({"x": refused}), path)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("t.gz", b"before")]
