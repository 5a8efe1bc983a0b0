"""Hand-made C structures that count their releases: producers that colkern knows nothing of."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

Kept = TypeVar("Kept")


class CSchema(ctypes.Structure):
    pass


CSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(CSchema))),
    ("dictionary", ctypes.POINTER(CSchema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class CArray(ctypes.Structure):
    pass


CArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(CArray))),
    ("dictionary", ctypes.POINTER(CArray)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class CStream(ctypes.Structure):
    _fields_ = [
        ("get_schema", ctypes.c_void_p),
        ("get_next", ctypes.c_void_p),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class CDeviceArray(ctypes.Structure):
    _anonymous_ = ("array",)
    _fields_ = [
        ("array", CArray),
        ("device_id", ctypes.c_int64),
        ("device_type", ctypes.c_int32),
        ("sync_event", ctypes.c_void_p),
        ("reserved", ctypes.c_int64 * 3),
    ]


class CDeviceStream(ctypes.Structure):
    _fields_ = [
        ("device_type", ctypes.c_int32),
        ("get_schema", ctypes.c_void_p),
        ("get_next", ctypes.c_void_p),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


CStruct = CSchema | CArray | CStream | CDeviceArray | CDeviceStream
NAMES: dict[type, bytes] = {
    CSchema: b"arrow_schema",
    CArray: b"arrow_array",
    CStream: b"arrow_array_stream",
    CDeviceArray: b"arrow_device_array",
    CDeviceStream: b"arrow_device_array_stream",
}

RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_get_dying_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def release(struct: CStruct) -> None:
    """The release that a consumer calls when it is done."""
    RELEASE(struct.release)(ctypes.addressof(struct))


def struct_in(capsule: Any, kind: type[Any]) -> Any:
    """The structure in a capsule, in place; it keeps the capsule."""
    struct = kind.from_address(_get_pointer(capsule, NAMES[kind]))
    struct.capsule = capsule
    return struct


def move(source: CStruct) -> Any:
    """The structure in memory of its own, and marked as released where it was."""
    moved = type(source).from_buffer_copy(source)
    source.release = None
    return moved


class Exporter:
    """An object with `__arrow_c_array__` that gives the same capsules each time."""

    def __init__(self, schema: Any, array: Any) -> None:
        self.capsules = (schema, array)

    def __arrow_c_schema__(self) -> Any:
        return self.capsules[0]

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return self.capsules


class DeviceExporter:
    """An object with `__arrow_c_device_array__` alone."""

    def __init__(self, schema: Any, array: Any) -> None:
        self.capsules = (schema, array)

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        return self.capsules


class DeviceStreamExporter:
    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __arrow_c_device_stream__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        return self.capsule


class StreamExporter:
    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.capsule


# Capsules in reference cycles may die in any order, and C code has to outlive them.
_producers: list[Producer] = []


class Producer:
    """Makes structures; `released` counts the calls of each kind's release function.

    A device's structures count as those that they extend.
    """

    def __init__(self) -> None:
        self.released = {CSchema: 0, CArray: 0, CStream: 0}
        _producers.append(self)
        self._kept: list[Any] = []
        self._release_of = {kind: self._releaser(kind) for kind in NAMES}
        self._destructor_of = {kind: self._destructor(kind) for kind in NAMES}

    def _releaser(self, kind: type[Any]) -> Any:
        counted = {CDeviceArray: CArray, CDeviceStream: CStream}.get(kind, kind)

        def released(address: int) -> None:
            self.released[counted] += 1
            kind.from_address(address).release = None

        return RELEASE(released)

    def _destructor(self, kind: type[Any]) -> Any:
        def drop(capsule: int) -> None:
            struct = kind.from_address(_get_dying_pointer(capsule, NAMES[kind]))
            if struct.release:
                release(struct)

        return DESTRUCTOR(drop)

    def keep(self, thing: Kept) -> Kept:
        self._kept.append(thing)
        return thing

    def release_address(self, kind: type[Any]) -> int | None:
        return ctypes.cast(self._release_of[kind], ctypes.c_void_p).value

    def schema(
        self,
        format: bytes | None = b"l",
        name: bytes | None = b"",
        flags: int = 2,
        children: Sequence[CSchema] = (),
        dictionary: CSchema | None = None,
        metadata: bytes | None = None,
    ) -> CSchema:
        pointers = (ctypes.POINTER(CSchema) * len(children))(*map(ctypes.pointer, children))
        return self.keep(
            CSchema(
                format,
                name,
                metadata,
                flags,
                len(children),
                self.keep(pointers) if children else None,
                None if dictionary is None else ctypes.pointer(dictionary),
                self.release_address(CSchema),
                None,
            )
        )

    def array(
        self,
        length: int,
        buffers: Sequence[bytes | int | None],
        null_count: int = 0,
        offset: int = 0,
        children: Sequence[CArray] = (),
        dictionary: CArray | None = None,
    ) -> CArray:
        addresses = (ctypes.c_void_p * len(buffers))(*map(self._address, buffers))
        pointers = (ctypes.POINTER(CArray) * len(children))(*map(ctypes.pointer, children))
        return self.keep(
            CArray(
                length,
                null_count,
                offset,
                len(buffers),
                len(children),
                self.keep(addresses) if buffers else None,
                self.keep(pointers) if children else None,
                None if dictionary is None else ctypes.pointer(dictionary),
                self.release_address(CArray),
                None,
            )
        )

    def _address(self, data: bytes | int | None) -> int | None:
        if isinstance(data, bytes):
            return ctypes.addressof(self.keep(ctypes.create_string_buffer(data)))
        return data

    def device_array(
        self, array: CArray, device_type: int, device_id: int = 0, event: int | None = None
    ) -> CDeviceArray:
        """The array on a device; `event` is what the structure points to."""
        pointer = None if event is None else self.keep(ctypes.c_int64(event))
        address = None if pointer is None else ctypes.addressof(pointer)
        result = CDeviceArray(array, device_id, device_type, address)
        result.release = self.release_address(CDeviceArray)
        return self.keep(result)

    def capsule(self, struct: CStruct) -> Any:
        """A capsule whose destructor releases what nobody has taken out."""
        kind = type(struct)
        return _new_capsule(
            ctypes.addressof(struct),
            NAMES[kind],
            ctypes.cast(self._destructor_of[kind], ctypes.c_void_p),
        )

    def exporter(self, schema: CSchema, array: CArray) -> Exporter:
        return Exporter(self.capsule(schema), self.capsule(array))

    def device_exporter(self, schema: CSchema, array: CDeviceArray) -> DeviceExporter:
        return DeviceExporter(self.capsule(schema), self.capsule(array))


@pytest.fixture
def producer() -> Producer:
    return Producer()


@pytest.fixture(scope="session")
def c() -> Any:
    """The structures and functions of this file, by name: test files cannot import it."""
    import types

    names = {
        "Schema": CSchema,
        "Array": CArray,
        "Stream": CStream,
        "DeviceArray": CDeviceArray,
        "DeviceStream": CDeviceStream,
        "Exporter": Exporter,
        "StreamExporter": StreamExporter,
        "DeviceExporter": DeviceExporter,
        "DeviceStreamExporter": DeviceStreamExporter,
        "release": release,
        "struct_in": struct_in,
        "move": move,
    }
    return types.SimpleNamespace(**names)
