"""Comparisons that can never hold are refused when a function is compiled.

Numba, as Python, finds a number and a text simply unequal. A byte of a byte string is a number, so
`b[0] == "a"` would never hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cache

from numba import types
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder, StateDict
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.errors import TypingError
from numba.core.typed_passes import NopythonTypeInference
from numba.core.untyped_passes import DeadBranchPrune

from colkern.jit.compiling.replacements import PruneDeadBranches, ReplaceOperations

_EQUALITY = (operator.eq, operator.ne)


@register_pass(mutates_CFG=False, analysis_only=True)
class RefuseUnequalKinds(AnalysisPass):
    """Refuses `==`, `!=` and `in` between numbers and text."""

    _name = "colkern_refuse_unequal_kinds"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Look at every comparison, with the types that were inferred."""
        for expression in _comparisons(state.func_ir):
            left, right = (state.typemap[v.name] for v in (expression.lhs, expression.rhs))
            if _is_never_equal(expression.fn, left, right):
                raise TypingError(
                    "a number is compared with text, and never equal to it; "
                    "a byte of a byte string is a number: write ord('a') for 'a'",
                    loc=expression.loc,
                )
        return False


def _comparisons(func_ir: ir.FunctionIR) -> Iterator[ir.Expr]:
    for block in func_ir.blocks.values():
        for assignment in block.find_insts(ir.Assign):
            value = assignment.value
            if isinstance(value, ir.Expr) and value.op in ("binop", "inplace_binop"):
                yield value


def _is_never_equal(operation: Callable[..., object], left: types.Type, right: types.Type) -> bool:
    if operation in _EQUALITY:
        return _differ_in_kind(left, right)
    if operation is operator.contains and isinstance(left, types.BaseTuple):
        members = list(left)
        return bool(members) and all(_differ_in_kind(member, right) for member in members)
    return False


@cache
def _text_types() -> tuple[type, ...]:
    # Imported by what compiles alone, not by what finds its code in the cache.
    from colkern.jit.elements.types import SequenceType

    return (types.UnicodeType, types.StringLiteral, types.Bytes, SequenceType)


def _differ_in_kind(left: types.Type, right: types.Type) -> bool:
    left, right = _without_none(left), _without_none(right)
    return any(
        isinstance(a, types.Number | types.Boolean) and isinstance(b, _text_types())
        for a, b in ((left, right), (right, left))
    )


def _without_none(kind: types.Type) -> types.Type:
    return kind.type if isinstance(kind, types.Optional) else kind


class CheckedCompiler(CompilerBase):
    """Numba's compiler with the checks of this module."""

    def define_pipelines(self) -> list[PassManager]:
        """The usual passes, and ours once types are known."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(ReplaceOperations, NopythonTypeInference)
        passes.add_pass_after(RefuseUnequalKinds, NopythonTypeInference)
        passes.passes = [
            (PruneDeadBranches, text) if step is DeadBranchPrune else (step, text)
            for step, text in passes.passes
        ]
        passes.finalize()
        return [passes]
