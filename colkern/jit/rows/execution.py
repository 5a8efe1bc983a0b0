"""Running a function over arrays: what its loop writes becomes a column of one result a slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colkern import schema as s
from colkern.arrays import Array
from colkern.jit.compiling.row_function import RowFunction
from colkern.jit.results.outputs import Column, output_of
from colkern.jit.rows.default_values import filled
from colkern.jit.rows.flags import NEEDS_WRITING
from colkern.jit.rows.inputs import Inputs
from colkern.jit.rows.loops import Body, compile_loop
from colkern.jit.rows.row_loop import RowLoop
from colkern.memory import Buffer
from colkern.operations import nulls


class Plan:
    """How a function runs over arrays of certain types.

    Args:
        name: The function's name, for messages.
        inputs: How its arguments are read.
        function: The function.
        returns: The type of the results.
        place: What messages call a slot.
        default: The result where an argument is null that the function does not take as None: one
            slot of the type; None to make it null.
    """

    def __init__(
        self,
        name: str,
        inputs: Inputs,
        function: RowFunction,
        returns: s.DataType,
        place: str = "row",
        default: Array | None = None,
    ) -> None:
        self._default = default
        self._inputs = inputs
        self._returns = returns
        self._output = output_of(name, returns, place)
        body = Body(self._output.parameters, tuple(self._output.lines("function({arguments})")))
        loop = compile_loop(function, inputs.readers, inputs.nullable, body)
        self._loop = RowLoop(name, loop, returns, place)

    def run(self, arrays: Sequence[Array], length: int) -> Array:
        """The results for arrays of one length, in host memory and of the plan's types."""
        if length == 0:
            return nulls(0, self._returns)
        passed, validity, null_count = self._inputs.of(arrays)
        if self._default is None or validity is None:
            return self.results(passed, validity, null_count, length)
        column = self._output.column(length)
        if column.fill(self._default):
            return self._write(column, passed, length).array(None, 0)
        return filled(self.results(passed, validity, null_count, length), validity, self._default)

    def results(
        self, passed: list[Any], validity: Buffer | None, null_count: int, length: int
    ) -> Array:
        """The results for what the loop takes before its outputs.

        Args:
            passed: As from `Inputs.of`.
            validity: The bitmap of the slots that the function is called for.
            null_count: For how many it is not called.
            length: How many slots there are.
        """
        column = self._output.column(length)
        return self._write(column, passed, length).array(validity, null_count)

    def compile(self, types: Sequence[s.DataType]) -> None:
        """Compile the loop for arrays of the plan's types; the function is not called.

        Raises:
            CompileError: If it does not compile.
        """
        self._write(self._output.column(0), self._inputs.of_types(types), 0)

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
