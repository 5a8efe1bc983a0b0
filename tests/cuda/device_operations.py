"""Operations on arrays in device memory, for the simulator and for a GPU: as on the host."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from cuda.on_device import OPERATIONS
from golden import is_installed
from operations.samples import ints, sample

from colkern.arrays import Array, RecordBatch
from colkern.errors import InvalidArrowError
from colkern.ipc import write_stream
from colkern.memory import device_named
from colkern.operations import gather_union, validate
from colkern.operations.moving import to_device, to_host


def failures(what: str, device: str = "cuda") -> Iterator[str]:
    """The difference of the result in device memory from that on the host."""
    name, run = OPERATIONS[what]
    # A slice that begins within a byte; on the host others are looked at too.
    array, picks = sample(name).slice(3, 7), ints([6, 0, 3, 3])
    expected = plain(run(array, picks))
    outcome = run(to_device(array, device), to_device(picks, device))
    if (
        isinstance(outcome, Array)
        and any(outcome.buffers)
        and outcome.device != device_named(device)
    ):
        yield f"the result is on {outcome.device}"
    result = plain(outcome)
    if result != expected:
        yield f"expected {expected}, found {result}"


def plain(value: Any) -> Any:
    """A result as Python objects, wherever it is."""
    if isinstance(value, Array):
        return to_host(value).to_pylist()
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if hasattr(value, "array"):
        return list(bytes(value.array.get() if hasattr(value.array, "get") else value.array))
    return value


def union_failures(device: str = "cuda") -> Iterator[str]:
    """`gather_union`, whose samples are unions of samples."""
    from operations.test_unions import dense_of, sparse_of

    for name in ("int8", "decimal128", "utf8", "bool", "list"):
        children = [sample(name), sample(name).slice(2), sample(name)]
        ids = [0, 1, 2, 1, 1, 0, 2, 0, 1, 0]
        for array in (
            dense_of(children, ids, [11, 0, 4, 9, 9, 0, 3, 1, 2, 2]),
            sparse_of(children, ids).slice(2),
        ):
            expected = gather_union(array).to_pylist()
            result = to_host(gather_union(to_device(array, device))).to_pylist()
            if result != expected:
                yield f"{array.type}: expected {expected}, found {result}"


def validation_failures(device: str = "cuda") -> Iterator[str]:
    """The errors of `validate` for broken arrays: the same as on the host."""
    from operations.test_validation import BAD

    for what, (array, message) in BAD.items():
        try:
            validate(to_device(array, device), full=True)
            yield f"{what}: not found"
        except InvalidArrowError as error:
            if message not in str(error):
                yield f"{what}: {error}"


def writing_failures(device: str = "cuda") -> Iterator[str]:
    """The output of an IPC writer for a slice in device memory: the same bytes as on the host."""
    names = ["int8", "utf8", "utf8_view", "list", "struct", "dictionary"]
    batch = RecordBatch.from_arrays([sample(name).slice(3, 7) for name in names], names)
    other = RecordBatch.from_arrays([sample(name).slice(1, 5) for name in names], names)
    for compression in (None, "lz4") if is_installed("lz4") else (None,):
        expected, result = io.BytesIO(), io.BytesIO()
        write_stream(expected, [batch, other], compression=compression)
        moved = [to_device(batch, device), to_device(other, device)]
        write_stream(result, moved, compression=compression)
        if result.getvalue() != expected.getvalue():
            yield f"compression {compression}: other bytes than on the host"
