"""Without the libraries of the codecs: plain data works, compressed data says what to install."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import colkern.ipc
from colkern import UnsupportedError

TABLE = pa.table({"x": list(range(1000))})


@pytest.fixture(autouse=True)
def no_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lz4", "lz4.frame", "zstandard"):
        # An entry of None is a module that cannot be imported.
        monkeypatch.setitem(sys.modules, name, None)


def stream(compression: str | None) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, TABLE.schema, options=options) as writer:
        writer.write_table(TABLE)
    return sink.getvalue()


PACKAGES = [("lz4", "lz4"), ("zstd", "zstandard")]


@pytest.mark.parametrize(("codec", "package"), PACKAGES)
def test_compressed_columns_name_the_package(codec: str, package: str) -> None:
    (batch,) = colkern.ipc.open(stream(codec))
    with pytest.raises(UnsupportedError, match=f"the package {package} .*pip install {package}"):
        batch["x"]


@pytest.mark.parametrize(("codec", "package"), PACKAGES)
def test_a_compressed_file_is_refused_before_it_is_opened(
    codec: str, package: str, tmp_path: Path
) -> None:
    (batch,) = colkern.ipc.open(stream(None))
    with pytest.raises(UnsupportedError, match=f"pip install {package}"):
        colkern.ipc.write_file(tmp_path / "x.arrow", batch, compression=codec)
    assert list(tmp_path.iterdir()) == []


def test_plain_data_needs_neither() -> None:
    (batch,) = colkern.ipc.open(stream(None))
    assert batch["x"].to_pylist() == TABLE["x"].to_pylist()
    sink = io.BytesIO()
    colkern.ipc.write_stream(sink, batch)
    assert pa.ipc.open_stream(sink.getvalue()).read_all() == TABLE


def test_importing_needs_neither() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('lz4', 'zstandard')))\n"
        "import colkern, colkern.ipc, colkern.dissociated, colkern.cuda"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
