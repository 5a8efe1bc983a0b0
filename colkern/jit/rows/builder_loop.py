"""Results of any size and nesting: a loop appends each to a builder, one for each range of rows."""

from __future__ import annotations

from typing import Any

from colkern import schema as s
from colkern.arrays import Array
from colkern.cpu.threads import run_ranges
from colkern.jit.building.builder import Builder
from colkern.jit.building.builder_type import BuilderType
from colkern.jit.compiling.row_function import RowFunction
from colkern.jit.rows.inputs import Inputs
from colkern.jit.rows.loops import Body, Names, compile_loop
from colkern.jit.rows.row_loop import RowLoop, run_noted
from colkern.operations.selection.concatenation import join_arrays

_SAMPLE = 4096
"""As many rows say how much room the others are likely to need."""

_RESULTS = Body(
    ("out",),
    slot=("out.append(function({arguments}))",),
    absent=("out.append_null()",),
    before=("out.reserve(stop - start)",),
)
"""What the function returns is a slot."""


def _taught() -> dict[str, Any]:
    """Nothing that loops name; their methods, by type."""
    import colkern.jit.building.methods  # noqa: F401

    return {}


_METHODS = Names("builder", _taught)


class BuilderLoop:
    """How a function's results are appended.

    Args:
        name: The function's name, for messages.
        inputs: How its arguments are read.
        function: The function.
        returns: The type of the results.
        place: What messages call a slot.
    """

    def __init__(
        self,
        name: str,
        inputs: Inputs,
        function: RowFunction,
        returns: s.DataType,
        place: str,
    ) -> None:
        loop = compile_loop(function, inputs.readers, inputs.nullable, _RESULTS, _METHODS)
        self._loop = RowLoop(name, loop, returns, place)
        self._type = BuilderType(returns)

    def results(self, passed: list[Any], validity: Any, null_count: int, length: int) -> Array:
        """As `Plan.results`: the loop has the bitmap among what is `passed`, and counts nulls."""
        self._loop.compile([*passed, self._builder()])
        built = run_ranges(self._build, length, (passed,))
        return built[0] if len(built) == 1 else join_arrays(built)

    def with_default(self, passed: list[Any], length: int, default: Array) -> Array | None:
        """None: there is no place for a default before the loop runs."""
        return None

    def _builder(self) -> Builder:
        out = Builder(self._loop.returns)
        # Asked for it, a builder imports what compiled code does with it, too.
        out._typeof = self._type
        return out

    def _build(self, start: int, stop: int, passed: list[Any]) -> Array:
        """The results of a range of rows."""

        def build(start: int, stop: int) -> Array:
            out = self._builder()
            sampled = min(start + _SAMPLE, stop)
            self._loop.run_range(start, sampled, [*passed, out])
            if sampled < stop:
                out.expect((stop - sampled) / (sampled - start))
                self._loop.run_range(sampled, stop, [*passed, out])
            return out.finish()

        built: Array = run_noted(build, self._loop.name, start, stop, self._loop.place)
        return built
