"""The C structures of Arrow's C Data, C Stream and C Device interfaces, as words of memory.

On the platforms that colkern supports, all members are 64 bits wide or padded to that. So a structure
is read as a row of integers, and written as an `array.array("q")`, whose address does not change.

C Data interface: "Structure definitions"; C Stream interface: "Structure definition"; C Device data
interface: "Structure definitions".
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.memory import HOST, Device

CPU = 1
CUDA = 2
CUDA_HOST = 3
CUDA_MANAGED = 13

NAMES = {
    CPU: "CPU",
    CUDA: "CUDA",
    CUDA_HOST: "CUDA host",
    4: "OpenCL",
    7: "Vulkan",
    8: "Metal",
    9: "VPI",
    10: "ROCm",
    11: "ROCm host",
    12: "extension",
    CUDA_MANAGED: "CUDA managed",
    14: "oneAPI",
    15: "WebGPU",
    16: "Hexagon",
}

_NO_ID = -1
"""The number of the one CPU, as Arrow's own libraries have it."""


def require_known_type(device_type: int) -> None:
    """Raise `UnsupportedError` if colkern does not use memory of that kind."""
    if device_type not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        name = NAMES.get(device_type, "unknown")
        raise UnsupportedError(
            f"memory of device type {device_type} ({name}); colkern takes that of CPU and CUDA devices"
        )


def device_of_type(device_type: int, device_id: int) -> Device:
    """The device that uses memory of that kind. Page-locked memory of CUDA is host memory."""
    require_known_type(device_type)
    if device_type in (CPU, CUDA_HOST):
        return HOST
    if device_id < 0:
        raise InvalidArrowError(f"CUDA device {device_id}")
    return Device("cuda", device_id)


def type_of_device(device: Device) -> tuple[int, int]:
    """The device type and number, as the C Device interface has them."""
    return (CPU, _NO_ID) if device.kind == "cpu" else (CUDA, device.ordinal)


WORD = 8

FLAG_DICTIONARY_ORDERED = 1
FLAG_NULLABLE = 2
FLAG_MAP_KEYS_SORTED = 4


class SchemaStruct(NamedTuple):
    """`struct ArrowSchema`: a type with a name."""

    format: int
    name: int
    metadata: int
    flags: int
    n_children: int
    children: int
    dictionary: int
    release: int
    private_data: int


class ArrayStruct(NamedTuple):
    """`struct ArrowArray`: buffers with a length."""

    length: int
    null_count: int
    offset: int
    n_buffers: int
    n_children: int
    buffers: int
    children: int
    dictionary: int
    release: int
    private_data: int


class StreamStruct(NamedTuple):
    """`struct ArrowArrayStream`: functions that give a schema and then arrays."""

    get_schema: int
    get_next: int
    get_last_error: int
    release: int
    private_data: int


class DeviceArrayStruct(NamedTuple):
    """`struct ArrowDeviceArray`: an `ArrowArray`, and where its buffers are."""

    length: int
    null_count: int
    offset: int
    n_buffers: int
    n_children: int
    buffers: int
    children: int
    dictionary: int
    release: int
    private_data: int
    device_id: int
    device_type: int
    sync_event: int
    reserved_0: int
    reserved_1: int
    reserved_2: int


class DeviceStreamStruct(NamedTuple):
    """`struct ArrowDeviceArrayStream`: functions that give a schema and then device arrays."""

    device_type: int
    get_schema: int
    get_next: int
    get_last_error: int
    release: int
    private_data: int


Struct = TypeVar("Struct", bound=tuple[int, ...])
StructClass = (
    type[SchemaStruct]
    | type[ArrayStruct]
    | type[StreamStruct]
    | type[DeviceArrayStruct]
    | type[DeviceStreamStruct]
)

CAPSULE_NAMES: dict[StructClass, str] = {
    SchemaStruct: "arrow_schema",
    ArrayStruct: "arrow_array",
    StreamStruct: "arrow_array_stream",
    DeviceArrayStruct: "arrow_device_array",
    DeviceStreamStruct: "arrow_device_array_stream",
}


def _format(cls: StructClass) -> str:
    """The format of a structure for `struct`; its 32-bit member has padding behind it."""
    return "".join("i4x" if name == "device_type" else "q" for name in cls._fields)


# Overlays, since `ctypes.string_at` takes twice as long.
_OVERLAYS: dict[type[tuple[int, ...]], Any] = {
    cls: ctypes.c_int64 * len(cls._fields) for cls in CAPSULE_NAMES
}
_UNPACK: dict[type[tuple[int, ...]], Any] = {
    cls: struct.Struct(_format(cls)).unpack_from for cls in CAPSULE_NAMES
}

# A larger number of children or buffers cannot be right.
MAX_POINTERS = 2**31 - 1


def struct_bytes(cls: StructClass) -> int:
    """The size of the structure."""
    return len(cls._fields) * WORD


def struct_at(cls: type[Struct], address: int) -> Struct:
    """A copy of the structure at `address`."""
    return tuple.__new__(cls, _UNPACK[cls](_OVERLAYS[cls].from_address(address)))


def words_at(address: int, count: int) -> list[int]:
    """`count` 64-bit integers, or pointers, from `address` on."""
    return (ctypes.c_int64 * count).from_address(address)[:]


def address_of(words: array[int]) -> int:
    """The address of the words."""
    return words.buffer_info()[0]


def children_at(struct: SchemaStruct | ArrayStruct | DeviceArrayStruct) -> Sequence[int]:
    """The addresses of a structure's children."""
    if struct.n_children == 0:
        return ()
    if not 0 < struct.n_children <= MAX_POINTERS or not struct.children:
        raise InvalidArrowError(f"{struct.n_children} children behind pointer {struct.children:#x}")
    children = words_at(struct.children, struct.n_children)
    if 0 in children:
        raise InvalidArrowError(f"child {children.index(0)} is a NULL pointer")
    return children


# Prototypes of colkern's own, since those of `ctypes.pythonapi` are shared by the whole process.
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_call_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def pointer_in(capsule: object, cls: StructClass) -> int:
    """The address of the structure in a capsule, valid while the caller holds the capsule."""
    name = CAPSULE_NAMES[cls]
    try:
        return int(_get_pointer(capsule, name.encode()))
    except ValueError:
        raise TypeError(f"expected a capsule named {name!r}, got {capsule!r}") from None


class Imported:
    """A structure taken over from its producer. It is released once nothing refers to it."""

    __slots__ = ("_release", "words")

    def __init__(self, kind: StructClass, address: int) -> None:
        # Set first, since `__del__` also runs if the constructor failed.
        self._release = 0
        self.words = array("q", bytes(struct_bytes(kind)))
        position = kind._fields.index("release")
        ctypes.memmove(self.address, address, struct_bytes(kind))
        if not self.words[position]:
            raise InvalidArrowError(
                f"the {CAPSULE_NAMES[kind]} is released: it was imported before, or never filled"
            )
        self._release = self.words[position]
        ctypes.c_void_p.from_address(address + position * WORD).value = None

    @classmethod
    def from_capsule(cls, kind: StructClass, capsule: object) -> Imported:
        """Takes over the structure in a capsule; raises like `pointer_in` and the constructor."""
        return cls(kind, pointer_in(capsule, kind))

    @property
    def address(self) -> int:
        """The address of the structure here."""
        return self.words.buffer_info()[0]

    # A default argument keeps the prototype after the interpreter's end has emptied this module.
    def close(self, _call: Any = _call_release) -> None:
        """Call the producer's release function, unless that has been done."""
        release, self._release = self._release, 0
        if release:
            _call(release)(self.address)

    # Python saves a pending exception around it.
    __del__ = close
