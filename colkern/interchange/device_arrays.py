"""Arrays and batches as `ArrowDeviceArray` structures, both ways, on any device.

Buffers are not copied. An import needs the lengths that stand in device memory: they come to the host
in one copy, when the first of them is asked for.

C Device data interface: "The ArrowDeviceArray structure", "Semantics".
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from colkern.arrays import Array, RecordBatch, RecordBatchStream
from colkern.cuda import memory
from colkern.cuda.device_library import Event
from colkern.cuda.memory import held
from colkern.errors import InvalidArrowError, UnsupportedError, placed
from colkern.interchange import abi
from colkern.interchange.arrays import (
    ArrayExport,
    HostStructure,
    build_structure,
    check_pointer,
    checked_shape,
    dictionary_field,
    last_offset_at,
    sizes_at,
    struct_of,
)
from colkern.interchange.native import Export
from colkern.interchange.schemas import export_schema
from colkern.interchange.streams import Producer, functions_of
from colkern.layouts import Extent
from colkern.memory import ALIGNMENT, HOST, Buffer, Device, Items
from colkern.schema import Dictionary, Field

_RESERVED = (0, 0, 0)


# Export


def export_device_array(
    array: Array, requested_schema: object = None, /, **kwargs: object
) -> tuple[object, object]:
    """Capsules named `arrow_schema` and `arrow_device_array`; nothing is copied.

    On a CUDA device, the structure has an event for the work queued so far on the caller's current
    stream; consumers do not wait for work that is queued later. Unknown nulls are counted on the
    device.

    Args:
        array: An array with all its bytes on one device.
        requested_schema: Ignored, as by `export_array`.
        kwargs: For later versions of the interface; each must be None.

    Raises:
        UnsupportedError: If bytes are on several devices, the type has no format string, or a keyword
            has a value.
    """
    require_no_keywords(kwargs)
    return export_schema(array.type), _capsule(array)


def export_device_batch(
    batch: RecordBatch, requested_schema: object = None, /, **kwargs: object
) -> tuple[object, object]:
    """The capsules of a batch as a struct array; otherwise as `export_device_array`."""
    require_no_keywords(kwargs)
    return export_schema(batch.schema), _capsule(struct_of(batch))


def require_no_keywords(kwargs: dict[str, object]) -> None:
    """Raise `UnsupportedError` for keywords of later versions of the interface that are not None."""
    unknown = [name for name, value in kwargs.items() if value is not None]
    if unknown:
        raise UnsupportedError(f"keywords of the device interface: {', '.join(unknown)}")


def device_of_batch(batch: RecordBatch) -> Device:
    """The device of the columns' bytes; the host if there are none."""
    return _device_of(batch.columns)


def move_device_batch_to(batch: RecordBatch, device: Device, address: int) -> None:
    """Write the structure of a batch on `device` to `address`; its owner must release the structure."""
    export = _DeviceArrayExport(device)
    export.move_to(_build(export, struct_of(batch)), address)


def _capsule(source: Array) -> object:
    export = _DeviceArrayExport(_device_of([source]))
    return export.into_capsule(_build(export, source))


def _device_of(arrays: Iterable[Array]) -> Device:
    """The device of the first bytes that are not in host memory; the host if there are none."""
    for part in arrays:
        for buffer in part.buffers:
            if buffer is not None and buffer.device != HOST and buffer.size:
                return buffer.device
        below = _device_of(part.children)
        if below == HOST and part.dictionary is not None:
            below = _device_of((part.dictionary,))
        if below != HOST:
            return below
    return HOST


class _DeviceArrayExport(ArrayExport):
    """Array structures being built on one device; `zeros` stand for offsets that consumers may read."""

    __slots__ = ("device", "zeros")

    def __init__(self, device: Device) -> None:
        super().__init__(abi.DeviceArrayStruct)
        self.device = device
        self.zeros: Buffer | None = None

    def buffer_address(self, buffer: Buffer | None) -> int:
        if self.device == HOST:
            return super().buffer_address(buffer)
        if buffer is None or buffer.size == 0:
            if self.zeros is None:
                with memory.current(self.device):
                    self.zeros = Buffer(memory.allocate(ALIGNMENT, np.uint8), self.device)
            return self.zeros.address
        if buffer.device != self.device:
            raise UnsupportedError(
                f"bytes live on {buffer.device} where others live on {self.device}; a device array is "
                "on one device: move them together first"
            )
        return buffer.address

    def null_count(self, source: Array) -> int:
        # cuDF takes this number as it is, and takes -1 for no nulls.
        return source.known_null_count if self.device == HOST else source.null_count

    def sizes(self, sizes: Sequence[int]) -> tuple[int, object]:
        if self.device == HOST:
            return super().sizes(sizes)
        # Consumers read the sizes either on the host or on the device: in page-locked memory both
        # can.
        locked = memory.library().page_locked((len(sizes) or 1) * abi.WORD)
        locked.view(np.int64)[: len(sizes)] = sizes
        return int(locked.ctypes.data), locked


def _build(export: _DeviceArrayExport, source: Array) -> array[int]:
    device_type, device_id = abi.type_of_device(export.device)
    if export.device == HOST:
        return build_structure(export, source, (device_id, device_type, 0, *_RESERVED))
    # The structure points to an event that is recorded after all work started by building it.
    handle = array("q", (0,))
    kept: list[object] = [handle]
    tail = (device_id, device_type, abi.address_of(handle), *_RESERVED)
    words = build_structure(export, source, tail, kept)
    event = memory.library().record_current(export.device.ordinal)
    handle[0] = event.handle
    kept += (event, export.zeros)
    return words


# Import


def device_structure(field: Field, owner: abi.Imported) -> HostStructure:
    """The source of an array in an `ArrowDeviceArray`; the caller's stream will wait for its event."""
    struct = abi.struct_at(abi.DeviceArrayStruct, owner.address)
    if struct.device_type == abi.CPU:
        if struct.sync_event:
            raise InvalidArrowError("an array in the memory of the CPU has an event to wait for")
        return HostStructure(field, owner)
    device = abi.device_of_type(struct.device_type, struct.device_id)
    if struct.device_type == abi.CUDA_HOST:
        if struct.sync_event:
            _event_at(struct.sync_event, device).wait()
        return HostStructure(field, owner)
    memory.require_device(device)
    event = _event_at(struct.sync_event, device) if struct.sync_event else None
    return _DeviceStructure(field, owner, device, event)


def _event_at(pointer: int, device: Device) -> Event:
    (handle,) = abi.words_at(pointer, 1)
    return memory.library().event_at(handle, device.ordinal)


class _DeviceStructure(HostStructure):
    """As `HostStructure`, with the buffers on a CUDA device."""

    __slots__ = ("_device", "_event", "_in_use", "_lengths")

    def __init__(
        self, field: Field, owner: abi.Imported, device: Device, event: Event | None
    ) -> None:
        super().__init__(field, owner)
        self._device = device
        self._event = event
        self._lengths: dict[tuple[int, int], bytes] | None = None
        self._in_use = held(owner, device)
        self._hold_current()

    def _hold_current(self) -> None:
        if self._event is not None:
            self._event.hold_current()

    def buffer_at(self, address: int, size: int) -> Buffer:
        with memory.current(self._device):
            if size == 0:
                return Buffer(memory.allocate(0, np.uint8), self._device)
            return Buffer(self._array_at(address, size), self._device)

    def _array_at(self, address: int, size: int) -> Items:
        return memory.library().array_at(address, size, self._device.ordinal, self._in_use)

    def bytes_at(self, address: int, size: int) -> bytes:
        if self._lengths is None:
            self._lengths = self._fetched()
        return self._lengths[address, size]

    def _fetched(self) -> dict[tuple[int, int], bytes]:
        """The bytes of all lengths that `bytes_at` will be asked for, by address and size."""
        lengths = {}
        far = []
        for address, size in set(_lengths_of(self.field, self.owner.address)):
            # Some producers keep the sizes of a view's data buffers in host memory.
            if memory.library().ordinal_at(address) is None:
                lengths[address, size] = super().bytes_at(address, size)
            else:
                far.append((address, size))
        if far:
            lengths.update(zip(far, self._copied(far), strict=True))
        return lengths

    def _copied(self, places: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        with memory.current(self._device):
            # The current stream may be another one than the one that already waits.
            self._hold_current()
            parts = [self._array_at(address, size) for address, size in places]
            copied = memory.on_host(memory.array_library().concatenate(parts)).tobytes()
        begin = 0
        for _, size in places:
            yield copied[begin : begin + size]
            begin += size


def _lengths_of(field: Field, address: int) -> Iterator[tuple[int, int]]:
    """The address and the size of each length in the buffers of an array and of all arrays below it."""
    with placed(f"field {field.name!r}"):
        yield from _lengths_in(field, abi.struct_at(abi.ArrayStruct, address))


def _lengths_in(field: Field, struct: abi.ArrayStruct) -> Iterator[tuple[int, int]]:
    rule = checked_shape(field.type, struct).rule
    pointers = abi.words_at(struct.buffers, struct.n_buffers) if struct.n_buffers else []
    slots = struct.length + struct.offset
    place = None
    for offsets, pointer, of in zip(rule.buffers, pointers, rule.buffers[1:], strict=False):
        if of.extent is Extent.FREE:
            check_pointer(offsets.role, pointer, offsets.min_bytes(slots))
            place = last_offset_at(offsets, pointer, slots)
    if rule.variadic:
        place = sizes_at(pointers[len(rule.buffers) :])
    if place is not None:
        yield place
    for child, child_address in zip(field.type.fields, abi.children_at(struct), strict=True):
        yield from _lengths_of(child, child_address)
    storage = field.type.storage
    if isinstance(storage, Dictionary):
        yield from _lengths_of(dictionary_field(storage), struct.dictionary)


_FUNCTIONS = functions_of(abi.DeviceStreamStruct)


def export_device_stream(
    stream: RecordBatchStream, requested_schema: object = None, /, **kwargs: object
) -> object:
    """A capsule named `arrow_device_array_stream`; the stream is consumed as the consumer asks for batches.

    The structure names one kind of device for all batches. If the stream does not know it, its first
    batch is made now.

    Args:
        requested_schema: Ignored, as by `export_stream`.
        kwargs: For later versions of the interface; each must be None.

    Raises:
        UnsupportedError: If a keyword has a value.

    Also raises what the stream raises if its first batch is made now. Later errors reach the consumer
    as with `export_stream`, also that of a batch on another kind of device.
    """
    require_no_keywords(kwargs)
    rest, device = (stream, stream.device) if stream.device else _looked_into(stream)

    def move_batch(batch: RecordBatch, address: int) -> None:
        move_device_batch_to(batch, _device_in_stream(batch, device), address)

    export = Export(abi.DeviceStreamStruct)
    device_type, _ = abi.type_of_device(device)
    words = array("q", (device_type, *_FUNCTIONS, export.release, 0))
    export.anchor(words, Producer(rest.schema, rest, abi.DeviceArrayStruct, move_batch))
    return export.into_capsule(words)


def _looked_into(stream: RecordBatchStream) -> tuple[RecordBatchStream, Device]:
    """A stream of the same batches, and the device of the first one."""
    first = next(stream, None)
    if first is None:
        return stream, HOST
    return RecordBatchStream(stream.schema, chain((first,), stream)), device_of_batch(first)


def _device_in_stream(batch: RecordBatch, promised: Device) -> Device:
    """The device of a batch. Within a stream, only the ordinal may change, not the kind."""
    device = device_of_batch(batch)
    if device == HOST:
        # The batch may have no bytes.
        return promised
    if promised == HOST:
        raise UnsupportedError(f"a batch on {device} in a stream of batches on {promised}")
    return device
