"""Arrays of every layout in device memory: moved, written, read; without any golden file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from golden import is_installed
from operations.samples import sample, samples

import colkern as ck

pytestmark = pytest.mark.smoke


WITHOUT_BYTES = {"null", "struct without fields"}
"""Their slices may have no buffer: they are nowhere."""


def moved(name: str) -> tuple[ck.Array, ck.Array]:
    """A slice that begins within a byte, on the host and on the device."""
    array = sample(name).slice(1)
    return array, ck.to_device(array)


@pytest.mark.parametrize("name", samples())
def test_an_array_comes_back_as_it_went(name: str, place: str) -> None:
    array, there = moved(name)
    assert name in WITHOUT_BYTES or there.device == ck.Device("cuda")
    assert ck.to_host(there).to_pylist() == array.to_pylist()


def compressions() -> list[str | None]:
    """Those whose packages are installed: a stock machine has none."""
    return [None, *(c for c, p in {"lz4": "lz4", "zstd": "zstandard"}.items() if is_installed(p))]


@pytest.mark.parametrize("compression", compressions())
@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_every_layout_is_written_from_the_device_and_read_into_it(
    fmt: str, compression: str | None, place: str, tmp_path: Path
) -> None:
    write: Any = ck.ipc.write_file if fmt == "file" else ck.ipc.write_stream
    arrays = {name: moved(name) for name in samples()}
    batch = ck.record_batch({name: there for name, (_, there) in arrays.items()})
    path = tmp_path / "layouts.arrow"
    write(path, [batch, batch], compression=compression)
    on_host = io.BytesIO()
    plain = ck.record_batch({name: here for name, (here, _) in arrays.items()})
    write(on_host, [plain, plain], compression=compression)
    assert path.read_bytes() == on_host.getvalue()
    read = ck.ipc.open(path, device="cuda").read_all()
    assert len(read) == 2
    for each in read:
        for name, (here, _) in arrays.items():
            column = each[name]
            assert name in WITHOUT_BYTES or column.device == ck.Device("cuda")
            assert ck.to_host(column).to_pylist() == here.to_pylist(), name
