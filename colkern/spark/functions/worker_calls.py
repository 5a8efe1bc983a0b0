"""The calls of Spark's workers: they pass pyarrow arrays and get pyarrow arrays, neither of them copied."""

from __future__ import annotations

import functools
import pickle
import reprlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark import TaskContext, cloudpickle

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import CompileError, UnsupportedError
from colkern.jit import Generator, Udf
from colkern.jit.signatures import Parameter
from colkern.memory import HOST, Device
from colkern.operations import nulls
from colkern.operations.casting.dispatch import retyped
from colkern.operations.moving import to_device, to_host
from colkern.spark.devices import placing_of, task_device
from colkern.spark.functions import compiling
from colkern.spark.functions.compiling import LeftRows
from colkern.spark.functions.declarations import column_type
from colkern.spark.functions.results import conformed
from colkern.spark.functions.worker_columns import from_pyarrow, to_pyarrow
from colkern.spark.session import use_this_python
from colkern.spark.worker_errors import told_plainly

if TYPE_CHECKING:
    from colkern.jit import Reducer

Columns: TypeAlias = Sequence[pa.Array | Array]

_FEW = 8
"""The number of rows for which a kernel runs while others wait, so that it compiles."""

_NULL = pa.null()
_NUMBERS = s.Bool | s.Int | s.FloatingPoint


class ArrowFunction:
    """A function of columns, called for each batch; without `returns`, its results are not converted.

    It is pickled for the workers without its machine code, which they load from the cache directory of
    their machine. If it is not there yet, one worker compiles and the others wait for it. A function of
    rows runs on the task's GPU, if it has one, where that takes less time for batches of a size; if the
    device does not support its types or its Python, it runs on the CPU from then on, and a warning in the
    executor's log says why.
    """

    def __init__(
        self, function: Udf | Reducer | Generator, returns: s.DataType | None = None
    ) -> None:
        plain = getattr(function, "function", function)
        functools.update_wrapper(self, plain, updated=())
        self.function = function
        self.returns = returns
        self._seen: set[tuple[pa.DataType | s.DataType, ...]] = set()
        self._left_rows: LeftRows | None = None
        self._batches = 0
        self._placing = placing_of(function)

    @told_plainly()
    def __call__(self, *columns: pa.Array, **named: pa.Array) -> Any:
        """Returns the function's results for columns, given in order or by the names of the parameters."""
        ordered = self.function.in_order(columns, named) if named else columns
        return self._handed_over(self.results(ordered))

    def results(self, columns: Columns) -> Array:
        """Returns the results for columns, which may be colkern's, as `returns` declares."""
        types = tuple([column.type for column in columns])
        if _NULL in types:
            columns = list(map(_typed, columns, self.function.signature.parameters))
        try:
            if types not in self._seen:
                with compiling.one_process_compiles():
                    self._compile(columns)
                self._seen.add(types)
            if self._left_rows is None:
                self._left_rows = LeftRows(self.function)
            result = self._declared(self._called(columns))
        except Exception as error:
            self._note_values(error, columns)
            error.add_note(f"{self.function.name}: {self._place()}")
            raise
        self._batches += 1
        return result

    def _note_values(self, error: Exception, columns: Columns) -> None:
        """Add the values of the row that a note of an exception names."""
        before = f"{self.function.name}: row "
        for note in getattr(error, "__notes__", ()):
            row = note.removeprefix(before)
            if row != note and row.isdigit() and int(row) < len(columns[0]):
                pairs = zip(self.function.signature.parameters, map(_array, columns), strict=False)
                shown = [f"{each.name}={reprlib.repr(column[int(row)])}" for each, column in pairs]
                error.add_note(f"{self.function.name}: for {', '.join(shown)}")
                return

    def _handed_over(self, results: Array) -> object:
        return to_pyarrow(results)

    def _device(self) -> Device:
        """Returns the device of the task, for functions that may run there."""
        return task_device() if isinstance(self.function, Udf | Generator) else HOST

    def _compile(self, columns: Columns) -> None:
        self.function.compile(*[array.type for array in map(_array, columns)])
        if self._device() != HOST and not self._placing.stays_on_host:
            # Kernels compile when they run.
            self._called([column.slice(0, _FEW) for column in columns])

    def _called(self, columns: Columns) -> Array:
        arrays = list(map(_array, columns))
        rows = len(columns[0])
        device = self._placing.device(rows, self._device())
        if device != HOST:
            assert isinstance(self.function, Udf | Generator)
            try:
                self.function.require_device(*[array.type for array in arrays])
                with self._placing.timed(rows, device):
                    batch = RecordBatch.from_arrays(arrays, list(map(str, range(len(arrays)))))
                    result: Array = to_host(self.function(*to_device(batch, device).columns))
                    return result
            except (CompileError, UnsupportedError) as error:
                self._placing.stays_on_host = True
                warnings.warn(
                    f"{self.function.name} runs on the CPU, not on {device}: {error}", stacklevel=2
                )
        with self._placing.timed(rows, HOST):
            results: Array = self.function(*arrays)
            return results

    def _declared(self, results: Array) -> Array:
        """Returns the results as Spark expects them; compiled code has checked that they fit their type."""
        if self.returns is None or results.type is self.returns:
            return results
        if results.type == self.returns:
            return retyped(results, self.returns)
        return conformed(self.function.name, results, s.field("result", self.returns))

    def _place(self) -> str:
        task = TaskContext.get()
        partition = "" if task is None else f" of partition {task.partitionId()}"
        return f"in batch {self._batches}{partition}; rows are counted from its start"

    def __reduce__(self) -> tuple[object, ...]:
        use_this_python()
        parts = self.function, self.returns
        options = getattr(self.function, "options", None)
        if options is not None and options.fallback:
            # A function that runs in Python may keep counts in an object of each task.
            return type(self), parts
        return _of_pickle, (type(self), cloudpickle.dumps(parts))


def _of_pickle(kind: type[ArrowFunction], pickled: bytes) -> ArrowFunction:
    return kind(*_parts(pickled))


@functools.lru_cache(maxsize=64)
def _parts(pickled: bytes) -> tuple[Udf | Reducer | Generator, s.DataType | None]:
    """Returns a function and its result type: one object for all tasks of a worker, prepared once."""
    parts: tuple[Udf | Reducer | Generator, s.DataType | None] = pickle.loads(pickled)
    return parts


class ArrowAggregate(ArrowFunction):
    """A reducer that is called with the rows of one group, or of one window, after the other."""

    function: Reducer

    def _called(self, columns: Columns) -> Array:
        return self.function.reduce(*columns)

    def _handed_over(self, results: Array) -> object:
        # Spark makes an array of each group's value, which is faster for Python numbers.
        return (
            results.to_pylist()[0] if isinstance(results.type, _NUMBERS) else pa.array(results)[0]
        )

    def _place(self) -> str:
        return super()._place().replace("batch", "group")


def _array(column: pa.Array | Array) -> Array:
    return column if isinstance(column, Array) else from_pyarrow(column)


def _typed(column: pa.Array, parameter: Parameter) -> pa.Array | Array:
    """Returns a column; nulls without a type, as SQL's `NULL`, get the parameter's type."""
    wanted = column_type(parameter)
    return nulls(len(column), wanted) if column.type == _NULL and wanted is not None else column
