"""Forms: the classes that the values of a column have for a function, in compiled code and in Python."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np

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
        names: The names of the fields whose forms the parts are, if those have names of their own.
    """

    nullable: bool = False
    maps: type = list
    structs: type = dict
    parts: tuple[Form, ...] = ()
    names: tuple[str, ...] = ()

    def part(self, place: int) -> Form:
        """Returns the form of a part: of the items of lists, keys or values of maps, a field of tuples."""
        return self.parts[place] if place < len(self.parts) else self

    def field(self, place: int, name: str) -> Form:
        """Returns the form of a field of structs; if these are read as mappings, that of all values."""
        if self.names:
            return self.parts[self.names.index(name)] if name in self.names else PLAIN
        return self.part(1 if self.maps is dict else place)

    def row(self, names: list[str], values: list[Any]) -> Any:
        """Returns the value of a struct: a dictionary, or pairs if two fields have one name."""
        pairs = list(zip(names, values, strict=True))
        row = dict(pairs)
        return row if len(row) == len(pairs) else pairs

    def values(self, array: Array) -> list[Any]:
        """Returns the values of a column as Python objects."""
        values = array.to_pylist()
        return values if self._is_plain else [self._of(array.type, value) for value in values]

    @property
    def _is_plain(self) -> bool:
        """Whether values are those of `to_pylist`."""
        are_plain = self.maps is list and self.structs is dict
        return are_plain and all(part._is_plain for part in self.parts)

    def _of(self, type_: s.DataType, value: Any) -> Any:
        """Returns a value of `to_pylist` in this form."""
        if value is None or not _has_form(type_):
            return value
        storage = decoded_type(type_).storage
        if isinstance(storage, s.Time):
            microseconds, rest = divmod(value, np.timedelta64(1, "us"))
            return value if rest else (datetime.min + timedelta(0, 0, int(microseconds))).time()
        if isinstance(storage, s.Struct):
            # A struct with two fields of one name is a list of pairs.
            given = value.values() if isinstance(value, dict) else [part for _, part in value]
            names = [field.name for field in storage.fields]
            forms = [self.field(place, name) for place, name in enumerate(names)]
            trios = zip(forms, storage.fields, given, strict=True)
            return self.row(names, [form._of(field.type, each) for form, field, each in trios])
        parts = storage.entries_field.type.fields if isinstance(storage, s.Map) else storage.fields
        own = [(self.part(place)._of, field.type) for place, field in enumerate(parts)]
        if isinstance(storage, s.Map):
            return self.maps(
                [
                    tuple(of(t, each) for (of, t), each in zip(own, pair, strict=True))
                    for pair in value
                ]
            )
        ((of, item),) = own
        return [of(item, each) for each in value]


PLAIN = Form()
"""The form of `to_pylist`."""


@lru_cache(maxsize=256)
def _has_form(type_: s.DataType) -> bool:
    """Whether a form decides on the class of values of a type, or of their parts.

    Those are maps and structs, and times in nanoseconds, which are `datetime.time` in compiled code, too.
    """
    plain = decoded_type(type_)
    has_own_class = isinstance(plain, s.Extension) and presenter_of(plain) is not None
    if has_own_class or isinstance(plain.storage, s.Union):
        return False
    is_one = isinstance(plain.storage, s.Map | s.Struct) or plain.storage == s.time64("ns")
    return is_one or any(_has_form(field.type) for field in plain.storage.fields)
