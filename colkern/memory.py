"""Memory: a `Buffer` is a run of bytes on some device that keeps its owner alive.

A buffer never copies and never writes: kernels write into arrays from `allocate`, which become
buffers when they are done.

Columnar format 1.5: "Buffer Alignment and Padding".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsInt, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from colkern.names import PublicNames
from colkern.pool import ALIGNMENT as ALIGNMENT
from colkern.pool import POOL, Memory, with_room

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

Items: TypeAlias = NDArray[Any]
"""Items in the memory of a device: a NumPy array, or a CuPy array, which type checkers take for one."""

DType: TypeAlias = np.dtype[Any]

ItemType: TypeAlias = type[Any] | str | DType
"""The type of items, in fewer forms than NumPy takes: telling all of them apart takes time."""

Argument: TypeAlias = Items | int | float | np.number[Any]
"""An argument of a kernel, besides its range."""

Later: TypeAlias = Callable[[], int]
"""A number that may still be computed; calling it waits for the number."""


class Device(NamedTuple):
    """The place of bytes: `kind` is "cpu" or "cuda", `ordinal` numbers devices of a kind."""

    kind: str
    ordinal: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.ordinal}"


HOST = Device("cpu")

_new = object.__new__

UNKNOWN = -1
"""A count that nobody knows yet."""


def device_named(device: str | Device) -> Device:
    """The device with a name: "cpu", "cuda" (the first one) or "cuda:1"."""
    if isinstance(device, Device):
        return device
    if not isinstance(device, str):
        raise TypeError(f"device: expected a name or a Device, got {type(device).__name__}")
    kind, separator, ordinal = device.partition(":")
    if device == "cpu":
        return HOST
    if kind != "cuda" or (separator and not (ordinal.isascii() and ordinal.isdigit())):
        raise ValueError(f"device: expected 'cpu', 'cuda' or 'cuda:N', got {device!r}")
    return Device("cuda", int(ordinal or 0))


class Buffer(PublicNames):
    """An immutable run of bytes.

    Args:
        array: The bytes as a one-dimensional uint8 array: NumPy's on the host, an array with
            `__cuda_array_interface__` and NumPy's slicing (CuPy's) on a device.
        device: Their device.

    The array keeps the memory alive (through its `base`, or whatever the device library uses).
    """

    __slots__ = ("_address", "_size", "_written", "array", "device")

    # Of a `LateBuffer`.
    _size: int
    _written: Items

    def __init__(self, array: Items, device: Device = HOST) -> None:
        if device.kind == "cpu" and array.flags.writeable:
            array = array.view()
            # Always read-only, since Numba would compile another variant for writable arrays.
            array.flags.writeable = False
        # NumPy's or CuPy's.
        self.array: Any = array
        self.device = device
        self._address: int | None = None

    @classmethod
    def of_read_only(cls, array: NDArray[np.uint8]) -> Buffer:
        """As `Buffer(array)`, for a read-only array on the host; nothing is checked."""
        buffer = cls.__new__(cls)
        buffer.array = array
        buffer.device = HOST
        buffer._address = None
        return buffer

    @staticmethod
    def of_items(items: Items, size: int | None = None) -> Buffer:
        """The bytes of contiguous items on the host, or the first `size` of them; not copied."""
        buffer: LateBuffer = _new(LateBuffer)
        buffer._written = items
        buffer._size = items.nbytes if size is None else size
        buffer.device = HOST
        buffer._address = None
        return buffer

    @classmethod
    def from_object(cls, obj: Any) -> Buffer:
        """The bytes of an object with the buffer protocol (bytes, mmap, NumPy array …), not copied.

        Raises:
            TypeError: If the object has no contiguous buffer.
        """
        try:
            view = memoryview(obj).cast("B")
        except TypeError as error:
            raise TypeError(f"obj: expected a contiguous bytes-like object: {error}") from None
        return cls(np.frombuffer(view, np.uint8))

    @classmethod
    def from_address(cls, address: int, size: int, owner: object) -> Buffer:
        """`size` bytes of host memory at `address`; `owner` is kept alive as long as the buffer."""
        if size == 0:
            return EMPTY
        buffer = cls.of_read_only(array_at(address, size, owner))
        buffer._address = address
        return buffer

    @property
    def size(self) -> int:
        """The number of bytes."""
        size: int = self.array.size
        return size

    @property
    def address(self) -> int:
        """The address of the first byte on its device."""
        # Kept, since asking NumPy takes longer than a kernel over few values.
        if self._address is None:
            # Decided by class, not by device: in the CUDA simulator, host arrays stand in for
            # device memory.
            if isinstance(self.array, np.ndarray):
                self._address = int(self.array.ctypes.data)
            else:
                self._address = int(self.array.__cuda_array_interface__["data"][0])
        return self._address

    def __reduce__(self) -> tuple[object, ...]:
        # Without the address, which differs in another process.
        return Buffer, (self.array, self.device)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, where: slice) -> Buffer:
        """A slice with step 1; not copied."""
        if not isinstance(where, slice) or where.step not in (None, 1):
            raise TypeError("a buffer takes only slices with a step of 1")
        return Buffer(self.array[where], self.device)

    def view(self, dtype: DType, count: int | None = None, byte_offset: int = 0) -> Items:
        """The bytes from `byte_offset` on as `count` items of `dtype` (all that fit, if None).

        Nothing is copied, unless the items are not aligned as the processor needs; then they are copied
        once.

        Raises:
            ValueError: If the buffer is too small.
        """
        itemsize = dtype.itemsize
        if itemsize == 0:
            return np.empty(0 if count is None else count, dtype)
        array = self.array
        if count is None:
            count = (array.size - byte_offset) // itemsize
        stop = byte_offset + count * itemsize
        if byte_offset < 0 or count < 0 or stop > array.size:
            raise ValueError(
                f"{count} items of {dtype} from byte {byte_offset} do not fit {array.size} bytes"
            )
        bytes_: Items = array[byte_offset:stop]
        if self.device is HOST:
            items = bytes_.view(dtype)
            # NumPy's flag, since asking for the address takes longer than a kernel over few values.
            return items if items.flags.aligned else self._realigned(bytes_, dtype)
        if count and (self.address + byte_offset) % self._alignment_of(dtype):
            return self._realigned(bytes_, dtype)
        return bytes_.view(dtype)

    def _alignment_of(self, dtype: DType) -> int:
        """The number of bytes to which the address of such an item must be aligned."""
        # A GPU moves items as words of up to 8 bytes, whatever they mean, and has no unaligned loads.
        size = dtype.itemsize
        return dtype.alignment if self.device.kind == "cpu" else min(size & -size, 8)

    def _realigned(self, items: Items, dtype: DType) -> Items:
        """An aligned copy of items, on the same device."""
        if isinstance(items, np.ndarray):
            aligned = allocate_for_overwrite(len(items) // dtype.itemsize, dtype).view()
            aligned.view(np.uint8)[:] = items
            aligned.flags.writeable = self.device.kind != "cpu"
            return aligned
        # The array knows the device on which its library is to allocate the copy.
        with items.device:
            return items.copy().view(dtype)

    def tobytes(self) -> bytes:
        """A copy of the bytes; host memory only."""
        return bytes(memoryview(self.array))

    def __buffer__(self, flags: int) -> memoryview:
        """The buffer protocol (used from Python 3.12 on); host memory only."""
        return memoryview(self.array)

    @property
    def __array_interface__(self) -> dict[str, object]:
        """NumPy's array interface; raises `AttributeError` if the bytes are on a device."""
        if self.device.kind != "cpu":
            raise AttributeError(f"the bytes live on {self.device}, not in host memory")
        return dict(self.array.__array_interface__)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        """The CUDA array interface; raises `AttributeError` if the bytes are on the host."""
        if self.device.kind != "cuda":
            raise AttributeError(f"the bytes live on {self.device}, not on a CUDA device")
        return dict(self.array.__cuda_array_interface__)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[SupportsInt, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """The bytes as a DLPack tensor of uint8; see `dlpack_capsule`."""
        return dlpack_capsule(
            self.array, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind of the device, as DLPack numbers them, and its ordinal."""
        kind, ordinal = self.array.__dlpack_device__()
        return int(kind), int(ordinal)

    def __repr__(self) -> str:
        return f"<colkern.Buffer {self.size} bytes on {self.device} at {self.address:#x}>"


class LateBuffer(Buffer):
    """A buffer of `Buffer.of_items` whose bytes were not asked for, as those of many results."""

    __slots__ = ()

    @property
    def array(self) -> Any:
        """The bytes as an array, which is made when it is first asked for."""
        array = self._written.view(_BYTE)[: self._size]
        array.setflags(write=False)
        _ARRAY.__set__(self, array)
        # Another thread may be here too: the items stay.
        self.__class__ = Buffer  # type: ignore[assignment]
        return array

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self._size

    def view(self, dtype: DType, count: int | None = None, byte_offset: int = 0) -> Items:
        """As `Buffer.view`; items of the width that was written need no array of bytes."""
        written = self._written
        is_whole = count == len(written) and not byte_offset and self._size == written.nbytes
        if is_whole and dtype.itemsize == written.itemsize:
            items = written.view(dtype)
            if items.flags.aligned:
                items.setflags(write=False)
                return items
        return super().view(dtype, count, byte_offset)


_ARRAY = vars(Buffer)["array"]
"""The slot that `LateBuffer` hides."""


class _ForeignMemory:
    """Host memory of another owner, as an object that `np.asarray` takes without a copy."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, address: int, size: int, owner: object, read_only: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, read_only),
        }


def array_at(
    address: int, size: int, owner: object, *, read_only: bool = True
) -> NDArray[np.uint8]:
    """`size` bytes of host memory at `address`; `owner` is kept alive as long as the array."""
    return np.asarray(_ForeignMemory(address, size, owner, read_only))


_READ_ONLY_SINCE = (1, 0)
"""The first version of DLPack whose tensors say whether they may be written to."""


def dlpack_capsule(
    items: Items,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[SupportsInt, int] | None = None,
    copy: bool | None = None,
) -> CapsuleType:
    """A DLPack capsule of a contiguous array, NumPy's or CuPy's, which it keeps alive.

    For a consumer that knows them, the capsule is a `dltensor_versioned`, which marks host memory as
    read-only. An old one, `dltensor`, cannot say so, nor does CuPy: the consumer must not write.

    Args:
        stream: On a device, the consumer's stream, which is made to wait for the current one; None for
            the legacy default stream, -1 for no waiting.
        max_version: The latest version of DLPack that the consumer knows.
        dl_device: The device that the consumer asks for, by DLPack's numbers.
        copy: Whether the consumer asks for a copy; False forbids one.

    Raises:
        BufferError: If the requested device or copy is not possible.
        TypeError: If a version or a device is no pair of numbers.
    """
    _require_pair("max_version", max_version)
    _require_pair("dl_device", dl_device)
    old = max_version is None or max_version < _READ_ONLY_SINCE
    if old and isinstance(items, np.ndarray):
        writable = array_at(items.ctypes.data, items.nbytes, items, read_only=False)
        items = writable.view(items.dtype)
    wishes: dict[str, Any] = {
        "stream": stream,
        "max_version": max_version,
        "dl_device": dl_device,
        "copy": copy,
    }
    # Old releases of CuPy and NumPy do not know all of these keywords.
    return items.__dlpack__(**{name: wish for name, wish in wishes.items() if wish is not None})


def _require_pair(name: str, pair: object) -> None:
    if pair is None:
        return
    if isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(n, SupportsInt) for n in pair):
        return
    raise TypeError(f"{name}: expected two numbers, such as (1, 0), got {pair!r}")


EMPTY = Buffer(np.zeros(0, np.uint8))


def allocate(count: int, dtype: DTypeLike | None) -> Items:
    """`count` zeroed items of `dtype` in host memory, aligned and padded with zeros to 64 bytes."""
    dtype = np.dtype(dtype)
    return np.ndarray(count, dtype, *with_room(np.zeros, count * dtype.itemsize))


def allocate_for_overwrite(count: int, dtype: ItemType) -> Items:
    """As `allocate`, but not zeroed: for an output of which every byte will be written."""
    # Its padding is zeroed all the same. Memory is reused, see `colkern.pool`; small arrays are
    # parts of a block, which lives as long as the last of them. Calling `np.dtype` on a dtype would
    # take a sixth of the time of this function.
    kind: Any = np.dtype(dtype) if dtype.__class__ in _NAMES else dtype
    size = count * kind.itemsize
    if size > _MOST_IN_BLOCKS:
        return POOL.array(count, kind, size)
    lines = size + _LINE - 1 >> 6 or 1
    try:
        memory, start = _PLACES[lines].pop()
    except IndexError:
        memory, start = _fresh_places(lines)
    return np.ndarray(count, kind, memory, start)


_BYTE = np.dtype(np.uint8)

_NAMES = frozenset({type, str})
"""The classes of data types that are no `numpy.dtype`."""

_LINE = 64
"""Small arrays within blocks begin at a multiple of this, and of `ALIGNMENT`."""

_MOST_IN_BLOCKS = 4 * _LINE
"""The most bytes of an array that shares a block with others."""

_BLOCK, _LEAST_PLACES = 4096, 8
"""The bytes of a block; it is larger if it would have fewer places than the second number."""

_PLACES: list[list[tuple[Memory, int]]] = [[] for _ in range(_MOST_IN_BLOCKS // _LINE + 1)]
"""Free places in blocks, by their number of lines. They are zeroed; each is handed out once.

Taking the last one from a list is one step under the GIL.
"""


def _fresh_places(lines: int) -> tuple[Memory, int]:
    size = lines * _LINE
    whole = max(_BLOCK, _LEAST_PLACES * size)
    block, first = with_room(bytearray, whole)
    _PLACES[lines] += [(block, first + k) for k in range(size, whole - size + 1, size)]
    return block, first
