"""A number of each slot of a column of any type: as source for a kernel, and computed from pyarrow.

The kernel reads everything below a slot, by the spelling of each type; the oracle walks pyarrow's arrays.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Context
from typing import Any

import numpy as np
import pyarrow as pa

from colkern import schema as s

NULL = 3
"""The number that a null adds."""


class Source:
    """Lines of a kernel that adds up what stands below values."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names = 0

    def name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def slot(self, depth: int, kind: s.DataType, value: str) -> None:
        """Of a value that may be None."""
        storage = encoded(kind.storage)
        self.add(depth, f"if {value} is None:")
        self.add(depth + 1, f"total += {NULL}")
        if not isinstance(storage, s.Null):
            self.add(depth, "else:")
            self.value(depth + 1, storage, value)

    def value(self, depth: int, kind: s.DataType, value: str) -> None:
        """Of a value that is there."""
        item = self.name()
        if isinstance(kind, s.FloatingPoint):
            self.add(depth, f"total += 5 if {value} > 1 else 7")
        elif isinstance(kind, s.Decimal):
            self.add(depth, f"total += int({value}.words[0] & 127)")
        elif isinstance(kind, s.Interval) and kind.unit != "year_month":
            self.add(depth, f"total += int({value}.days & 127)")
        elif is_binary(kind):
            is_text = isinstance(kind, s.Utf8 | s.LargeUtf8 | s.Utf8View)
            self.add(depth, f"total += 11 * len({value})")
            self.add(depth, f"for {item} in {value}:")
            self.add(depth + 1, f"total += {f'ord({item})' if is_text else item}")
        elif isinstance(kind, s.Date):
            self.add(depth, f"total += {value}.toordinal() & 127")
        elif isinstance(kind, s.Time) or (isinstance(kind, s.Timestamp) and not kind.timezone):
            self.add(depth, f"total += {value}.second + ({value}.microsecond & 127)")
        elif isinstance(kind, s.Duration):
            self.add(depth, f"total += {value}.seconds + ({value}.microseconds & 127)")
        elif isinstance(kind, s.Map):
            self.add(depth, f"for {item} in {value}:")
            for name, field in zip(("key", "value"), kind.fields[0].type.fields, strict=True):
                part = self.name()
                self.add(depth + 1, f"{part} = {item}.{name}")
                self.slot(depth + 1, field.type, part)
        elif isinstance(kind, s.Struct):
            for k, field in enumerate(kind.fields):
                self.add(depth, f"{item}_{k} = {value}[{field.name!r}]")
                self.slot(depth, field.type, f"{item}_{k}")
        elif isinstance(kind, s.Union):
            self.union(depth, kind, value)
        elif kind.fields:
            self.add(depth, f"total += 13 * len({value})")
            self.add(depth, f"for {item} in {value}:")
            self.slot(depth + 1, kind.fields[0].type, item)
        else:
            self.add(depth, f"total += int({value} & 127)")

    def union(self, depth: int, kind: s.Union, value: str) -> None:
        self.add(depth, f"total += int({value}.type_id)")
        for k, (code, field) in enumerate(zip(kind.type_codes, kind.fields, strict=True)):
            part = self.name()
            self.add(depth, f"if {value}.type_id == {code}:")
            self.add(depth + 1, f"{part} = {value}.child({k})")
            self.slot(depth + 1, field.type, part)


def encoded(kind: s.DataType) -> s.DataType:
    """The type of the values behind dictionaries and runs."""
    if isinstance(kind, s.Dictionary):
        return encoded(kind.value_type.storage)
    if isinstance(kind, s.RunEndEncoded):
        return encoded(kind.fields[1].type.storage)
    return kind


def is_binary(kind: s.DataType) -> bool:
    binary = (s.Binary, s.LargeBinary, s.BinaryView, s.FixedSizeBinary)
    return isinstance(kind, (*binary, s.Utf8, s.LargeUtf8, s.Utf8View))


def kernel_source(kinds: dict[str, s.DataType]) -> str:
    """A kernel of the columns by these names: `out[i]` is the sum over slot `i` of each."""
    source = Source()
    source.add(0, f"def checksums(out, {', '.join(kinds)}):")
    source.add(1, "i = cuda.grid(1)")
    source.add(1, "if i < len(out):")
    source.add(2, "total = 0")
    for name, kind in kinds.items():
        value = source.name()
        source.add(2, f"{value} = {name}[i]")
        source.slot(2, kind, value)
    source.add(2, "out[i] = total")
    return "\n".join(source.lines) + "\n"


def checksum(array: Any, i: int) -> int:
    """The same number of slot `i`, by pyarrow."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return checksum(array.dictionary, array.indices[i].as_py()) if valid(array, i) else NULL
    if pa.types.is_run_end_encoded(kind):
        return checksum(array.values, array.find_physical_offset() + _run(array, i))
    if pa.types.is_union(kind):
        return _union(array, i)
    if not valid(array, i):
        return NULL
    if pa.types.is_struct(kind):
        return sum(checksum(array.field(k), i) for k in range(kind.num_fields))
    if pa.types.is_map(kind):
        entry = array[i].values
        keys, values = entry.field(0), entry.field(1)
        return sum(checksum(keys, k) + checksum(values, k) for k in range(len(entry)))
    if hasattr(kind, "value_type"):
        items = array[i].values
        return 13 * len(items) + sum(checksum(items, k) for k in range(len(items)))
    return _plain(array[i])


def valid(array: Any, i: int) -> bool:
    if pa.types.is_null(array.type):
        return False
    bitmap, at = array.buffers()[0], array.offset + i
    return bitmap is None or bool(bitmap[at >> 3] >> (at & 7) & 1)


def _run(array: Any, i: int) -> int:
    ends = array.run_ends.to_pylist()
    first = array.find_physical_offset()
    return next(r for r, end in enumerate(ends) if end > array.offset + i) - first


def _union(array: Any, i: int) -> int:
    # pyarrow's own accessors forget the offset of a slice.
    buffers, at = array.buffers(), array.offset + i
    code = int(np.frombuffer(buffers[1], np.int8)[at])
    k = list(array.type.type_codes).index(code)
    is_dense = array.type.mode == "dense"
    place = int(np.frombuffer(buffers[2], np.int32)[at]) if is_dense else i
    return code + checksum(array.field(k), place)


def _plain(scalar: Any) -> int:
    kind = scalar.type
    if pa.types.is_floating(kind):
        return 5 if scalar.as_py() > 1 else 7
    if pa.types.is_decimal(kind):
        return int(scalar.as_py().scaleb(kind.scale, Context(prec=100))) & 127
    if pa.types.is_interval(kind):
        return scalar.as_py().days & 127
    if pa.types.is_timestamp(kind) and kind.tz:
        return int(scalar.value) & 127
    value = scalar.as_py()
    if isinstance(value, str):
        return 11 * len(value) + sum(map(ord, value))
    if isinstance(value, bytes):
        return 11 * len(value) + sum(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.toordinal() & 127
    if isinstance(value, time | datetime):
        return value.second + (value.microsecond & 127)
    if isinstance(value, timedelta):
        return value.seconds + (value.microseconds & 127)
    return int(value) & 127
