"""Operations that Numba computes as neither Python nor machine arithmetic does: exchanged, or refused.

- The least integer divided by -1 wraps around, as all arithmetic of integers here does; Numba has 0.
- A comparison with None that is decided by types: Numba makes an integer of it, and of
  `x is not None and x > 5` too.
- `str` of the least integer, of which Numba runs out of memory.
- `str` and `repr` of values without a text in compiled code: Numba gives `<object type:float64>`.
- Comparisons of numbers with text, which Numba, as Python, finds simply unequal. A byte of a byte string
  is a number, so `b[0] == "a"` would never hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache

import numpy as np
from numba import types
from numba.core import ir
from numba.core.analysis import dead_branch_prune
from numba.core.compiler import CompilerBase, DefaultPassBuilder, StateDict
from numba.core.compiler_machinery import (
    FunctionPass,
    PassManager,
    SSACompliantMixin,
    register_pass,
)
from numba.core.errors import TypingError
from numba.core.ir_utils import mk_unique_var
from numba.core.typed_passes import NopythonTypeInference
from numba.core.untyped_passes import DeadBranchPrune

from colkern.jit.lowering import by_types, without_none
from colkern.kernels.intrinsics import floor_quotient, quotient_and_rest


def _is_never_equal(operation: object, left: types.Type, right: types.Type) -> bool:
    if operation in (operator.eq, operator.ne):
        return _differ_in_kind(left, right)
    if operation is operator.contains and isinstance(left, types.BaseTuple):
        members = list(left)
        return bool(members) and all(_differ_in_kind(member, right) for member in members)
    return False


@cache
def _text_types() -> tuple[type, ...]:
    # Imported only for compiling: code from the cache does not need it.
    from colkern.jit.elements.types import SequenceType

    return (types.UnicodeType, types.StringLiteral, types.Bytes, SequenceType)


def _differ_in_kind(left: types.Type, right: types.Type) -> bool:
    left, right = without_none(left), without_none(right)
    return any(
        isinstance(a, types.Number | types.Boolean) and isinstance(b, _text_types())
        for a, b in ((left, right), (right, left))
    )


class CheckedCompiler(CompilerBase):
    """Numba's compiler with the checks of this module."""

    def define_pipelines(self) -> list[PassManager]:
        """The usual passes, and ours once types are known."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(ReplaceOperations, NopythonTypeInference)
        passes.passes = [
            (PruneDeadBranches, text) if step is DeadBranchPrune else (step, text)
            for step, text in passes.passes
        ]
        passes.finalize()
        return [passes]


@by_types
def integer_text(number):
    """`str(number)` of a signed integer."""

    def text(number):
        wide = np.int64(number)
        return "-9223372036854775808" if wide == np.int64(-(2**63)) else str(wide)

    return text


@register_pass(mutates_CFG=True, analysis_only=False)
class PruneDeadBranches(SSACompliantMixin, FunctionPass):
    """Numba's pass of that name, with conditions that stay booleans where they become constants."""

    _name = "colkern_prune_dead_branches"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Prune, and look at what were comparisons."""
        conditions = [
            assignment
            for block in state.func_ir.blocks.values()
            for assignment in block.find_insts(ir.Assign)
            if isinstance(assignment.value, ir.Expr) and assignment.value.op == "binop"
        ]
        dead_branch_prune(state.func_ir, state.args)
        for assignment in conditions:
            if isinstance(assignment.value, ir.Const):
                assignment.value.value = bool(assignment.value.value)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class ReplaceOperations(FunctionPass):
    """Exchanges operations, or refuses them, by the types that were inferred."""

    _name = "colkern_replace_operations"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Look at every operation and every call."""
        changed = False
        for block in state.func_ir.blocks.values():
            body = []
            for statement in block.body:
                if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
                    replacement = _replaced(state, block.scope, statement.value)
                    if replacement is not None:
                        name, statement.value = replacement
                        body.append(name)
                        changed = True
                body.append(statement)
            block.body = body
        return changed


def _replaced(
    state: StateDict, scope: ir.Scope, expression: ir.Expr
) -> tuple[ir.Assign, ir.Expr] | None:
    """The statement that names a function, and a call of it in place of an expression."""
    function, operands = _operation(state.typemap, expression)
    if function in (str, repr):
        _require_text(state, expression, operands)
    operand_types = [state.typemap[operand.name] for operand in operands]
    if len(operand_types) == 2 and _is_never_equal(function, *operand_types):
        raise TypingError(
            "a number is compared with text, and never equal to it; "
            "a byte of a byte string is a number: write ord('a') for 'a'",
            loc=expression.loc,
        )
    replacement = _REPLACEMENTS.get(function)
    if replacement is None or not operand_types or _is_harmless(operand_types[-1]):
        return None
    # One that may be None is cast: that raises TypeError where it is.
    kinds = tuple(map(without_none, state.calltypes[expression].args))
    if not all(isinstance(kind, types.Integer) and kind.signed for kind in kinds):
        return None
    return _call(state, scope, expression, replacement, operands, kinds)


def _is_harmless(operand: types.Type) -> bool:
    """Whether a divisor, or an integer whose text is made, is a literal that Numba has right."""
    is_known = isinstance(operand, types.IntegerLiteral)
    return is_known and operand.literal_value not in (-1, -(2**63))


def _operation(typemap: dict[str, types.Type], expression: ir.Expr) -> tuple[object, list[ir.Var]]:
    """The function that an expression computes, and its operands."""
    if expression.op == "binop":
        return expression.fn, [expression.lhs, expression.rhs]
    if expression.op == "inplace_binop":
        return expression.immutable_fn, [expression.lhs, expression.rhs]
    if expression.op == "call" and not expression.kws:
        called = typemap[expression.func.name]
        return getattr(called, "typing_key", None), list(expression.args)
    return None, []


def _call(
    state: StateDict,
    scope: ir.Scope,
    expression: ir.Expr,
    function: Callable[..., object],
    operands: list[ir.Var],
    kinds: tuple[types.Type, ...],
) -> tuple[ir.Assign, ir.Expr]:
    loc = expression.loc
    del state.calltypes[expression]
    name = ir.Var(scope, mk_unique_var("$replacement"), loc)
    kind = state.typingctx.resolve_value_type(function)
    call = ir.Expr.call(name, operands, (), loc)
    state.typemap[name.name] = kind
    state.calltypes[call] = kind.get_call_type(state.typingctx, kinds, {})
    named = ir.Global(function.__name__, function, loc)
    state.func_ir._definitions[name.name] = [named]
    return ir.Assign(named, name, loc), call


def _require_text(state: StateDict, expression: ir.Expr, operands: list[ir.Var]) -> None:
    for operand in operands:
        kind = state.typemap[operand.name]
        resolve = state.typingctx.resolve_getattr
        if resolve(kind, "__str__") is None and resolve(kind, "__repr__") is None:
            raise TypingError(
                f"no text is made of {kind} in compiled code: str(x) is there for integers, "
                f"booleans and text",
                loc=expression.loc,
            )


_REPLACEMENTS: dict[object, Callable[..., object]] = {
    operator.floordiv: floor_quotient,
    divmod: quotient_and_rest,
    str: integer_text,
    repr: integer_text,
}
