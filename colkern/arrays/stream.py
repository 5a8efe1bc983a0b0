"""`RecordBatchStream`: a schema and an iterator over batches of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from colkern.arrays.batch import RecordBatch
from colkern.arrays.tabular import no_numpy_array
from colkern.memory import Device
from colkern.names import PublicNames
from colkern.schema import Schema

if TYPE_CHECKING:
    from colkern import methods


class RecordBatchStream(PublicNames):
    """A schema and an iterator over batches of it; can be consumed once.

    Args:
        schema: The schema of every batch.
        batches: The batches.
        device: The device of their bytes; None if it is not known before they are pulled.
    """

    if TYPE_CHECKING:
        __arrow_c_schema__ = methods.schema_capsule
        __arrow_c_stream__ = methods.stream_capsule
        __arrow_c_device_stream__ = methods.device_stream_capsule

    def __init__(
        self, schema: Schema, batches: Iterable[RecordBatch], device: Device | None = None
    ) -> None:
        self.schema = schema
        self.device = device
        self._batches = iter(batches)
        # What compiled code was handed of it, kept alive while that runs.
        self._record: Any = None

    def __iter__(self) -> Iterator[RecordBatch]:
        return self._batches

    def __next__(self) -> RecordBatch:
        return next(self._batches)

    def read_all(self) -> list[RecordBatch]:
        """All batches that are left."""
        return list(self._batches)

    def __reduce__(self) -> Any:
        raise cannot_be_pickled(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refused, in words for NumPy and pandas, which would make an array of batches."""
        raise no_numpy_array(self)


def cannot_be_pickled(obj: Any) -> TypeError:
    """The error of whoever pickles or copies what reads an open source."""
    return TypeError(
        f"a {type(obj).__name__} cannot be pickled or copied, since it reads an open source: pickle its "
        "batches, or open the source where they are needed"
    )
