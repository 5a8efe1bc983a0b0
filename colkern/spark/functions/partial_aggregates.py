"""A reducer over all groups in two steps: states where the rows are, merged after Spark's shuffle.

Spark shuffles a state for each group of a batch, not the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import array as new_array
from colkern.interchange import import_batch
from colkern.jit import Reducer
from colkern.layouts import Role
from colkern.operations.grouping import group_rows
from colkern.spark.functions import compiling
from colkern.spark.functions.declarations import result_type
from colkern.spark.functions.group_runs import Offsets, RunsFunction
from colkern.spark.functions.left_rows import LeftRows
from colkern.spark.worker_errors import told_plainly


class PartialAggregate:
    """Called by workers for rows, keys first: the states of each batch's groups."""

    def __init__(self, function: Reducer, keys: s.Schema, values: s.Schema) -> None:
        self.function = function
        self.types = [field.type for field in values.fields]
        function.compile(*self.types)
        self._keys = keys
        self._left_rows: LeftRows | None = None
        types = [field.type for field in keys.fields]
        types += [s.int64()] * function.compiled_reduction(*self.types).words
        # Named by numbers, as the columns of the batches are: keys may have any names.
        self.schema = s.Schema([s.field(f"c{k}", type_) for k, type_ in enumerate(types)])

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The keys and states of the groups of each batch."""
        with told_plainly():
            for count, batch in enumerate(batches):
                columns = import_batch(batch).columns
                if count == 0:
                    with compiling.one_process_compiles():
                        self._states([column[: compiling.FEW] for column in columns])
                    self._left_rows = LeftRows(self.function)
                if batch.num_rows:
                    yield self._states(columns)

    def _states(self, columns: Sequence[Array]) -> pa.RecordBatch:
        keys, values = columns[: len(self._keys)], columns[len(self._keys) :]
        groups = group_rows(keys)
        reduction = self.function.compiled_reduction(*self.types)
        states = reduction.group_states(values, values[0].length, groups, self.function.report())
        parts = [groups.keys(key) for key in keys]
        parts += [new_array(np.ascontiguousarray(words)) for words in states.T]
        return pa.record_batch(RecordBatch(self.schema, parts))


class FinalAggregate(RunsFunction):
    """Called by Spark's workers for a partition of states that is sorted by the keys."""

    function: Reducer

    def __init__(self, partial: PartialAggregate, keys: s.Schema) -> None:
        self._types = partial.types
        super().__init__(partial.function, keys, result_type(partial.function, partial.types))

    def _results(self, values: Sequence[Array], offsets: Offsets) -> tuple[Offsets, Array]:
        reduction = self.function.compiled_reduction(*self._types)
        states = np.stack([column.items(Role.DATA) for column in values], axis=1)
        return offsets[:-1], reduction.results_of_states(states, offsets)
