"""Messages that are like the one before but for their numbers: the batches of one writer.

Such metadata is decoded once. The next one is compared with it byte by byte, all but the places of the
numbers that differ from batch to batch; where the rest is equal, so is what `decode` would find. That
holds as long as the numbers are not something else, too: a hostile message may have its vtable there.
"""

from __future__ import annotations

import itertools
import struct
from typing import Any

import numpy as np

from colkern.ipc.enums import MessageHeader
from colkern.ipc.flatbuffer import Record, slot_position
from colkern.ipc.flatbuffer.spans import Span, spans, target
from colkern.ipc.wire import BUFFER, FIELD_NODE, MESSAGE, RECORD_BATCH

_int64 = struct.Struct("<q").unpack_from
_NUMBER = 8
_COUNT = 4


class RepeatedBatch:
    """A record batch's message, and where its numbers stand.

    Args:
        data: The metadata.
        record: What `decode` made of it.
        numbers: Where the length of the body, the number of rows, the nodes and the buffers stand.
    """

    __slots__ = (
        "_body",
        "_buffers",
        "_data",
        "_fixed",
        "_is_apart",
        "_length",
        "_nodes",
        "_record",
        "_size",
        "_spans",
    )

    def __init__(self, data: bytes, record: Record, numbers: list[Span]) -> None:
        (self._body, _), (self._length, _), self._nodes, self._buffers = numbers
        self._record = record
        self._data = data
        self._spans = numbers
        # Found out when a second message like this one comes.
        self._is_apart: bool | None = None
        self._size = len(data)
        edges = [0, *itertools.chain.from_iterable(sorted(numbers)), len(data)]
        gaps = zip(edges[::2], edges[1::2], strict=True)
        self._fixed = [(start, stop, data[start:stop]) for start, stop in gaps if start < stop]

    @classmethod
    def of(cls, data: bytes, record: Record) -> RepeatedBatch | None:
        """The message to compare others with; None if it is none of the kind."""
        if record["header_type"] != MessageHeader.RecordBatch:
            return None
        root = target(data, 0)
        header = target(data, slot_position(MESSAGE, data, root, "header"))
        numbers = [
            _span(slot_position(MESSAGE, data, root, "bodyLength"), _NUMBER),
            _span(slot_position(RECORD_BATCH, data, header, "length"), _NUMBER),
        ]
        for name in ("nodes", "buffers"):
            vector = record["header"][name]
            if vector is None:
                return None
            place = slot_position(RECORD_BATCH, data, header, name)
            numbers.append(_span(target(data, place) + _COUNT, vector.nbytes))
        # Absent numbers are zero; those of a hostile message may stand in one place.
        apart = all(a[1] <= b[0] for a, b in itertools.pairwise(sorted(numbers)))
        return cls(data, record, numbers) if apart and numbers[0][0] and numbers[1][0] else None

    def decode(self, data: bytes) -> Record | None:
        """What `decode` would make of `data`; None if it differs in more than numbers."""
        if len(data) != self._size:
            return None
        for start, stop, bytes_ in self._fixed:
            if data[start:stop] != bytes_:
                return None
        if self._is_apart is None:
            self._is_apart = _are_apart(self._data, self._spans)
        if not self._is_apart:
            return None
        header = self._record["header"].copy()
        header["length"] = _int64(data, self._length)[0]
        header["nodes"] = _vector(data, FIELD_NODE, self._nodes)
        header["buffers"] = _vector(data, BUFFER, self._buffers)
        record = self._record.copy()
        record["header"] = header
        record["bodyLength"] = _int64(data, self._body)[0]
        return record


def _are_apart(data: bytes, numbers: list[Span]) -> bool:
    """Whether nothing else that `decode` has looked at stands where the numbers stand."""
    others = [(0, _COUNT), *spans(MESSAGE, data, target(data, 0))]
    for number in numbers:
        others.remove(number)
    return not any(a < end and start < b for start, end in others for a, b in numbers)


def _span(start: int, size: int) -> Span:
    return start, start + size


def _vector(data: bytes, dtype: np.dtype[Any], span: Span) -> Any:
    start, stop = span
    return np.frombuffer(data, dtype, (stop - start) // dtype.itemsize, start)
