"""Reducers over the rows of files: states where rows are read, merged by Spark's last task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import array as new_array
from colkern.interchange import import_batch
from colkern.jit import Reducer
from colkern.layouts import Role
from colkern.operations import nulls
from colkern.rows.reductions import Reduction
from colkern.rows.states import Words
from colkern.spark.functions import compiling
from colkern.spark.functions.compiling import LeftRows
from colkern.spark.functions.declarations import result_type
from colkern.spark.functions.results import conformed_columns
from colkern.spark.source.computing import Call, located, parameters_of
from colkern.spark.source.contents import Rows
from colkern.spark.worker_errors import told_plainly


@dataclass(frozen=True, slots=True)
class _Total:
    """A reducer of columns of some types; its states are words of eight bytes."""

    function: Reducer
    columns: Sequence[str]
    types: Sequence[s.DataType]

    def reduction(self) -> Reduction:
        return self.function.compiled_reduction(*self.types)

    def state(self, columns: Sequence[Array], length: int) -> Words:
        return self.reduction().group_states(columns, length, report=self.function.report())


class Totals:
    """Tasks call this where rows are read; returns a row of all reducers' states for each batch."""

    def __init__(
        self, functions: Mapping[str, Reducer], columns: s.Schema, tests: Sequence[Call]
    ) -> None:
        self._tests = tests
        self._totals: list[_Total] = []
        self._left_rows: list[LeftRows] = []
        results = []
        for name, function in functions.items():
            names = parameters_of(function)
            types = [columns.field(each).type for each in names]
            if not function.has_states(*types):
                raise TypeError(
                    f"compute: {function.name} needs a merge, and a state in compiled code: each "
                    f"task reads a part of the rows"
                )
            function.compile(*types)
            self._totals.append(_Total(function, names, types))
            results.append(s.field(name, result_type(function, types)))
        words = sum(total.reduction().words for total in self._totals)
        self.schema = s.Schema([s.field(f"c{k}", s.int64()) for k in range(words)])
        self._results = s.Schema(results)

    def __call__(self, parts: Iterable[Rows]) -> Iterator[pa.RecordBatch]:
        """Yields the initial states, then the states of each part."""
        with compiling.one_process_compiles():
            begun = [t.state([nulls(0, type_) for type_ in t.types], 0) for t in self._totals]
        self._left_rows = [LeftRows(total.function) for total in self._totals]
        yield self._batch(begun)
        for part in parts:
            rows = part
            for test in self._tests:
                rows = rows.where(rows.batch, test(rows))
            yield self._batch([_state(total, rows) for total in self._totals])

    def _batch(self, states: Sequence[Words]) -> pa.RecordBatch:
        words = np.ascontiguousarray(np.concatenate(states, axis=1).T)
        return pa.record_batch(RecordBatch(self.schema, list(map(new_array, words))))

    @property
    def results(self) -> s.Schema:
        """The columns of the one row of results."""
        return self._results

    def merged(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the one row of results from all states."""
        with told_plainly():
            parts = [
                np.stack(
                    [column.items(Role.DATA) for column in import_batch(batch).columns], axis=1
                )
                for batch in batches
            ]
            states = np.concatenate(parts)
            ends = np.cumsum([total.reduction().words for total in self._totals])
            offsets = np.array([0, len(states)], np.int64)
            columns = [
                total.reduction().results_of_states(np.ascontiguousarray(words), offsets)
                for total, words in zip(
                    self._totals, np.split(states, ends[:-1], axis=1), strict=True
                )
            ]
            yield conformed_columns("compute", columns, self._results)


def _state(total: _Total, rows: Rows) -> Words:
    columns = [rows.batch.column(name) for name in total.columns]
    return located(
        total.function.name, rows, lambda n: total.state([c.slice(0, n) for c in columns], n)
    )
