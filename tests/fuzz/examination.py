"""Checks of data that was read: it is used in every way, and all ways agree.

Nothing but errors of colkern's may come out. What passes `validate(full=True)` can be shown, taken,
joined, handed on and written, and holds the same values afterwards.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

import colkern
import colkern.ipc
from colkern import Array, ColkernError, InvalidArrowError, RecordBatch
from colkern.cuda import stand_in
from colkern.interchange import import_array, import_batch
from colkern.operations import concat, take

# Enough to reach everything; what a few bytes claim may be any number of slots.
_SLOTS = 10_000

# What a sparse tensor may be expanded to.
_DENSE_BYTES = 1 << 27

# For many small inputs one after the other.
LIMITS = colkern.ipc.Limits(unbacked_length=1000, decompressed_bytes=1 << 26)


class FindingError(Exception):
    """Something that must not be: results that contradict each other."""


Outcome = tuple[str, list[str]]
"""The end of reading ("read", "invalid" or the error), and the values of the batches, as text."""


def examine(source: Any, limits: colkern.ipc.Limits = LIMITS, *, thorough: bool = True) -> Outcome:
    """Read a source whole and use what comes out.

    Args:
        source: What `colkern.ipc.open` takes.
        limits: What may be spent.
        thorough: Whether to take, join, hand on and write what is valid, too.

    Raises:
        FindingError: If two ways of using one batch disagree.
        Exception: Whatever is not colkern's own.
    """
    outcome = "read"
    texts: list[str] = []
    whole: list[RecordBatch] = []
    try:
        with colkern.ipc.open(source, limits=limits) as reader:
            repr(reader.schema)
            for batch in reader:
                outcome, text = _examine_batch(batch, outcome, thorough)
                texts.append(text)
                whole.append(batch)
            if outcome == "read" and thorough and whole:
                _written_again(reader.schema, whole, texts, limits)
    except ColkernError as error:
        outcome = f"{type(error).__name__}: {error}"
    return outcome, texts


def examine_on_device(source: Any, limits: colkern.ipc.Limits = LIMITS) -> Outcome:
    """As `examine`, but that bodies go to a stand-in device: validated there, shown on the host.

    Raises:
        FindingError: If memory of the device is left behind.
        Exception: Whatever is not colkern's own.
    """
    with stand_in.installed() as device:
        outcome = _read_on_device(source, limits)
        if device.used_bytes:
            raise FindingError(f"on a device: {device.used_bytes} bytes are left behind")
    return outcome


def _read_on_device(source: Any, limits: colkern.ipc.Limits) -> Outcome:
    outcome = "read"
    texts: list[str] = []
    try:
        with colkern.ipc.open(source, device="cuda", limits=limits) as reader:
            for batch in reader:
                columns = _columns(batch)
                complaint = _complaint(batch)
                if complaint is None:
                    texts.append(_values([colkern.to_host(column) for column in columns]))
                else:
                    outcome = "invalid"
                    texts.append(complaint)
    except ColkernError as error:
        outcome = f"{type(error).__name__}: {error}"
    return outcome, texts


def _complaint(batch: RecordBatch) -> str | None:
    # Not the error itself: its traceback would keep the batch.
    try:
        batch.validate(full=True)
    except ColkernError as error:
        return f"{error}"
    return None


def examine_tensors(source: Any) -> str:
    """Read the tensors of a stream and use them; how reading ended, in a word."""
    try:
        for tensor in colkern.ipc.read_tensors(source):
            repr(tensor)
            if not isinstance(tensor, colkern.ipc.Tensor):
                tensor.to_dense(max_bytes=_DENSE_BYTES)
    except ColkernError as error:
        return type(error).__name__
    return "read"


def _examine_batch(batch: RecordBatch, outcome: str, thorough: bool) -> tuple[str, str]:
    columns = _columns(batch)
    error = _error_of(lambda: batch.validate(full=True))
    if error is None:
        text = _values(columns)
        batch.validate()
        repr(batch)
        if thorough:
            for column in columns:
                _same_in_every_way(column)
            _same(text, _values(_columns(import_batch(batch))), "imported batch")
        return outcome, text
    # What is not valid may be refused, and nothing worse.
    for use in _USES if thorough else _USES[:2]:
        _error_of(lambda use=use: use(columns))  # type: ignore[misc]
    return "invalid", f"{error}"


def _error_of(use: Callable[[], Any]) -> ColkernError | None:
    try:
        use()
    except ColkernError as error:
        return error
    return None


def _columns(batch: RecordBatch) -> list[Array]:
    """The columns, no longer than what can be shown."""
    return [column.slice(0, _SLOTS) for column in batch.columns]


def _values(columns: list[Array]) -> str:
    return repr([column.to_pylist() for column in columns])


def _show(columns: list[Array]) -> None:
    for column in columns:
        repr(column)


def _compare(columns: list[Array]) -> None:
    for column in columns:
        column.equals(column)


def _positions(array: Array) -> Array:
    return colkern.array(np.arange(array.length))


def _take_all(columns: list[Array]) -> None:
    for column in columns:
        take(column, _positions(column))


def _join_twice(columns: list[Array]) -> None:
    for column in columns:
        concat([column, column])


def _pass_on(columns: list[Array]) -> None:
    for column in columns:
        import_array(column)


def _write(columns: list[Array]) -> None:
    names = [str(number) for number in range(len(columns))]
    colkern.ipc.write_stream(io.BytesIO(), RecordBatch.from_arrays(columns, names))


_USES = (_values, _show, _compare, _take_all, _join_twice, _pass_on, _write)


def _same(expected: str, result: str, way: str) -> None:
    if expected != result:
        raise FindingError(f"{way}: {result[:300]} where there was {expected[:300]}")


def _same_in_every_way(column: Array) -> None:
    values = column.to_pylist()
    text = repr(values)
    result = {
        "take": (take(column, _positions(column)), text),
        "concat": (concat([column, column]), repr(values + values)),
        "imported": (import_array(column), text),
        "sliced": (column.slice(1 if column.length else 0), repr(values[1:])),
    }
    column.equals(result["take"][0])
    for way, (array, expected) in result.items():
        _valid(array, way)
        _same(expected, repr(array.to_pylist()), way)


def _valid(data: Array | RecordBatch, way: str) -> None:
    try:
        data.validate(full=True)
    except InvalidArrowError as error:
        raise FindingError(f"{way}: not valid any more: {error}") from error


def _written_again(
    schema: Any, batches: list[RecordBatch], texts: list[str], limits: colkern.ipc.Limits
) -> None:
    sink = io.BytesIO()
    with colkern.ipc.new_stream(sink, schema) as writer:
        writer.write(batches)
    again = colkern.ipc.open(sink.getvalue(), limits=limits)
    results = list(again)
    for batch in results:
        _valid(batch, "written")
    _same(repr(texts), repr([_values(_columns(batch)) for batch in results]), "written")
    if again.schema != schema:
        raise FindingError(f"written: schema {again.schema} where there was {schema}")
