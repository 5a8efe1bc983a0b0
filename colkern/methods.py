"""Methods that live higher than their classes, bound in one place.

Types, arrays and batches import nothing that stands above them. What they offer from there is a
function here: it imports its package when it is called, and `bind_methods`
sets it on the class. The classes declare the names for type checkers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, SupportsInt

from colkern import schema as s
from colkern.arrays import Array, RecordBatch, RecordBatchStream
from colkern.errors import UnsupportedError
from colkern.extensions import text_of
from colkern.type_trees import DataType, Field

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
    from typing_extensions import CapsuleType

    from colkern.memory import Items
    from colkern.operations.value_checks import TypeRule

# Types and fields


def type_of(value: object, argument: str = "type") -> DataType:
    """A data type from what callers write for one; see `colkern.schema.as_type`."""
    return s.as_type(value, argument)


def field_of_arrow(value: object) -> Field:
    """The field that another library's type or field exports; see `colkern.interchange.import_field`."""
    from colkern.interchange import import_field

    return import_field(value)


def schema_of_arrow(value: object) -> s.Schema:
    """The schema that another library's exports; see `colkern.interchange.import_schema`."""
    from colkern.interchange import import_schema

    return import_schema(value)


def schema_capsule(
    self: DataType | Field | s.Schema | Array | RecordBatch | RecordBatchStream,
) -> object:
    """The type, field or schema as an `arrow_schema` capsule (Arrow PyCapsule interface)."""
    from colkern.interchange import export_schema

    if isinstance(self, Array):
        return export_schema(self.type)
    return export_schema(self.schema if isinstance(self, RecordBatch | RecordBatchStream) else self)


# Values


def array_to_pylist(self: Array) -> list[Any]:
    """The values as Python objects; see `colkern.arrays.values.to_pylist`."""
    from colkern.arrays.values import to_pylist

    return to_pylist(self)


def array_to_numpy(self: Array, dtype: DTypeLike | None = None, copy: bool | None = None) -> Items:
    """The values for NumPy; see `colkern.arrays.values.to_numpy`."""
    from colkern.arrays.values import to_numpy

    return to_numpy(self, dtype, copy)


def array_equals(self: Array, other: Array) -> bool:
    """Whether both have the same type and the same values; see `colkern.arrays.equality.equals`."""
    from colkern.arrays.equality import equals

    return equals(self, other)


def array_repr(self: Array) -> str:
    """The type, the length and the first and last values."""
    from colkern.arrays.display import array_repr

    return array_repr(self)


def batch_repr(self: RecordBatch) -> str:
    """The columns and the first and last rows."""
    from colkern.arrays.display import batch_repr

    return batch_repr(self)


def validate(
    self: Array | RecordBatch, *, full: bool = False, skip: Collection[TypeRule] = ()
) -> None:
    """Check the array, or every column, against the format; see `colkern.operations.validate`."""
    from colkern.operations import validate

    validate(self, full=full, skip=skip)


def array_reduce(self: Array) -> tuple[object, ...]:
    """The parts for pickle. A slice shares whole buffers; only its own values are pickled."""
    from colkern.operations.selection.trimming import without_surplus

    own = without_surplus(self)
    parts = (own.buffers, own.children, own.dictionary, own.offset, own.known_null_count)
    return Array, (own.type, own.length, *parts)


# Interchange


def array_capsules(
    self: Array | RecordBatch, requested_schema: object = None
) -> tuple[object, object]:
    """The array, or the batch as a struct array, as `arrow_schema` and `arrow_array` capsules.

    Nothing is copied.
    """
    from colkern.interchange import export_array, export_batch

    if isinstance(self, RecordBatch):
        return export_batch(self, requested_schema)
    return export_array(self, requested_schema)


def device_array_capsules(
    self: Array | RecordBatch, requested_schema: object = None, **kwargs: object
) -> tuple[object, object]:
    """As `__arrow_c_array__`, as `arrow_schema` and `arrow_device_array` capsules; nothing is copied."""
    from colkern.interchange import export_device_array, export_device_batch

    if isinstance(self, RecordBatch):
        return export_device_batch(self, requested_schema, **kwargs)
    return export_device_array(self, requested_schema, **kwargs)


def stream_capsule(
    self: RecordBatch | RecordBatchStream, requested_schema: object = None
) -> object:
    """The batches, or the batch alone, as an `arrow_array_stream` capsule; nothing is copied."""
    from colkern.interchange import export_stream

    stream = RecordBatchStream(self.schema, (self,)) if isinstance(self, RecordBatch) else self
    return export_stream(stream, requested_schema)


def device_stream_capsule(
    self: RecordBatchStream, requested_schema: object = None, **kwargs: object
) -> object:
    """The batches as an `arrow_device_array_stream` capsule; nothing is copied.

    The capsule says on which kind of device they are: if only they know, the first is made now.
    """
    from colkern.interchange import export_device_stream

    return export_device_stream(self, requested_schema, **kwargs)


def array_to_dlpack(
    self: Array,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[SupportsInt, int] | None = None,
    copy: bool | None = None,
) -> CapsuleType:
    """The values as a DLPack tensor; see `colkern.interchange.export_tensor`. Not copied.

    Raises:
        BufferError: If the array is not of integers or floats, has nulls, or the consumer's wishes
            cannot be met.
    """
    from colkern.interchange import export_tensor

    return export_tensor(
        self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
    )


def dlpack_device(self: Array) -> tuple[int, int]:
    """The kind of the device, by DLPack's numbers, and which one of them."""
    from colkern.interchange.device_types import CPU, CUDA

    device = self.device
    return (CPU if device.kind == "cpu" else CUDA), device.ordinal


def cuda_array_interface(self: Array) -> dict[str, object]:
    """The values by the CUDA array interface, version 3. Not copied.

    Absent, as an attribute, on the host, and for an array that is not of integers or floats or has
    nulls; `colkern.interchange.cuda_array_interface` says which of it.
    """
    from colkern.interchange import cuda_array_interface

    try:
        return cuda_array_interface(self)
    except UnsupportedError as error:
        raise AttributeError(str(error)) from None


# Compiled functions


def numba_type(self: Array | RecordBatch | RecordBatchStream) -> object:
    """The type that compiled functions take it as: see `colkern.jit`. Not copied."""
    from colkern.jit.views.column_operations import batch_type, column_type, stream_type

    if isinstance(self, Array):
        return column_type(self.type)
    return batch_type(self.schema) if isinstance(self, RecordBatch) else stream_type(self.schema)


_CAPSULES = {
    "__arrow_c_array__": array_capsules,
    "__arrow_c_device_array__": device_array_capsules,
}
_SCHEMA = {"__arrow_c_schema__": schema_capsule}
_COMPILED = {"_numba_type_": property(numba_type)}

METHODS: Mapping[type, Mapping[str, Callable[..., Any] | property | staticmethod[..., Any]]] = {
    DataType: {**_SCHEMA, "of": staticmethod(type_of)},
    Field: {**_SCHEMA, "from_arrow": staticmethod(field_of_arrow)},
    s.Schema: {**_SCHEMA, "from_arrow": staticmethod(schema_of_arrow)},
    s.Extension: {"_spelled": text_of},
    Array: {
        **_SCHEMA,
        **_CAPSULES,
        **_COMPILED,
        "to_pylist": array_to_pylist,
        "equals": array_equals,
        "validate": validate,
        "__repr__": array_repr,
        "__reduce__": array_reduce,
        "__array__": array_to_numpy,
        "__dlpack__": array_to_dlpack,
        "__dlpack_device__": dlpack_device,
        "__cuda_array_interface__": property(cuda_array_interface),
    },
    RecordBatch: {
        **_SCHEMA,
        **_CAPSULES,
        **_COMPILED,
        "validate": validate,
        "__repr__": batch_repr,
        "__arrow_c_stream__": stream_capsule,
    },
    RecordBatchStream: {
        **_SCHEMA,
        **_COMPILED,
        "__arrow_c_stream__": stream_capsule,
        "__arrow_c_device_stream__": device_stream_capsule,
    },
}
"""Class → name → what is bound to it."""


def bind_methods() -> None:
    """Bind the functions to their classes; `colkern/__init__` calls it."""
    for owner, methods in METHODS.items():
        for name, method in methods.items():
            setattr(owner, name, method)
