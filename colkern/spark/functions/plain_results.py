"""Results that are lists of plain Python values, as functions of small groups return them.

pyarrow makes arrays of them in less time than it takes to build, check and hand over an array of colkern;
for a few values that time is most of a group's.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from colkern import schema as s

_KINDS: dict[s.DataType, set[type]] = {
    s.bool_(): {bool},
    s.int32(): {int, np.int32},
    s.int64(): {int, np.int64},
    s.float64(): {float, np.float64},
    s.utf8(): {str},
    s.binary(): {bytes},
}
"""The classes of values of which pyarrow and colkern make the same arrays."""


class PlainResults:
    """Makes batches of mappings of names to lists, of the declared columns."""

    def __init__(self, schema: s.Schema) -> None:
        self._schema = pa.schema(schema)
        classes = [
            _KINDS.get(field.type, set()) | ({type(None)} if field.nullable else set())
            for field in schema
        ]
        self._fields = list(zip(self._schema, classes, strict=True))

    def batch(self, result: object) -> pa.RecordBatch | None:
        """The batch; None if the result is not plain, or not as declared."""
        if type(result) is not dict or len(result) != len(self._schema) or not result:
            return None
        columns: list[pa.Array] = []
        for field, classes in self._fields:
            column = _array(result.get(field.name), field.type, classes)
            if column is None or (columns and len(column) != len(columns[0])):
                return None
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _array(values: object, type_: pa.DataType, classes: set[type]) -> pa.Array | None:
    if type(values) is not list or not classes.issuperset(map(type, values)):
        return None
    try:
        array = pa.array(values, type_)
    except (ValueError, OverflowError):
        return None
    return array if isinstance(array, pa.Array) else None
