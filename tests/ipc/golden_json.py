"""Arrow's integration JSON as arrays: buffers are written out one by one, with no IPC involved."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from colkern import Array, RecordBatch
from colkern.layouts import Extent, Role, layout
from colkern.memory import Buffer
from colkern.schema import (
    Binary,
    DataType,
    Decimal,
    Dictionary,
    FixedSizeBinary,
    Interval,
    LargeBinary,
    LargeUtf8,
    Schema,
    Utf8,
)


def batches_of(path: Path, schema: Schema) -> Iterator[RecordBatch]:
    """The batches of a `.json.gz` file, under a schema whose types its own must agree with."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    assert [entry["name"] for entry in document["schema"]["fields"]] == schema.names
    dictionaries = {entry["id"]: entry["data"] for entry in document.get("dictionaries", ())}
    for batch in document["batches"]:
        columns = [
            _array(field.type, entry, column, dictionaries)
            for field, entry, column in zip(
                schema, document["schema"]["fields"], batch["columns"], strict=True
            )
        ]
        yield RecordBatch(schema, columns, batch["count"])


def _array(
    type_: DataType, field: dict[str, Any], column: dict[str, Any], dictionaries: dict[int, Any]
) -> Array:
    encoding = field.get("dictionary")
    children = ()
    dictionary = None
    if encoding is None:
        children = [
            _array(child.type, entry, values, dictionaries)
            for child, entry, values in zip(
                type_.fields, field["children"], column.get("children", ()), strict=True
            )
        ]
    else:
        storage = type_.storage
        assert isinstance(storage, Dictionary)
        values = dictionaries[encoding["id"]]["columns"][0]
        dictionary = _array(storage.value_type, {**field, "dictionary": None}, values, dictionaries)
    rule = layout(type_)
    buffers = [_BUFFERS[spec.role](type_.storage, spec, column) for spec in rule.buffers]
    if rule.variadic:
        buffers += [
            Buffer.from_object(bytes.fromhex(data)) for data in column["VARIADIC_DATA_BUFFERS"]
        ]
    return Array(type_, column["count"], buffers, children, dictionary)


def _bits(values: list[int]) -> Buffer:
    return Buffer(np.packbits(np.array(values, np.uint8), bitorder="little"))


def _numbers(values: list[Any], dtype: np.dtype[Any]) -> Buffer:
    # 64-bit numbers are strings in JSON.
    read = float if dtype.kind == "f" else int
    return Buffer.from_object(np.array([read(value) for value in values], dtype).tobytes())


def _data(type_: DataType, spec: Any, column: dict[str, Any]) -> Buffer:
    values = column["DATA"]
    if spec.extent is Extent.BITS:
        return _bits(values)
    if isinstance(type_, Decimal):
        width = type_.bit_width // 8
        return Buffer.from_object(
            b"".join(int(value).to_bytes(width, "little", signed=True) for value in values)
        )
    if isinstance(type_, FixedSizeBinary):
        return Buffer.from_object(b"".join(map(bytes.fromhex, values)))
    if isinstance(type_, Interval) and spec.dtype.names:
        records = [tuple(int(value[name]) for name in spec.dtype.names) for value in values]
        return Buffer.from_object(np.array(records, spec.dtype).tobytes())
    return _numbers(values, spec.dtype)


def _bytes(type_: DataType, spec: Any, column: dict[str, Any]) -> Buffer:
    read: Callable[[str], bytes] = {
        Utf8: str.encode,
        LargeUtf8: str.encode,
        Binary: bytes.fromhex,
        LargeBinary: bytes.fromhex,
    }[type(type_)]
    return Buffer.from_object(b"".join(map(read, column["DATA"])))


def _views(type_: DataType, spec: Any, column: dict[str, Any]) -> Buffer:
    views = b""
    for view in column["VIEWS"]:
        views += view["SIZE"].to_bytes(4, "little")
        if "INLINED" in view:
            inlined = view["INLINED"]
            text = (
                inlined.encode() if type(type_).__name__ == "Utf8View" else bytes.fromhex(inlined)
            )
            views += text.ljust(12, b"\0")
        else:
            views += bytes.fromhex(view["PREFIX_HEX"])
            views += view["BUFFER_INDEX"].to_bytes(4, "little")
            views += view["OFFSET"].to_bytes(4, "little")
    return Buffer.from_object(views)


_BUFFERS: dict[Role, Callable[[DataType, Any, dict[str, Any]], Buffer]] = {
    Role.VALIDITY: lambda type_, spec, column: _bits(column["VALIDITY"]),
    Role.DATA: _data,
    Role.OFFSETS: lambda type_, spec, column: _numbers(column["OFFSET"], spec.dtype),
    Role.SIZES: lambda type_, spec, column: _numbers(column["SIZE"], spec.dtype),
    Role.TYPE_IDS: lambda type_, spec, column: _numbers(column["TYPE_ID"], spec.dtype),
    Role.VIEWS: _views,
    Role.BYTES: _bytes,
}
