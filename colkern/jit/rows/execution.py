"""Running a function over arrays: its results become a column of one slot a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from colkern import schema as s
from colkern.arrays import Array
from colkern.jit.compiling.row_function import RowFunction
from colkern.jit.results.written_types import has_columns, written_type
from colkern.jit.rows.default_values import filled
from colkern.jit.rows.inputs import Inputs
from colkern.memory import Buffer
from colkern.operations import cast, nulls

if TYPE_CHECKING:
    from colkern.jit.rows.builder_loop import BuilderLoop
    from colkern.jit.rows.column_loop import ColumnLoop


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
        written = written_type(returns)
        self._is_cast = written != returns
        self._loop = _loop(name, inputs, function, written, place)

    def run(self, arrays: Sequence[Array], length: int) -> Array:
        """The results for arrays of one length, in host memory and of the plan's types."""
        if length == 0:
            return nulls(0, self._returns)
        passed, validity, null_count = self._inputs.of(arrays)
        if self._default is None or validity is None:
            return self.results(passed, validity, null_count, length)
        if not self._is_cast:
            made = self._loop.with_default(passed, length, self._default)
            if made is not None:
                return made
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
        made = self._loop.results(passed, validity, null_count, length)
        return cast(made, self._returns) if self._is_cast else made

    def compile(self, types: Sequence[s.DataType]) -> None:
        """Compile the loop for arrays of the plan's types; the function is not called.

        Raises:
            CompileError: If it does not compile.
        """
        self._loop.results(self._inputs.of_types(types), None, 0, 0)


def _loop(
    name: str,
    inputs: Inputs,
    function: RowFunction,
    written: s.DataType,
    place: str,
) -> ColumnLoop | BuilderLoop:
    """What runs the function; what the other kind needs is not imported."""
    if has_columns(written):
        from colkern.jit.rows.column_loop import ColumnLoop

        return ColumnLoop(name, inputs, function, written, place)
    from colkern.jit.rows.builder_loop import BuilderLoop

    return BuilderLoop(name, inputs, function, written, place)
