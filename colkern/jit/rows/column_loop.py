"""Results that stand side by side: a loop writes each into its slot of arrays as long as the rows."""

from __future__ import annotations

from typing import Any

from colkern import schema as s
from colkern.arrays import Array
from colkern.jit.compiling.row_function import RowFunction
from colkern.jit.results.outputs import Column, output_of
from colkern.jit.rows.flags import NEEDS_WRITING
from colkern.jit.rows.inputs import Inputs
from colkern.jit.rows.loops import Body, compile_loop
from colkern.jit.rows.row_loop import RowLoop
from colkern.memory import Buffer


class ColumnLoop:
    """How a function's results of a type with columns are written.

    Args:
        name: The function's name, for messages.
        inputs: How its arguments are read.
        function: The function.
        returns: The type of the results, as `colkern.jit.results.written_types.has_columns` has it.
        place: What messages call a slot.
    """

    def __init__(
        self, name: str, inputs: Inputs, function: RowFunction, returns: s.DataType, place: str
    ) -> None:
        self._output = output_of(name, returns, place)
        body = Body(self._output.parameters, tuple(self._output.lines("function({arguments})")))
        loop = compile_loop(function, inputs.readers, inputs.nullable, body)
        self._loop = RowLoop(name, loop, returns, place)

    def results(
        self, passed: list[Any], validity: Buffer | None, null_count: int, length: int
    ) -> Array:
        """As `Plan.results`, in the type that is written."""
        column = self._output.column(length)
        return self._write(column, passed, length).array(validity, null_count)

    def with_default(self, passed: list[Any], length: int, default: Array) -> Array | None:
        """The results, with the value of an array of one slot where the function is not called; None
        if there is no place for it before the loop runs."""
        column = self._output.column(length)
        return self._write(column, passed, length).array(None, 0) if column.fill(default) else None

    def _write(self, column: Column, passed: list[Any], length: int) -> Column:
        """Measure, make room, write: byte strings that outlive the call are written from where they
        are, others by running the function again."""
        flags = self._loop.run(length, [*passed, *column.arguments()])
        column.measured()
        if flags & NEEDS_WRITING:
            self._loop.run(length, [*passed, *column.arguments()])
        else:
            column.gather()
        return column
