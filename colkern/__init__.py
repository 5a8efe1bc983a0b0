"""colkern: Arrow columns through Numba kernels, on the CPU and on the GPU.

A few lines of it::

    import colkern as ck

    prices = ck.array([9.5, None, 3.0])
    batch = ck.ipc.open("lineitem.arrow").get_batch(0)

    @ck.udf
    def discounted(price: float, discount: float) -> float:
        return price * (1 - discount)

    discounted(batch["l_extendedprice"], batch["l_discount"])

Types, arrays and errors are imported with the package; operations, `udf`, `ipc`, `interchange` and
`spark` when they are first named. Numba is imported when the first kernel runs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from colkern.arrays import Array, RecordBatch, RecordBatchStream
from colkern.errors import (
    ColkernError,
    CompileError,
    DeviceUnavailableError,
    InvalidArrowError,
    LimitExceededError,
    StreamError,
    UnsupportedError,
)
from colkern.extensions import (
    bool8,
    fixed_shape_tensor,
    json_,
    opaque,
    timestamp_with_offset,
    uuid,
    variable_shape_tensor,
    variant,
)
from colkern.memory import Buffer, Device
from colkern.schema import (
    DataType,
    Field,
    Schema,
    binary,
    binary_view,
    bool_,
    date32,
    date64,
    day_time_interval,
    decimal32,
    decimal64,
    decimal128,
    decimal256,
    dense_union,
    dictionary,
    duration,
    extension,
    field,
    fixed_size_binary,
    fixed_size_list,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    large_binary,
    large_list,
    large_list_view,
    large_utf8,
    list_,
    list_view,
    map_,
    month_day_nano_interval,
    month_interval,
    null,
    run_end_encoded,
    sparse_union,
    struct,
    time32,
    time64,
    timestamp,
    uint8,
    uint16,
    uint32,
    uint64,
    utf8,
    utf8_view,
)

if TYPE_CHECKING:
    from colkern import interchange, ipc, spark
    from colkern.builders import array, record_batch
    from colkern.jit import ByteString, Udf, udf
    from colkern.operations import (
        and_,
        and_kleene,
        and_not,
        and_not_kleene,
        concat,
        filter,
        find_runs,
        gather_union,
        invert,
        null_count,
        nulls,
        offsets_to_views,
        or_,
        or_kleene,
        pack_bits,
        run_end_decode,
        select_child,
        take,
        trim,
        unpack_bits,
        validate,
        views_to_offsets,
        xor,
    )

__version__ = "0.1.0"

__all__ = [
    "Array",
    "Buffer",
    "ByteString",
    "ColkernError",
    "CompileError",
    "DataType",
    "Device",
    "DeviceUnavailableError",
    "Field",
    "InvalidArrowError",
    "LimitExceededError",
    "RecordBatch",
    "RecordBatchStream",
    "Schema",
    "StreamError",
    "Udf",
    "UnsupportedError",
    "__version__",
    "and_",
    "and_kleene",
    "and_not",
    "and_not_kleene",
    "array",
    "binary",
    "binary_view",
    "bool8",
    "bool_",
    "concat",
    "date32",
    "date64",
    "day_time_interval",
    "decimal32",
    "decimal64",
    "decimal128",
    "decimal256",
    "dense_union",
    "dictionary",
    "duration",
    "extension",
    "field",
    "filter",
    "find_runs",
    "fixed_shape_tensor",
    "fixed_size_binary",
    "fixed_size_list",
    "float16",
    "float32",
    "float64",
    "gather_union",
    "int8",
    "int16",
    "int32",
    "int64",
    "interchange",
    "invert",
    "ipc",
    "json_",
    "large_binary",
    "large_list",
    "large_list_view",
    "large_utf8",
    "list_",
    "list_view",
    "map_",
    "month_day_nano_interval",
    "month_interval",
    "null",
    "null_count",
    "nulls",
    "offsets_to_views",
    "opaque",
    "or_",
    "or_kleene",
    "pack_bits",
    "record_batch",
    "run_end_decode",
    "run_end_encoded",
    "select_child",
    "spark",
    "sparse_union",
    "struct",
    "take",
    "time32",
    "time64",
    "timestamp",
    "timestamp_with_offset",
    "trim",
    "udf",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unpack_bits",
    "utf8",
    "utf8_view",
    "uuid",
    "validate",
    "variable_shape_tensor",
    "variant",
    "views_to_offsets",
    "xor",
]

_LATE = {
    "array": "colkern.builders",
    "record_batch": "colkern.builders",
    **dict.fromkeys(("ByteString", "Udf", "udf"), "colkern.jit"),
    **dict.fromkeys(
        (
            "and_",
            "and_kleene",
            "and_not",
            "and_not_kleene",
            "concat",
            "filter",
            "find_runs",
            "gather_union",
            "invert",
            "null_count",
            "nulls",
            "offsets_to_views",
            "or_",
            "or_kleene",
            "pack_bits",
            "run_end_decode",
            "select_child",
            "take",
            "trim",
            "unpack_bits",
            "validate",
            "views_to_offsets",
            "xor",
        ),
        "colkern.operations",
    ),
}
_LATE_MODULES = ("cuda", "interchange", "ipc", "operations", "spark")


def __getattr__(name: str) -> Any:
    """Import what is first named: nobody pays for the parts they do not use."""
    if name in _LATE:
        found = getattr(importlib.import_module(_LATE[name]), name)
    elif name in _LATE_MODULES:
        found = importlib.import_module(f"colkern.{name}")
    else:
        raise AttributeError(f"module 'colkern' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """All names, imported yet or not."""
    return sorted({*globals(), *_LATE, *_LATE_MODULES})
