"""Results that are lists of plain Python values, as batches: what functions of small groups return.

pyarrow makes arrays of them in less time than building, checking and handing over an array of colkern
takes, and of one value or ten that time is most of a group's.
"""

from __future__ import annotations

from typing import Any

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
"""The classes of whose values pyarrow and colkern make the same arrays."""


class PlainResults:
    """Makes batches of a mapping of names to lists.

    Args:
        schema: The columns that were declared.
    """

    def __init__(self, schema: s.Schema) -> None:
        self._schema = pa.schema(schema)
        classes = [
            _KINDS.get(field.type, set()) | ({type(None)} if field.nullable else set())
            for field in schema
        ]
        self._fields = list(zip(self._schema, classes, strict=True))

    def batch(self, made: Any) -> pa.RecordBatch | None:
        """The batch; None of whatever is not plain, or not as declared."""
        if type(made) is not dict or len(made) != len(self._schema) or not made:
            return None
        columns: list[pa.Array] = []
        for field, classes in self._fields:
            column = _array(made.get(field.name), field.type, classes)
            if column is None or (columns and len(column) != len(columns[0])):
                return None
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _array(values: Any, type_: pa.DataType, classes: set[type]) -> pa.Array | None:
    if type(values) is not list or not classes.issuperset(map(type, values)):
        return None
    try:
        made = pa.array(values, type_)
    except (ValueError, OverflowError):
        return None
    return made if isinstance(made, pa.Array) else None
