"""Functions of rows that append what they read: for each type, a column's copy without its encodings.

Builders have no unions and no intervals of days: nulls stand for them.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from jit.checksums import Source, encoded, is_binary

from colkern import schema as s


def copied_type(kind: s.DataType) -> s.DataType:
    """The type of the copy of a column."""
    storage = encoded(kind.storage)
    if not _is_built(storage):
        return s.null()
    if isinstance(storage, s.BinaryView):
        return s.binary()
    if isinstance(storage, s.Utf8View):
        return s.utf8()
    fields = [s.field(f.name, copied_type(f.type), f.nullable) for f in storage.fields]
    if isinstance(storage, s.Struct):
        return s.struct(fields)
    if isinstance(storage, s.Map):
        key, value = storage.fields[0].type.fields
        return s.map_(copied_type(key.type), copied_type(value.type))
    if isinstance(storage, s.FixedSizeList):
        return s.fixed_size_list(fields[0], storage.list_size)
    if isinstance(storage, s.List | s.ListView):
        return s.list_(fields[0])
    return s.large_list(fields[0]) if fields else storage


def _is_built(storage: s.DataType) -> bool:
    is_interval = isinstance(storage, s.Interval) and storage.unit != "year_month"
    return not (is_interval or isinstance(storage, s.Union))


def _is_whole(kind: s.DataType) -> bool:
    """Whether there is nothing below a type that builders do not have."""
    storage = encoded(kind.storage)
    return _is_built(storage) and all(_is_whole(field.type) for field in storage.fields)


class _Copy(Source):
    """Lines that append what stands below values, or the values whole."""

    def __init__(self, whole: bool) -> None:
        super().__init__()
        self.whole = whole

    def copy(self, depth: int, kind: s.DataType, value: str, out: str) -> None:
        """Of a value that may be None."""
        storage = encoded(kind.storage)
        if not _is_built(storage):
            self.add(depth, f"{out}.append_null()")
        elif self.whole or is_binary(storage) or not storage.fields:
            self.add(depth, f"{out}.append({value})")
        else:
            self.add(depth, f"if {value} is None:")
            self.add(depth + 1, f"{out}.append_null()")
            self.add(depth, "else:")
            self.parts(depth + 1, storage, value, out)

    def parts(self, depth: int, kind: s.DataType, value: str, out: str) -> None:
        """Of a value that is there."""
        item = self.name()
        if isinstance(kind, s.Struct):
            for k, field in enumerate(kind.fields):
                self.add(depth, f"{item}_{k} = {value}[{field.name!r}]")
                self.copy(depth, field.type, f"{item}_{k}", f"{out}.field({field.name!r})")
            self.add(depth, f"{out}.end_row()")
        elif isinstance(kind, s.Map):
            self.add(depth, f"for {item} in {value}:")
            key, entry = kind.fields[0].type.fields
            for name, field, part in (("key", key, "keys"), ("value", entry, "items")):
                read = self.name()
                self.add(depth + 1, f"{read} = {item}.{name}")
                self.copy(depth + 1, field.type, read, f"{out}.{part}")
            self.add(depth, f"{out}.end_map()")
        else:
            self.add(depth, f"for {item} in {value}:")
            self.copy(depth + 1, kind.fields[0].type, item, f"{out}.values")
            self.add(depth, f"{out}.end_list()")


def copying(kind: s.DataType, whole: bool) -> Callable[..., None]:
    """The function of rows `copy_row(i, column, out)` that appends slot `i` of a column.

    Args:
        kind: The column's type.
        whole: Whether to append lists, maps and structs whole, and not part by part.
    """
    source = _Copy(whole and _is_whole(kind))
    source.add(0, "def copy_row(i, column, out):")
    source.add(1, "value = column[i]")
    source.copy(1, kind, "value", "out")
    text = "\n".join(source.lines) + "\n"
    name = f"<copy {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, name, "exec"), namespace)
    result: Callable[..., None] = namespace["copy_row"]
    return result


def copied_values(array: Any) -> list[Any]:
    """The values of the copy of an array, by pyarrow."""
    return [_copied(array.type, value) for value in array.to_pylist()]


def _copied(kind: pa.DataType, value: Any) -> Any:
    if value is None or pa.types.is_union(kind) or pa.types.is_interval(kind):
        return None
    if pa.types.is_map(kind):
        return [(_copied(kind.key_type, k), _copied(kind.item_type, v)) for k, v in value]
    if pa.types.is_struct(kind):
        return {field.name: _copied(field.type, value[field.name]) for field in kind}
    if hasattr(kind, "value_type"):
        inner = kind.value_type
        is_encoded = pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind)
        return _copied(inner, value) if is_encoded else [_copied(inner, item) for item in value]
    return value
