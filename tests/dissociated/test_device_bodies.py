"""Batches in device memory, served; and bodies brought to a device (a stand-in: no GPU)."""

from __future__ import annotations

import numpy as np
import pytest
from present import present

from colkern import RecordBatch, record_batch, to_device, to_host
from colkern.cuda.stand_in import StandIn
from colkern.dissociated import connect, serve

pytestmark = pytest.mark.usefixtures("device")


def batch() -> RecordBatch:
    return record_batch({"n": np.arange(5000), "s": ["a", None] * 2500})


@pytest.mark.parametrize("uri", ["unix:", "shm:"])
def test_batches_of_a_device_come_to_host_memory(uri: str) -> None:
    with serve([to_device(batch())], uri) as server, connect(server.uri) as reader:
        received = reader.read_all()
        assert received == [batch()]
        assert received[0].column("n").device.kind == "cpu"


def test_within_a_process_bodies_stay_on_their_device(device: StandIn) -> None:
    on_device = to_device(batch())
    with serve([on_device], "inproc:") as server, connect(server.uri) as reader:
        (received,) = reader.read_all()
        assert server.traffic.copied_bytes == reader.traffic.copied_bytes == 0
        column = received.column("n")
        assert column.device.kind == "cuda"
        assert (
            present(column.buffers[1]).address == present(on_device.column("n").buffers[1]).address
        )
        assert to_host(received) == batch()


@pytest.mark.parametrize("uri", ["inproc:", "unix:", "shm:"])
def test_bodies_are_brought_to_a_device(uri: str) -> None:
    with (
        serve([batch(), batch()], uri) as server,
        connect(server.uri, device="cuda") as reader,
    ):
        for received in reader:
            assert received.column("s").device.kind == "cuda"
            assert to_host(received) == batch()
