"""The rows and columns of the status table: a row a data type, a column a feature, a check in every cell.

A cell is the result of running its feature on a sample of its type while the site is built, so the
table cannot promise what does not work. To extend it: add a line to `samples` or to `FEATURES`.
"""

from __future__ import annotations

import decimal
import io
from collections.abc import Callable
from typing import Any

import nanoarrow as na
import numpy as np
import pyarrow as pa


def samples() -> dict[str, pa.RecordBatch]:
    """Batches of one column: three slots of a type, one of them null where the type allows it."""
    columns = {
        name: pa.record_batch([array], names=["column"]) for name, array in _arrays().items()
    }
    return columns | {
        "interval (year-month)": _interval(na.interval_months(), 4),
        "interval (day-time)": _interval(na.interval_day_time(), 8),
    }


def _arrays() -> dict[str, pa.Array]:
    text = ["ab", None, "longer than twelve bytes"]
    numbers = [1, None, 3]
    pairs = [[1, 2], None, [3, None]]
    money = [decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")]
    return {
        "null": pa.nulls(3),
        "bool": pa.array([True, None, False]),
        "int8, int16, int32, int64": pa.array(numbers, pa.int32()),
        "uint8, uint16, uint32, uint64": pa.array(numbers, pa.uint32()),
        "float16": pa.array([np.float16(1.5), None, np.float16(3)], pa.float16()),
        "float32, float64": pa.array([1.5, None, 3.0]),
        "decimal32": pa.array(money, pa.decimal32(5, 2)),
        "decimal64": pa.array(money, pa.decimal64(5, 2)),
        "decimal128": pa.array(money, pa.decimal128(5, 2)),
        "decimal256": pa.array(money, pa.decimal256(5, 2)),
        "date32": pa.array(numbers, pa.date32()),
        "date64": pa.array([0, None, 86_400_000], pa.date64()),
        "time32, time64": pa.array(numbers, pa.time64("us")),
        "timestamp": pa.array(numbers, pa.timestamp("us", "UTC")),
        "duration": pa.array(numbers, pa.duration("ms")),
        "fixed-size binary": pa.array([b"ab", None, b"cd"], pa.binary(2)),
        "binary, utf8": pa.array(text),
        "large binary, large utf8": pa.array(text, pa.large_string()),
        "binary view, utf8 view": pa.array(text, pa.string_view()),
        "list": pa.array(pairs),
        "large list": pa.array(pairs, pa.large_list(pa.int64())),
        "list-view": pa.array(pairs, pa.list_view(pa.int64())),
        "large list-view": pa.array(pairs, pa.large_list_view(pa.int64())),
        "fixed-size list": pa.array(pairs, pa.list_(pa.int64(), 2)),
        "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}]),
        "map": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        "union (sparse)": pa.UnionArray.from_sparse(
            pa.array([0, 1, 0], pa.int8()), [pa.array(numbers), pa.array(text)]
        ),
        "union (dense)": pa.UnionArray.from_dense(
            pa.array([0, 1, 0], pa.int8()),
            pa.array([0, 0, 2], pa.int32()),
            [pa.array(numbers), pa.array(text)],
        ),
        "dictionary": pa.array(["a", None, "a"]).dictionary_encode(),
        "run-end encoded": pa.RunEndEncodedArray.from_arrays(
            pa.array([2, 3], pa.int32()), pa.array(["a", None])
        ),
        "extension": pa.ExtensionArray.from_storage(
            pa.uuid(), pa.array([b"0123456789abcdef", None, b"fedcba9876543210"], pa.binary(16))
        ),
        "interval (month-day-nano)": pa.array(
            [(1, 2, 3), None, (4, 5, 6)], pa.month_day_nano_interval()
        ),
    }


def _interval(kind: Any, width: int) -> pa.RecordBatch:
    """pyarrow reads, holds and compares these two types, but cannot make them."""
    column = na.c_array_from_buffers(kind, 3, [b"\x05", bytes(range(3 * width))])
    batch = na.c_array_from_buffers(na.struct({"column": kind}), 3, [None], children=[column])
    return pa.RecordBatch._import_from_c_capsule(*batch.__arrow_c_array__())


def _exported(batch: Any) -> pa.RecordBatch:
    return pa.RecordBatch._import_from_c_capsule(*batch.__arrow_c_array__())


def _imported(sample: pa.RecordBatch) -> Any:
    from colkern.interchange import import_batch

    return import_batch(sample)


def _reads(sample: pa.RecordBatch, *, file: bool = False, compression: str | None = None) -> bool:
    from colkern import ipc

    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_file if file else pa.ipc.new_stream
    with make(sink, sample.schema, options=options) as writer:
        writer.write_batch(sample)
    (batch,) = ipc.open(sink.getvalue())
    return _exported(batch).equals(sample)


def _writes(sample: pa.RecordBatch, *, file: bool = False, compression: str | None = None) -> bool:
    from colkern import ipc

    sink = io.BytesIO()
    write = ipc.write_file if file else ipc.write_stream
    write(sink, _imported(sample), compression=compression)
    open_ = pa.ipc.open_file if file else pa.ipc.open_stream
    found = open_(sink.getvalue()).read_all().to_batches()
    return len(found) == 1 and found[0].equals(sample)


def _reads_and_writes(sample: pa.RecordBatch, **options: Any) -> bool:
    return _reads(sample, **options) and _writes(sample, **options)


def _lists(sample: pa.RecordBatch) -> bool:
    column = _imported(sample).column(0)
    values = column.to_pylist()
    return len(values) == len(sample) and values.count(None) >= column.null_count


def _counts_nulls(sample: pa.RecordBatch) -> bool:
    # Through IPC: pyarrow has no Python class for the columns of two interval types.
    expected = na.c_array(sample.slice(1)).child(0).null_count
    return _imported(sample.slice(1)).column(0).null_count == expected


def _validates(sample: pa.RecordBatch) -> bool:
    _imported(sample).validate(full=True)
    return True


def _takes(sample: pa.RecordBatch) -> bool:
    import colkern as ck

    column = _imported(sample).column(0)
    values = column.to_pylist()
    return ck.take(column, ck.array([2, 0])).to_pylist() == [values[2], values[0]]


def _concatenates(sample: pa.RecordBatch) -> bool:
    import colkern as ck

    column = _imported(sample).column(0)
    values = column.to_pylist()
    return ck.concat([column.slice(1), column]).to_pylist() == values[1:] + values


def _is_an_argument(sample: pa.RecordBatch) -> bool:
    import colkern as ck

    @ck.udf(returns=ck.bool_())
    def is_there(value):  # type: ignore[no-untyped-def]
        return True

    column = _imported(sample).column(0)
    expected = [None if value is None else True for value in column.to_pylist()]
    return is_there(column).to_pylist() == expected


# Column -> check. A check that returns False or raises makes the cell empty.
FEATURES: dict[str, Callable[[pa.RecordBatch], bool]] = {
    "stream": _reads_and_writes,
    "file": lambda sample: _reads_and_writes(sample, file=True),
    "LZ4": lambda sample: _reads_and_writes(sample, compression="lz4"),
    "ZSTD": lambda sample: _reads_and_writes(sample, compression="zstd"),
    "PyCapsule": lambda sample: _exported(_imported(sample)).equals(sample),
    "slice": lambda sample: _exported(_imported(sample).slice(1)).equals(sample.slice(1)),
    "to_pylist": _lists,
    "null count": _counts_nulls,
    "validate": _validates,
    "take": _takes,
    "concat": _concatenates,
    "udf": _is_an_argument,
}


if __name__ == "__main__":
    # Why cells are empty: `python docs/extensions/status_features.py`.
    for name, sample in samples().items():
        for feature, check in FEATURES.items():
            try:
                problem = "" if check(sample) else "a different result"
            except Exception as error:  # noqa: BLE001
                problem = f"{type(error).__name__}: {error}"
            if problem:
                print(f"{name} · {feature}: {problem}")
