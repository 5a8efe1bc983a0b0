"""Bodies that stay in device memory, between processes: stand-ins whose memory both map, no GPU."""

from __future__ import annotations

import gc
import itertools
import os
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from dissociated.children import Child, children, said
from golden import golden_files

import colkern.ipc
from colkern import RecordBatch, record_batch, to_device, to_host
from colkern.cuda import count_transfers, memory
from colkern.cuda.device_library import Allocation
from colkern.cuda.stand_in import StandIn, installed
from colkern.dissociated import connect, serve
from colkern.dissociated.leases import Frees
from colkern.dissociated.messages import BodyLocations, Location
from colkern.dissociated.shared.device import AllocationAnnouncer, ReachedAllocations
from colkern.dissociated.shared.spaces import AllocationPlace, retired
from colkern.dissociated.transports.connection import Frame, FrameKind
from colkern.errors import DeviceUnavailableError, InvalidArrowError
from colkern.memory import Buffer

ROWS = 5000
SERVICE = b"the service's id"

SERVER = f"""
import sys
from contextlib import nullcontext
import numpy as np
import colkern.ipc
from colkern import record_batch, to_device
from colkern.arrays import RecordBatchStream
from colkern.cuda.stand_in import installed
from colkern.dissociated import serve

def batch(first):
    return record_batch({{"n": np.arange(first, first + {ROWS}), "s": ["a", None] * {ROWS // 2}}})

def on_device(path):
    reader = colkern.ipc.open(path.decode())
    return RecordBatchStream(reader.schema, map(to_device, reader))

sources = {{
    "device": lambda: [to_device(batch(0)), to_device(batch(1))],
    "host": lambda: [batch(0), batch(1)],
}}

def source(name):
    make = sources.get(name.decode())
    return on_device(name) if make is None else make()

memory = sys.argv[1]
with nullcontext() if memory == "gpu" else installed(shareable=memory == "shareable"):
    one, two = serve(source, "cuda:"), serve(source, "cuda:", data_uri="cuda:", bodies_first=True)
    packed = serve(source, "cuda:", bodies="packed")
    print(one.uri, two.uri, two.data_uri, packed.uri, flush=True)
    for _ in sys.stdin:
        print(one.outstanding_bytes, one.traffic.placed_bytes, flush=True)
"""


PATHS = golden_files("arrow-ipc-stream/integration/1.0.0-littleendian/*.stream")


def batch(first: int) -> RecordBatch:
    return record_batch({"n": np.arange(first, first + ROWS), "s": ["a", None] * (ROWS // 2)})


@pytest.fixture(scope="module")
def start() -> Iterator[Callable[..., Child]]:
    with children() as start:
        yield start


@pytest.fixture(scope="module")
def uris(start: Callable[..., Child]) -> list[str]:
    """Of a server whose device memory can be opened: one service, metadata, bodies, packed."""
    return said(start(SERVER, "shareable")).split()


def test_no_byte_is_copied(device: StandIn, uris: list[str]) -> None:
    with count_transfers() as transfers, connect(uris[0], "device") as reader:
        first, second = reader
        assert first.column("n").device.kind == second.column("s").device.kind == "cuda"
        assert transfers.bytes_to_device == transfers.bytes_to_host == 0
        assert device.allocations == 0
        assert to_host(first) == batch(0)
        assert to_host(second) == batch(1)


@pytest.mark.gpu
def test_no_byte_is_copied_on_a_gpu(start: Callable[..., Child]) -> None:
    server = start(SERVER, "gpu")
    uri = said(server).split()[0]
    for _ in range(3):
        with count_transfers() as transfers, connect(uri, "device") as reader:
            received = reader.read_all()
            assert {str(each.column("n").device) for each in received} == {"cuda:0"}
            assert transfers.bytes_to_device == transfers.bytes_to_host == 0
            assert [to_host(each) for each in received] == [batch(0), batch(1)]
    del received, reader
    gc.collect()
    print("", file=server.stdin, flush=True)
    assert said(server).split()[1] == "0"


@pytest.mark.gpu
def test_every_golden_file_comes_by_cuda_ipc(start: Callable[..., Child]) -> None:
    if PATHS[0].marks:
        pytest.skip("no golden files")
    uri = said(start(SERVER, "gpu")).split()[0]
    for parameter in PATHS:
        path = str(parameter.values[0])
        with connect(uri, path, timeout=20) as reader:
            assert [to_host(each) for each in reader] == list(colkern.ipc.open(path)), path


def test_host_memory_of_the_server_goes_to_its_device(device: StandIn, uris: list[str]) -> None:
    with connect(uris[0], "host") as reader:
        assert [to_host(each) for each in reader] == [batch(0), batch(1)]
        assert device.allocations == 0


def test_memory_that_cannot_be_opened_is_copied_on_its_device(
    device: StandIn, start: Callable[..., Child]
) -> None:
    server = start(SERVER, "private")
    with connect(said(server).split()[0], "device") as reader:
        assert [to_host(each) for each in reader] == [batch(0), batch(1)]
    print("", file=server.stdin, flush=True)
    assert int(said(server).split()[1]) == reader.traffic.announced_bytes


@pytest.mark.parametrize(
    ("wanted", "place"), [("cpu", "cpu"), ("cuda", "cuda:0"), ("cuda:0", "cuda:0")]
)
def test_where_bodies_are_asked_to_go(
    device: StandIn, uris: list[str], wanted: str, place: str
) -> None:
    with connect(uris[0], "device", device=wanted) as reader:
        received = reader.read_all()
    assert {str(each.column("s").device) for each in received} == {place}
    assert [to_host(each) for each in received] == [batch(0), batch(1)]


def test_packed_bodies_come_to_host_memory_or_are_brought(device: StandIn, uris: list[str]) -> None:
    with connect(uris[3], "device") as reader:
        assert reader.read_all() == [batch(0), batch(1)]
    with connect(uris[3], "device", device="cuda") as reader:
        assert [to_host(each) for each in reader] == [batch(0), batch(1)]


@pytest.mark.parametrize("connections", [1, 2])
def test_every_golden_file_as_it_is_read_directly(
    device: StandIn, uris: list[str], connections: int
) -> None:
    """Over two connections, bodies come before their metadata."""
    if PATHS[0].marks:
        pytest.skip("no golden files")
    uri, data_uri = {1: (uris[0], None), 2: (uris[1], uris[2])}[connections]
    for parameter in PATHS:
        path = str(parameter.values[0])
        with connect(uri, path, data_uri=data_uri, timeout=20) as reader:
            assert [to_host(each) for each in reader] == list(colkern.ipc.open(path)), path


def test_memory_is_unmapped_and_freed_once_it_is_not_used(
    device: StandIn, start: Callable[..., Child]
) -> None:
    server = start(SERVER, "shareable")
    with connect(said(server).split()[0], "device") as reader:
        batches = reader.read_all()
        columns = [column for each in batches for column in each.columns]
    assert device.sharing.opened
    waited = device.sharing.finished
    del batches, columns
    gc.collect()
    assert not device.sharing.opened
    # A kernel that still runs may read what is freed.
    assert device.sharing.finished > waited
    end = time.monotonic() + 10
    outstanding = ""
    while outstanding != "0":
        assert time.monotonic() < end, outstanding
        print("", file=server.stdin, flush=True)
        outstanding = said(server).split()[0]


def test_the_servers_own_process_is_told_of_another_transport() -> None:
    with (
        installed(shareable=True),
        serve([to_device(batch(0))], "cuda:") as server,
        connect(server.uri) as reader,
        pytest.raises(InvalidArrowError, match="connect to inproc:"),
    ):
        reader.read_all()


def test_without_a_device_there_is_no_such_service() -> None:
    if memory.is_available():
        pytest.skip("there is a device")
    with pytest.raises(DeviceUnavailableError):
        serve([batch(0)], "cuda:")


# What a server may say


class Sent:
    """A connection that keeps what is sent over it."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def send(self, kind: FrameKind, size: int, chunks: list[bytes]) -> None:
        assert kind is FrameKind.SEGMENT
        self.frames.append(b"".join(chunks))


class Sharing:
    """Another process's memory, as a driver opens it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.calls: list[str] = []
        self._block = np.zeros(size, np.uint8)

    def uuid(self, ordinal: int) -> bytes:
        return b"U" * 16

    def open(self, handle: bytes, ordinal: int) -> Allocation:
        self.calls.append("open")
        return Allocation(int(self._block.ctypes.data), self.size, 0)

    def close(self, address: int, ordinal: int) -> None:
        self.calls.append("close")

    def finish_device(self, ordinal: int) -> None:
        self.calls.append("finish")


@pytest.fixture
def sharing(device: StandIn) -> Sharing:
    result = Sharing(4096)
    device.sharing = result  # type: ignore[assignment]
    return result


def frame(data: bytes) -> Frame:
    return Frame(FrameKind.SEGMENT, 0, np.frombuffer(data, np.uint8))


def announced(base: int, size: int, handle: bytes = b"H" * 64) -> Frame:
    return frame(AllocationPlace(base, size, b"U" * 16, handle).encode(SERVICE))


def freeing(calls: list[str]) -> Frees:
    def free(_: bytes) -> bool:
        calls.append("free")
        return True

    return Frees(free, lambda: None)


def body(*locations: tuple[int, int]) -> BodyLocations:
    return BodyLocations.of([Location(*each) for each in locations])


def test_an_allocation_is_opened_once_and_closed_before_it_is_freed(sharing: Sharing) -> None:
    reach = ReachedAllocations(SERVICE)
    reach.take(announced(4096, 4096))
    buffers = reach.buffers(body((4096, 64), (0, 0), (4160, 32)), freeing(sharing.calls))
    assert [buffer.size for buffer in buffers] == [64, 32]
    assert buffers[1].address - buffers[0].address == 64
    del buffers
    assert sharing.calls == ["open", "finish", "close", "free"]


def test_it_stays_open_for_other_bodies(sharing: Sharing) -> None:
    reach = ReachedAllocations(SERVICE)
    reach.take(announced(4096, 4096))
    one, two = (reach.buffers(body((4096, 64)), freeing(sharing.calls)) for _ in range(2))
    del one
    assert sharing.calls == ["open", "finish", "free"]
    del two
    assert sharing.calls[3:] == ["finish", "close", "free"]


def test_a_forked_child_leaves_it_to_its_parent(sharing: Sharing) -> None:
    reach = ReachedAllocations(SERVICE)
    reach.take(announced(4096, 4096))
    buffers = reach.buffers(body((4096, 64)), freeing(sharing.calls))
    child = os.fork()
    if not child:
        # A child has the same calls so far, and says by its status whether there are more.
        del buffers
        os._exit(len([call for call in sharing.calls if call != "free"]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    del buffers


def test_the_place_of_one_may_be_another_ones_later(sharing: Sharing) -> None:
    """A server could say so while the first is in use, which must not be taken for the second."""
    reach = ReachedAllocations(SERVICE)
    reach.take(announced(4096, 64))
    kept = reach.buffers(body((4096, 64)), freeing([]))
    reach.take(frame(retired(4096, SERVICE)))
    reach.take(announced(4096, 8192))
    with pytest.raises(InvalidArrowError, match="4096 bytes is announced with 8192"):
        reach.buffers(body((4096, 8192)), freeing([]))
    assert sharing.calls == ["open", "open", "close"]
    del kept


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (AllocationPlace(0, 64, b"U" * 16, b"H" * 64).encode(b"another service."), "remote_handle"),
        (AllocationPlace(0, 64, b"U" * 16, b"H" * 63).encode(SERVICE), "79 bytes of device"),
        (AllocationPlace(0, 0, b"U" * 16, b"").encode(SERVICE), "16 bytes of device"),
        (AllocationPlace(1 << 63, 64, b"U" * 16, b"H" * 64).encode(SERVICE), "at offset"),
        (retired(4096, SERVICE), "no segment at 0x1000"),
    ],
)
def test_frames_that_are_refused(sharing: Sharing, data: bytes, message: str) -> None:
    with pytest.raises(InvalidArrowError, match=message):
        ReachedAllocations(SERVICE).take(frame(data))


def test_a_gpu_that_is_not_seen_here_is_named(sharing: Sharing) -> None:
    elsewhere = AllocationPlace(0, 64, b"V" * 16, b"H" * 64).encode(SERVICE)
    with pytest.raises(DeviceUnavailableError, match="CUDA_VISIBLE_DEVICES"):
        ReachedAllocations(SERVICE).take(frame(elsewhere))


@pytest.mark.parametrize("location", [(4095, 8), (8190, 4), (0, 8), (4096, 4097)])
def test_nothing_outside_of_an_allocation_is_reached(
    sharing: Sharing, location: tuple[int, int]
) -> None:
    reach = ReachedAllocations(SERVICE)
    reach.take(announced(4096, 4096))
    with pytest.raises(InvalidArrowError, match="in no segment"):
        reach.buffers(body(location), freeing([]))
    assert sharing.calls == []


# What a server says


def test_an_allocation_is_announced_while_something_in_it_is() -> None:
    sent = Sent()
    with installed(shareable=True) as device:
        array = device.arrays.empty(128, np.uint8)
        buffer = Buffer(array, memory.current_device())
        announcer = AllocationAnnouncer(sent, SERVICE)  # type: ignore[arg-type]
        one = announcer.announce([buffer[:64], Buffer(np.zeros(0, np.uint8)), buffer[64:]])
        assert device.sharing.finished == 1
        two = announcer.announce([buffer[8:16]])
        assert len(sent.frames) == 1
        bases = [location.address for location in one.locations.buffers]
        assert bases[1] == 0
        assert bases[2] == bases[0] + 64
        assert two.locations.buffers == ((bases[0] + 8, 8),)
        assert (one.counted, one.placed) == (128, 0)
        del one, two
        three = announcer.announce([buffer])
        assert sent.frames[1] == retired(bases[0], SERVICE)
        assert three.locations.buffers[0].address > bases[0] + 128
        assert len(sent.frames) == 3


def test_every_allocation_has_a_place_of_its_own() -> None:
    sent = Sent()
    with installed(shareable=True) as device:
        announcer = AllocationAnnouncer(sent, SERVICE)  # type: ignore[arg-type]
        where = memory.current_device()
        buffers = [Buffer(device.arrays.empty(4096, np.uint8), where) for _ in range(5)]
        result = announcer.announce(buffers)
        ranges = sorted(result.locations.buffers)
        assert len(sent.frames) == 5
        for one, two in itertools.pairwise(ranges):
            assert one.address + one.length <= two.address
        result.owners.clear()
