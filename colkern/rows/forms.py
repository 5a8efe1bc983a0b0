"""Forms: the classes that the values of a column have for a function, in compiled code and in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.extension_values import presenter_of
from colkern.rows.encoded import decoded_type


@dataclass(frozen=True)
class Form:
    """The form in which a function gets the values of a column.

    Args:
        nullable: Whether it gets None for a null; otherwise it is not called for it.
        maps: `list` for pairs, or `dict`.
        structs: `dict`, `tuple`, or a `colkern.rows.kinds.FieldRow`.
        parts: The forms of the parts of lists, structs and maps, if they differ from this one.
    """

    nullable: bool = False
    maps: type = list
    structs: type = dict
    parts: tuple[Form, ...] = ()

    def part(self, place: int) -> Form:
        """Returns the form of a part: of the items of lists, a field of structs, keys or values of maps."""
        return self.parts[place] if place < len(self.parts) else self

    def row(self, names: list[str], values: list[Any]) -> Any:
        """Returns the value of a struct: a dictionary, or pairs if two fields have one name."""
        pairs = list(zip(names, values, strict=True))
        row = dict(pairs)
        return row if len(row) == len(pairs) else pairs

    def values(self, array: Array) -> list[Any]:
        """Returns the values of a column as Python objects."""
        values = array.to_pylist()
        convert = _converter(array.type, self)
        return values if convert is None else list(map(convert, values))


PLAIN = Form()
"""The form of `to_pylist`."""

_Converter = Callable[[Any], Any]


def _converter(type_: s.DataType, form: Form) -> _Converter | None:
    """Returns what gives a value of `to_pylist` its form; None if it has it already."""
    plain = decoded_type(type_)
    storage = plain.storage
    has_own_class = isinstance(plain, s.Extension) and presenter_of(plain) is not None
    if not storage.fields or isinstance(storage, s.Union) or has_own_class:
        return None
    if isinstance(storage, s.Map):
        return _of_maps(storage, form)
    parts = [_converter(field.type, form.part(n)) for n, field in enumerate(storage.fields)]
    if isinstance(storage, s.Struct):
        return _of_structs([field.name for field in storage.fields], parts, form)
    (item,) = parts
    return item and (lambda values: values and list(map(item, values)))


def _of_maps(type_: s.Map, form: Form) -> _Converter | None:
    fields = (type_.key_field, type_.item_field)
    key, value = (_converter(field.type, form.part(n)) or _same for n, field in enumerate(fields))
    if form.maps is list and key is value is _same:
        return None

    def convert(pairs: Any) -> Any:
        return None if pairs is None else form.maps([(key(k), value(v)) for k, v in pairs])

    return convert


def _of_structs(names: list[str], parts: list[_Converter | None], form: Form) -> _Converter | None:
    if form.structs is dict and not any(parts):
        return None
    own = [part or _same for part in parts]

    def convert(row: Any) -> Any:
        if row is None:
            return None
        values = row.values() if isinstance(row, dict) else [value for _, value in row]
        return form.row(names, [part(value) for part, value in zip(own, values, strict=True)])

    return convert


def _same(value: Any) -> Any:
    return value
