"""C Device data interface, "The ArrowDeviceArray structure": arrays of any device, both ways."""

from __future__ import annotations

import ctypes
import gc
import struct
from collections.abc import Callable
from typing import Any

import nanoarrow as na
import nanoarrow.device
import numpy as np
import pyarrow as pa
import pytest
from arrow_strategies import arrays
from hypothesis import given
from operations.samples import sample, samples
from present import present

import colkern as ck
from colkern.arrays.array import empty_array
from colkern.cuda import count_transfers, stand_in
from colkern.cuda.stand_in import StandIn
from colkern.errors import DeviceUnavailableError, InvalidArrowError, UnsupportedError
from colkern.interchange import export_device_array, import_array, import_batch

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
THREE = np.arange(3, dtype=np.int64).tobytes()
FIRST = ck.Device("cuda")

BATCH = pa.record_batch(
    {
        "ints": pa.array([1, None, 3]),
        "text": pa.array(["a", None, "bcd"]),
        "views": pa.array(["a", None, "a text of more than twelve bytes"], pa.string_view()),
        "lists": pa.array([[1, None], None, []], pa.list_(pa.int64())),
        "structs": pa.array([{"x": 1, "y": "b"}, None, {"x": None, "y": ""}]),
        "words": pa.array(["u", None, "u"]).dictionary_encode(),
        "nothing": pa.nulls(3),
    }
)


class OnlyDevice:
    """Other methods of another library's object do not count beside its device method."""

    def __init__(self, obj: Any) -> None:
        self._obj = obj

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        return self._obj.__arrow_c_device_array__(requested_schema, **kwargs)


# Host memory


def test_pyarrow_reads_a_batch_and_an_array() -> None:
    ours = import_batch(BATCH)
    back = pa.RecordBatch._import_from_c_device_capsule(*ours.__arrow_c_device_array__())
    assert back.equals(BATCH)
    text = ours["text"].slice(1)
    array = pa.Array._import_from_c_device_capsule(*text.__arrow_c_device_array__())
    assert array.to_pylist() == [None, "bcd"]


def test_pyarrow_s_device_arrays_are_read() -> None:
    assert pa.record_batch(import_batch(OnlyDevice(BATCH))).equals(BATCH)
    assert pa.array(ck.array(OnlyDevice(BATCH["text"]))).equals(BATCH["text"])
    assert ck.record_batch(OnlyDevice(BATCH))["ints"].to_pylist() == [1, None, 3]


def test_nanoarrow_reads_and_writes() -> None:
    theirs = nanoarrow.device.c_device_array(ck.array(["a", None, "bcd"]))
    assert (theirs.device_type_id, theirs.device_id) == (CPU, -1)
    assert na.Array(theirs.array).to_pylist() == ["a", None, "bcd"]
    assert import_array(OnlyDevice(theirs)).to_pylist() == ["a", None, "bcd"]


def test_the_structure_of_host_memory(c: Any) -> None:
    """128 bytes, nothing to wait for, and zeros where later versions have something."""
    _, capsule = ck.array([1, 2]).__arrow_c_device_array__()
    assert ctypes.sizeof(c.DeviceArray) == 128
    result = c.struct_in(capsule, c.DeviceArray)
    assert (result.device_type, result.device_id, result.sync_event) == (CPU, -1, None)
    assert list(result.reserved) == [0, 0, 0]
    assert (result.length, result.n_buffers, result.n_children) == (2, 2, 0)


def test_keywords_of_later_versions_are_refused_unless_none() -> None:
    array = ck.array([1])
    array.__arrow_c_device_array__(None, stream=None)
    for item in (array, ck.RecordBatch.from_arrays([array], ["a"])):
        with pytest.raises(NotImplementedError, match="stream"):
            item.__arrow_c_device_array__(stream=7)


def test_the_device_method_is_asked_first() -> None:
    """A library on a device copies to the host when it is asked for the other one."""

    class Both(OnlyDevice):
        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            raise AssertionError("copied to the host")

    assert import_array(Both(BATCH["ints"])).to_pylist() == [1, None, 3]


# Device memory, over a stand-in


Place = Callable[[bytes], int]


@pytest.fixture
def place(device: StandIn, producer: Any) -> Place:
    """Puts bytes into device memory, and says where."""

    def placed(data: bytes) -> int:
        block = producer.keep(device.allocated(len(data)))
        block[:] = np.frombuffer(data, np.uint8)
        return int(block.ctypes.data)

    return placed


@pytest.mark.parametrize("name", samples())
def test_every_layout_there_and_back(name: str, device: StandIn) -> None:
    array = sample(name).slice(1)
    moved = import_array(OnlyDevice(ck.to_device(array)))
    # Without bytes an array is nowhere.
    assert name == "null" or moved.device == FIRST
    assert ck.to_host(moved).to_pylist() == array.to_pylist()


def test_nothing_is_copied_on_the_way_out(device: StandIn, c: Any) -> None:
    moved = ck.to_device(import_batch(BATCH))
    with count_transfers() as counted:
        capsules = moved.__arrow_c_device_array__()
    assert counted.copies_to_host == counted.copies_to_device == 0
    result = c.struct_in(capsules[1], c.DeviceArray)
    assert (result.device_type, result.device_id) == (CUDA, 0)
    text = result.children[1].contents
    assert [text.buffers[i] for i in range(3)] == [
        present(b).address for b in moved["text"].buffers
    ]


def test_zeros_of_the_device_stand_for_buffers_without_bytes(device: StandIn, c: Any) -> None:
    """Consumers may read the one offset of an empty array; host memory is no memory of the device."""
    moved = ck.Array(
        ck.struct([("a", ck.int64()), ("l", ck.list_(ck.int64()))]),
        0,
        [None],
        [ck.to_device(ck.array([1])), empty_array(ck.list_(ck.int64()))],
    )
    capsule = moved.__arrow_c_device_array__()[1]
    lists = c.struct_in(capsule, c.DeviceArray).children[1].contents
    assert lists.buffers[0] is None
    assert device.ordinal_at(lists.buffers[1]) == 0
    assert bytes((ctypes.c_char * 64).from_address(lists.buffers[1])) == bytes(64)
    used = device.used_bytes
    del capsule, lists
    gc.collect()
    assert device.used_bytes == used - 64


def test_nulls_are_counted_for_consumers_that_do_not_count(device: StandIn, c: Any) -> None:
    """-1 is allowed, and cuDF takes it for none."""
    moved = ck.to_device(ck.array([1, None, 3, None]).slice(1))
    assert moved.known_null_count == -1
    capsule = moved.__arrow_c_device_array__()[1]
    assert c.struct_in(capsule, c.DeviceArray).null_count == 2


def test_the_event_is_behind_a_pointer_and_lives_as_long_as_the_structure(
    device: StandIn, c: Any
) -> None:
    schema_capsule, capsule = ck.to_device(ck.array([1, 2])).__arrow_c_device_array__()
    moved = c.move(c.struct_in(capsule, c.DeviceArray))
    del schema_capsule, capsule
    gc.collect()
    (handle,) = device.events
    assert ctypes.c_int64.from_address(moved.sync_event).value == handle
    c.release(moved)
    assert list(device.events) == []


def test_a_capsule_that_nobody_takes_frees_event_and_memory(device: StandIn) -> None:
    array = ck.to_device(ck.array([1, 2]))
    capsules = export_device_array(array)
    del array
    gc.collect()
    assert (len(device.events), device.used_bytes) == (1, 64)
    del capsules
    assert (len(device.events), device.used_bytes) == (0, 0)


def test_a_column_moved_out_of_a_batch_outlives_it(device: StandIn, c: Any) -> None:
    batch = ck.RecordBatch.from_arrays([ck.to_device(ck.array([1, 2, 3]))], ["a"])
    capsule = batch.__arrow_c_device_array__()[1]
    del batch
    parent = c.move(c.struct_in(capsule, c.DeviceArray))
    child = c.move(parent.children[0].contents)
    c.release(parent)
    gc.collect()
    assert device.used_bytes == 64
    assert list((ctypes.c_int64 * 3).from_address(child.buffers[1])) == [1, 2, 3]
    c.release(child)
    assert device.used_bytes == 0


def test_bytes_on_two_devices_are_no_device_array(device: StandIn) -> None:
    batch = ck.RecordBatch.from_arrays(
        [ck.to_device(ck.array([1])), ck.array([2]), ck.nulls(1, ck.null())], ["a", "b", "c"]
    )
    with pytest.raises(UnsupportedError, match="cpu where others live on cuda:0"):
        batch.__arrow_c_device_array__()
    assert batch.select(["a", "c"]).__arrow_c_device_array__()


def test_the_host_method_says_what_to_do(device: StandIn) -> None:
    with pytest.raises(UnsupportedError, match="ask for a device array"):
        ck.to_device(ck.array([1])).__arrow_c_array__()


def test_the_current_stream_waits_for_the_event(
    device: StandIn, place: Place, producer: Any
) -> None:
    event = device.record_current(0)
    numbers = producer.array(3, [None, place(THREE)])
    exporter = producer.device_exporter(
        producer.schema(), producer.device_array(numbers, CUDA, event=event.handle)
    )
    with count_transfers() as counted:
        ours = import_array(exporter)
    assert device.held_by == [event.handle]
    assert device.waited_for == []
    assert counted.copies_to_host == 0
    assert ck.to_host(ours).to_pylist() == [0, 1, 2]


def test_what_nobody_asks_for_is_not_read(device: StandIn, producer: Any) -> None:
    """Addresses of a device mean nothing on the host."""
    numbers = producer.array(3, [0xDEAD000, 0xDEAD000], null_count=-1)
    ours = import_array(
        producer.device_exporter(producer.schema(), producer.device_array(numbers, CUDA))
    )
    assert (ours.device, present(ours.buffers[1]).address) == (FIRST, 0xDEAD000)


def text_on(place: Place, producer: Any, length: int) -> Any:
    offsets = place(struct.pack(f"={length + 1}i", *range(length + 1)))
    return producer.array(length, [None, offsets, place(b"x" * length)])


def test_one_copy_fetches_all_sizes_of_bytes(device: StandIn, place: Place, producer: Any) -> None:
    event = device.record_current(0)
    children = [text_on(place, producer, 3) for _ in range(5)]
    # Of these, the size is 0 without a look.
    children.append(producer.array(3, [None, place(THREE)]))
    rows = producer.array(3, [None], children=children)
    names = [producer.schema(b"u", b"t%d" % i) for i in range(5)] + [producer.schema(b"l", b"n")]
    exporter = producer.device_exporter(
        producer.schema(b"+s", children=names),
        producer.device_array(rows, CUDA, event=event.handle),
    )
    with count_transfers() as counted:
        batch = import_batch(exporter)
        batch["n"]
        assert counted.copies_to_host == 0
        columns = batch.columns
    assert (counted.copies_to_host, counted.bytes_to_host) == (1, 5 * 4)
    assert ck.to_host(columns[4]).to_pylist() == ["x", "x", "x"]
    # The stream that fetches them may be another one than at first.
    assert device.held_by == [event.handle] * 2


def test_a_slice_s_last_offset_is_its_own(place: Place, producer: Any) -> None:
    offsets = place(struct.pack("=4i", 0, 1, 3, -1))
    text = producer.array(1, [None, offsets, place(b"abc")], offset=1)
    ours = import_array(
        producer.device_exporter(producer.schema(b"u"), producer.device_array(text, CUDA))
    )
    assert ck.to_host(ours).to_pylist() == ["bc"]


@pytest.mark.parametrize("where", ["host", "device"])
def test_sizes_of_views_are_read_wherever_they_are(where: str, place: Place, producer: Any) -> None:
    """The format's text has all buffers on the device; Arrow C++ keeps this one on the host."""
    text = b"a text of more than twelve bytes"
    view = struct.pack("=i4sii", len(text), text[:4], 0, 0)
    sizes: Any = struct.pack("=q", len(text))
    if where == "device":
        sizes = place(sizes)
    pointers = [None, place(view), place(text), sizes]
    array = producer.device_array(producer.array(1, pointers), CUDA)
    ours = import_array(producer.device_exporter(producer.schema(b"vu"), array))
    assert ck.to_host(ours).to_pylist() == [text.decode()]


def test_exported_sizes_of_views_can_be_read_on_both_sides(device: StandIn, c: Any) -> None:
    moved = ck.to_device(import_array(BATCH["views"]))
    capsule = moved.__arrow_c_device_array__()[1]
    result = c.struct_in(capsule, c.DeviceArray)
    assert ctypes.c_int64.from_address(result.buffers[3]).value == 32


def test_page_locked_memory_is_the_host_s(device: StandIn, producer: Any) -> None:
    """The host reads it: so the host waits."""
    event = device.record_current(0)
    array = producer.device_array(producer.array(3, [None, THREE]), CUDA_HOST, event=event.handle)
    ours = import_array(producer.device_exporter(producer.schema(), array))
    assert device.waited_for == [event.handle]
    assert ours.device == ck.Device("cpu")
    assert ours.to_pylist() == [0, 1, 2]


def test_managed_memory_is_the_device_s(place: Place, producer: Any) -> None:
    numbers = producer.array(3, [None, place(THREE)])
    ours = import_array(
        producer.device_exporter(producer.schema(), producer.device_array(numbers, CUDA_MANAGED))
    )
    assert ours.device == FIRST


def test_an_imported_array_is_released_when_its_last_user_dies(
    place: Place, producer: Any, c: Any
) -> None:
    numbers = producer.array(3, [None, place(THREE)])
    exporter = producer.device_exporter(producer.schema(), producer.device_array(numbers, CUDA))
    ours = import_array(exporter)
    users = [ours.slice(1), ours.buffers[1], present(ours.buffers[1]).array[:1]]
    users.append(ours.__arrow_c_device_array__())
    del ours, exporter
    while users:
        gc.collect()
        assert producer.released[c.Array] == 0
        users.pop()
    assert producer.released[c.Array] == 1


def test_padding_behind_the_device_type_means_nothing(place: Place, producer: Any) -> None:
    """It has 32 bits, and what stands in the next 32 is whatever was there."""
    array = producer.device_array(producer.array(3, [None, place(THREE)]), CUDA)
    ctypes.memset(ctypes.addressof(array) + 92, 0xFF, 4)
    assert import_array(producer.device_exporter(producer.schema(), array)).device == FIRST


def test_rows_of_a_batch_on_a_device_may_not_be_null(place: Place, producer: Any) -> None:
    column = producer.array(3, [None, place(THREE)])
    rows = producer.array(3, [place(b"\x05")], null_count=-1, children=[column])
    schema = producer.schema(b"+s", children=[producer.schema(name=b"a")])
    with pytest.raises(InvalidArrowError, match="1 rows"):
        import_batch(producer.device_exporter(schema, producer.device_array(rows, CUDA)))


class OnlyHost:
    def __init__(self, array: pa.Array) -> None:
        self.__arrow_c_array__ = array.__arrow_c_array__


@given(arrays())
def test_any_array_is_what_it_is_by_the_c_data_interface(array: pa.Array) -> None:
    expected = import_array(OnlyHost(array))
    assert import_array(OnlyDevice(array)).equals(expected)
    with stand_in.installed():
        there = import_array(OnlyDevice(ck.to_device(expected)))
        assert ck.to_host(there).equals(expected)


# What is refused


def refused(producer: Any, array: Any, error: type[Exception], match: str) -> None:
    exporter = producer.device_exporter(producer.schema(name=b"a"), array)
    with pytest.raises(error, match=match):
        import_array(exporter)
    released = dict(producer.released)
    del exporter
    gc.collect()
    # Once, by whoever had it in the end.
    assert list(producer.released.values()) == [1, 1, 0], released


@pytest.mark.parametrize(
    ("device_type", "name"),
    [(4, "OpenCL"), (8, "Metal"), (10, "ROCm"), (16, "Hexagon"), (0, "unknown"), (-1, "unknown")],
)
def test_other_devices(producer: Any, device_type: int, name: str) -> None:
    array = producer.device_array(producer.array(3, [None, THREE]), device_type)
    refused(producer, array, UnsupportedError, f"device type {device_type} .{name}")


def test_a_cuda_device_without_a_number(producer: Any) -> None:
    array = producer.device_array(producer.array(3, [None, THREE]), CUDA, -1)
    refused(producer, array, InvalidArrowError, "CUDA device -1")


def test_the_cpu_has_no_events(producer: Any) -> None:
    array = producer.device_array(producer.array(3, [None, THREE]), CPU, -1, event=1)
    refused(producer, array, InvalidArrowError, "event")


def test_a_cuda_device_that_there_is_none_of(device: StandIn, producer: Any) -> None:
    array = producer.device_array(producer.array(3, [None, THREE]), CUDA, 7)
    refused(producer, array, DeviceUnavailableError, "no device cuda:7: there are 1 CUDA devices")


@pytest.mark.parametrize("device_type", [CUDA, CUDA_MANAGED])
def test_no_cuda_device(producer: Any, device_type: int) -> None:
    from colkern import cuda

    if cuda.is_available():
        pytest.skip("there is one")
    array = producer.device_array(producer.array(3, [None, THREE]), device_type)
    refused(producer, array, DeviceUnavailableError, "CUDA")


@pytest.mark.parametrize(
    ("member", "value", "word"),
    [
        ("length", -1, "-1"),
        ("n_buffers", 2, "2 buffers"),
        ("n_children", 1, "1 children"),
        ("null_count", 1, "no validity bitmap"),
        ("length", 2**62, "bytes"),
    ],
)
def test_members_are_checked_as_those_of_host_memory(
    place: Place, producer: Any, member: str, value: int, word: str
) -> None:
    text = text_on(place, producer, 3)
    setattr(text, member, value)
    exporter = producer.device_exporter(
        producer.schema(b"u", b"a"), producer.device_array(text, CUDA)
    )
    with pytest.raises(InvalidArrowError, match=f"field 'a'.*{word}"):
        import_array(exporter)


def test_lengths_of_a_column_beside_are_checked_before_they_are_fetched(
    place: Place, producer: Any
) -> None:
    """They are fetched together, and the device would fail for ever where it reads what is not there."""
    beside = text_on(place, producer, 3)
    beside.length = 2**62
    rows = producer.array(3, [None], children=[text_on(place, producer, 3), beside])
    names = [producer.schema(b"u", b"a"), producer.schema(b"u", b"b")]
    batch = import_batch(
        producer.device_exporter(
            producer.schema(b"+s", children=names), producer.device_array(rows, CUDA)
        )
    )
    with pytest.raises(InvalidArrowError, match="field 'b': the offsets buffer"):
        batch["a"]


def test_a_negative_last_offset_on_a_device(place: Place, producer: Any) -> None:
    offsets = place(struct.pack("=3i", 0, 2, -5))
    text = producer.array(2, [None, offsets, place(b"ab")])
    exporter = producer.device_exporter(
        producer.schema(b"u", b"a"), producer.device_array(text, CUDA)
    )
    with pytest.raises(InvalidArrowError, match="field 'a': the last offset is -5"):
        import_array(exporter)


def test_a_structure_is_imported_once(place: Place, producer: Any, c: Any) -> None:
    numbers = producer.array(3, [None, place(THREE)])
    exporter = producer.device_exporter(producer.schema(), producer.device_array(numbers, CUDA))
    ours = import_array(exporter)
    with pytest.raises(InvalidArrowError, match="arrow_device_array is released"):
        import_array(exporter)
    assert producer.released[c.Array] == 0
    assert len(ours) == 3


def test_capsules_of_the_wrong_kind(producer: Any, c: Any) -> None:
    schema = producer.capsule(producer.schema())
    plain = producer.capsule(producer.array(3, [None, THREE]))
    with pytest.raises(TypeError, match="capsule named 'arrow_device_array'"):
        import_array(c.DeviceExporter(schema, plain))
    ours = ck.array([1]).__arrow_c_device_array__()
    with pytest.raises(TypeError, match="capsule named 'arrow_array'"):
        import_array(c.Exporter(*ours))


def test_the_device_has_done_its_work_when_a_structure_is_released(
    device: StandIn, producer: Any, place: Place, c: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that reads the memory may still run when the last array over it is dropped."""
    released: list[int] = []
    monkeypatch.setattr(
        device.sharing,
        "finish_device",
        lambda ordinal: released.append(producer.released[c.Array]),
    )
    struct = producer.device_array(producer.array(3, [None, place(THREE)]), CUDA)
    array = import_array(producer.device_exporter(producer.schema(), struct))
    part = array.slice(1)
    del array
    gc.collect()
    assert released == []
    del part
    gc.collect()
    assert released == [0]
    assert producer.released[c.Array] == 1
