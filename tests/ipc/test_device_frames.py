"""Compressed bodies into device memory: decompressed there where that can be, else on their way."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colkern as ck
from colkern.cuda import count_transfers, stand_in
from colkern.ipc.reading.sources import OpenFile
from colkern.memory import ALIGNMENT

WORDS = ["lorem " * 20, "ipsum " * 20, None, "dolor " * 20] * 2_000


def written(codec: str | None, values: list[str | None]) -> bytes:
    sink = io.BytesIO()
    batch = ck.record_batch({"word": ck.array(values)})
    ck.ipc.write_file(sink, [batch], compression=codec, alignment=64)
    return sink.getvalue()


def body_bytes(data: bytes) -> int:
    """The body of the only batch."""
    (summary,) = ck.ipc.open(data).summaries()
    return summary.body_bytes


def test_compressed_bytes_cross_the_bus(device: stand_in.StandIn) -> None:
    data = written("lz4", WORDS)
    with count_transfers() as counted:
        batch = ck.ipc.open_file(data, device="cuda")[0]
    assert ck.to_host(batch)["word"].to_pylist() == WORDS
    uncompressed = sum(len(word or "") for word in WORDS) + 4 * len(WORDS)
    assert counted.bytes_to_device <= body_bytes(data) + 3 * ALIGNMENT < uncompressed / 4


def test_blocks_that_need_each_other_are_decompressed_on_the_host(
    device: stand_in.StandIn,
) -> None:
    # pyarrow's frames of more than 64 KiB have linked blocks. Those of "flag" have one block: the
    # device decompresses it beside the others.
    sink = io.BytesIO()
    flags = [word is not None for word in WORDS]
    table = pa.table({"word": WORDS, "flag": flags, "again": WORDS})
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    batch = ck.to_host(ck.ipc.open_file(sink.getvalue(), device="cuda")[0])
    assert batch.to_pydict() == table.to_pydict()


def test_without_room_for_what_is_compressed() -> None:
    data = written("lz4", WORDS)
    with stand_in.installed() as roomy:
        ck.ipc.open_file(data, device="cuda")[0]
        needed = roomy.allocations
    assert needed == 2
    size = sum(-(-n // 64) * 64 for n in _uncompressed_sizes())
    with stand_in.installed(memory_bytes=size) as device:
        batch = ck.ipc.open_file(data, device="cuda")[0]
        assert device.used_bytes == size
        assert ck.to_host(batch)["word"].to_pylist() == WORDS


def _uncompressed_sizes() -> list[int]:
    array = ck.array(WORDS)
    return [buffer.size for buffer in array.buffers if buffer is not None]


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_damage_is_told_as_on_the_host(codec: str, device: stand_in.StandIn) -> None:
    data = np.frombuffer(written(codec, WORDS), np.uint8).copy()
    (at,) = [i for i in range(data.size - 4) if bytes(data[i : i + 4]) == _magic(codec)][-1:]
    data[at + 40 : at + 60] ^= 0xFF
    with pytest.raises(ck.InvalidArrowError) as on_host:
        ck.ipc.open_file(bytes(data))[0]["word"]
    with pytest.raises(ck.InvalidArrowError) as on_device:
        ck.ipc.open_file(bytes(data), device="cuda")[0]["word"]
    assert str(on_device.value) == str(on_host.value)


def _magic(codec: str) -> bytes:
    return {"lz4": b"\x04\x22\x4d\x18", "zstd": b"\x28\xb5\x2f\xfd"}[codec]


@pytest.mark.parametrize("codec", ["lz4", None])
def test_bytes_of_a_file_are_read_into_page_locked_memory_at_once(
    codec: str | None, device: stand_in.StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but headers is read into other memory of the host."""
    path = tmp_path / "words.arrow"
    path.write_bytes(written(codec, WORDS))
    reader = ck.ipc.open_file(path, device="cuda")
    elsewhere: list[int] = []
    locked: list[Any] = []
    page_locked = device.page_locked

    def noted(size: int) -> Any:
        locked.append(page_locked(size))
        return locked[-1]

    def read_into(self: OpenFile, offset: int, view: Any) -> None:
        plain_read(self, offset, view)
        if not any(np.shares_memory(view, slot) for slot in locked):
            elsewhere.append(view.size)

    plain_read = OpenFile.read_into
    monkeypatch.setattr(device, "page_locked", noted)
    monkeypatch.setattr(OpenFile, "read_into", read_into)
    batch = reader[0]
    assert ck.to_host(batch)["word"].to_pylist() == WORDS
    assert max(elsewhere, default=0) < 500
    assert sum(elsewhere) < 1000


@pytest.mark.parametrize(("columns", "calls"), [(None, 1), (["c0", "c99"], 4)])
def test_what_the_host_decompresses_of_a_file_is_read_in_one_go(
    columns: list[str] | None,
    calls: int,
    device: stand_in.StandIn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """But not what lies between few columns: of each buffer, the size, its bytes."""
    device.core_decompresses = 1e12
    path = tmp_path / "numbers.arrow"
    values = list(range(1000))
    ck.ipc.write_file(
        path, ck.record_batch({f"c{k}": values for k in range(100)}), compression="lz4"
    )
    reader = ck.ipc.open_file(path, device="cuda", columns=columns)
    reads: list[int] = []

    def read_into(self: OpenFile, offset: int, view: Any) -> None:
        plain_read(self, offset, view)
        reads.append(view.size)

    plain_read = OpenFile.read_into
    monkeypatch.setattr(OpenFile, "read_into", read_into)
    batch = reader[0]
    assert ck.to_host(batch).column(-1).to_pylist() == values
    # The first one is of the metadata.
    assert len(reads[1:]) == calls
