"""Arrow's golden files in device memory hold what the host reads of them: over a stand-in, on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from golden import golden_files
from ipc.on_device import complaint
from ipc.written import written

import colkern as ck
from colkern import Array
from colkern.cuda import stand_in
from colkern.memory import Buffer

GOLDEN = [
    *golden_files("arrow-ipc-stream/integration/*/*.stream"),
    *golden_files("arrow-ipc-stream/integration/*/*.arrow_file"),
]


@pytest.fixture(params=["stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "gpu":
        yield request.param
    else:
        with stand_in.installed():
            yield request.param


def buffers(array: Array) -> Iterator[Buffer]:
    """All buffers with bytes below an array."""
    yield from (buffer for buffer in array.buffers if buffer is not None and buffer.size)
    for child in array.children:
        yield from buffers(child)
    if array.dictionary is not None:
        yield from buffers(array.dictionary)


@pytest.mark.parametrize("path", GOLDEN)
def test_a_golden_file_on_the_device(path: Path, device: str) -> None:
    with ck.ipc.open(path) as on_host, ck.ipc.open(path, device="cuda") as on_device:
        assert on_device.schema == on_host.schema
        expected, read = on_host.read_all(), on_device.read_all()
    for batch in read:
        for column in batch.columns:
            assert {buffer.device for buffer in buffers(column)} <= {ck.Device("cuda")}
    assert [complaint(batch) for batch in read] == [complaint(batch) for batch in expected]
    fetched = [ck.to_host(batch) for batch in read]
    assert fetched == expected
    assert not expected or written(fetched) == written(expected)
