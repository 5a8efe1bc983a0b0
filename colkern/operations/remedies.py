"""What to do with values of a type that an operation does not take, for the errors that say so."""

from __future__ import annotations

from colkern import schema as s

_Remedies = dict[type[s.DataType], str]

_TEXT = (s.Utf8, s.LargeUtf8, s.Utf8View)
_BYTES = (s.Binary, s.LargeBinary, s.BinaryView, s.FixedSizeBinary)
_TIMES = (s.Date, s.Time, s.Timestamp, s.Duration)
_LISTS = (s.List, s.LargeList, s.ListView, s.LargeListView, s.FixedSizeList, s.Map)

_IN_PARTS: _Remedies = {
    **dict.fromkeys(_LISTS, "colkern.list_flatten(array) has the elements"),
    s.Struct: "colkern.struct_field(array, name) has the values of a field",
    s.Union: "colkern.select_child(array, child)[1] has the values of a child",
}

_AS_NUMBERS: _Remedies = {
    **dict.fromkeys(_TEXT, "pyarrow.compute.cast(pyarrow.array(array), 'double') reads numbers"),
    **dict.fromkeys(_TIMES, "colkern.cast(array, colkern.int64()) has them as numbers"),
}

_ELSEWHERE: _Remedies = dict.fromkeys(
    (*_TEXT, *_BYTES), "pyarrow.compute has one, and pyarrow.array(array) does not copy"
)

_IN_PYTHON = "array.to_pylist() has the values for Python"


def instead_of_sum(type_: s.DataType) -> str:
    """What else there is for values without a sum."""
    return {**_AS_NUMBERS, **_IN_PARTS}.get(type(type_.storage), _IN_PYTHON)


def instead_of_order(type_: s.DataType) -> str:
    """What else there is for values without an order."""
    return {**_ELSEWHERE, **_IN_PARTS}.get(type(type_.storage), _IN_PYTHON)
