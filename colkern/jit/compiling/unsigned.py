"""Literals beside uint64 values: unsigned themselves, as in NumPy.

To Numba a literal such as `1` is an int64, and an int64 with a uint64 gives an int64: `x + 1` would be
negative from 2**63 on, and `x // 10` wrong. A variable that is 0 or a uint64 would be a float.
Signed integers that are no such literals would do the same, and are refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import reduce
from operator import or_

import numpy as np
from numba import types
from numba.core import ir
from numba.core.compiler import StateDict
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import TypingError
from numba.core.ir_utils import mk_unique_var
from numba.core.typed_passes import NopythonTypeInference, PartialTypeInference

Replace = Callable[[ir.Var], None]
"""Puts another variable in the place of one."""


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Variables that are given one type.

    Args:
        name: That of the variable that they make, if any.
        variables: Each with the function that replaces it there.
        loc: Where it is.
    """

    name: str | None
    variables: list[tuple[Replace, ir.Var]]
    loc: ir.Loc


_ARITHMETIC = {
    getattr(operator, name)
    for word in ("add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor")
    for name in (f"{word}_" if word in ("and", "or") else word, f"i{word}")
}


@register_pass(mutates_CFG=False, analysis_only=False)
class UnsignedTypeInference(FunctionPass):
    """Infers types, with literals that are not negative as uint64 where they meet uint64 values."""

    _name = "colkern_unsigned_type_inference"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Infer types again with other literals, until none is left that meets a uint64."""
        declared = state.return_type
        while True:
            wrong = None
            try:
                NopythonTypeInference().run_pass(state)
            except TypingError as error:
                # A float that should be a uint64, perhaps.
                wrong = error
                PartialTypeInference().run_pass(state)
            meetings = list(_meetings(state.func_ir, state.typemap))
            kinds = _kinds(state.typemap, meetings)
            if not _replace_literals(state.func_ir, state.typemap, meetings, kinds):
                break
            state.return_type = declared
        _refuse_mixed(meetings, kinds)
        if wrong is not None:
            raise wrong
        return True


class _Kind(IntEnum):
    """The kind of a variable, as far as it is known; it never becomes less."""

    NONE = 0
    LITERAL = 1
    UNKNOWN = 2
    UNSIGNED = 4
    SIGNED = 8
    MIXED = UNSIGNED | SIGNED
    OTHER = 16


def _replace_literals(
    func_ir: ir.FunctionIR,
    typemap: dict[str, types.Type],
    meetings: list[_Meeting],
    kinds: dict[str, _Kind],
) -> bool:
    """Put uint64 constants in place of literals; whether there were any."""
    literals = [
        (replace, variable)
        for meeting in meetings
        if _met(kinds, meeting) is _Kind.UNSIGNED
        for replace, variable in meeting.variables
        if kinds.get(variable.name) is _Kind.LITERAL
    ]
    for replace, variable in literals:
        replace(_constant_after(func_ir, variable, typemap[variable.name].literal_value))
    return bool(literals)


def _refuse_mixed(meetings: list[_Meeting], kinds: dict[str, _Kind]) -> None:
    """TypingError where a uint64 meets a signed integer, at the first line that has one of them."""
    mixed = [meeting for meeting in meetings if _met(kinds, meeting) is _Kind.MIXED]
    begun = [
        meeting
        for meeting in mixed
        if any(kinds.get(variable.name) is _Kind.SIGNED for _, variable in meeting.variables)
    ]
    if mixed:
        raise TypingError(
            "a uint64 meets a signed integer, and no integer holds both; "
            "write np.uint64(i) of the one, np.int64(x) of the other, or float(x)",
            loc=min((meeting.loc for meeting in begun or mixed), key=lambda loc: loc.line),
        )


def _kinds(typemap: dict[str, types.Type], meetings: list[_Meeting]) -> dict[str, _Kind]:
    """The kind of each variable. The type that Numba inferred says nothing of a variable that is the result
    of a meeting: a literal in a loop has made all of it signed, or floats."""
    kinds = {name: _kind(inferred) for name, inferred in typemap.items()}
    names = [meeting.name for meeting in meetings]
    results = {name for name in names if name and kinds.get(name) is not _Kind.LITERAL}
    kinds |= dict.fromkeys(results, _Kind.UNKNOWN)
    _settle(kinds, meetings)
    for name in results:
        if kinds[name] is _Kind.UNKNOWN:
            kinds[name] = _Kind.OTHER
    _settle(kinds, meetings)
    return kinds


def _settle(kinds: dict[str, _Kind], meetings: list[_Meeting]) -> None:
    """Carry kinds from variables to the results of their meetings, round loops too."""
    changed = True
    while changed:
        changed = False
        for meeting in meetings:
            name = meeting.name
            if name is None or kinds[name] is _Kind.LITERAL:
                continue
            if _met(kinds, meeting) > kinds[name]:
                kinds[name] = _met(kinds, meeting)
                changed = True


def _kind(inferred: types.Type) -> _Kind:
    if isinstance(inferred, types.IntegerLiteral) and inferred.literal_value >= 0:
        return _Kind.LITERAL
    if isinstance(inferred, types.NoneType):
        return _Kind.NONE
    if isinstance(inferred, types.Integer) and inferred.signed:
        return _Kind.SIGNED
    return _Kind.UNSIGNED if inferred == types.uint64 else _Kind.OTHER


def _met(kinds: dict[str, _Kind], meeting: _Meeting) -> _Kind:
    """The kind of the result of a meeting: the largest; of literals alone, a signed number."""
    own = {kinds.get(variable.name, _Kind.OTHER) for _, variable in meeting.variables}
    if _Kind.OTHER not in own and own & {_Kind.MIXED, _Kind.UNSIGNED, _Kind.SIGNED}:
        return _Kind(reduce(or_, (kind & _Kind.MIXED for kind in own)))
    largest = max(own, default=_Kind.OTHER)
    return largest if largest > _Kind.LITERAL else _Kind.SIGNED


def _meetings(func_ir: ir.FunctionIR, typemap: dict[str, types.Type]) -> Iterator[_Meeting]:
    """The meetings of a function: assignments, operations, calls of `max` and `min`, results."""
    returned = {
        statement.value.name
        for block in func_ir.blocks.values()
        for statement in block.find_insts(ir.Return)
    }
    results = []
    for block in func_ir.blocks.values():
        for assignment in block.find_insts(ir.Assign):
            name, value, loc = assignment.target.name, assignment.value, assignment.loc
            if isinstance(value, ir.Var):
                yield _Meeting(name, [(_part(assignment, "value"), value)], loc)
            elif not isinstance(value, ir.Expr):
                continue
            elif value.op in ("binop", "inplace_binop"):
                if (value.fn if value.op == "binop" else value.immutable_fn) in _ARITHMETIC:
                    sides = [(_part(value, n), getattr(value, n)) for n in ("lhs", "rhs")]
                    yield _Meeting(name, sides, loc)
            elif value.op == "call" and _calls(typemap, value, (max, min)):
                value.args = list(value.args)
                yield _Meeting(
                    name, [(_item(value.args, n), v) for n, v in enumerate(value.args)], loc
                )
            elif value.op == "phi":
                incoming = value.incoming_values
                defined = [
                    (_item(incoming, place), variable)
                    for place, variable in enumerate(incoming)
                    if variable is not ir.UNDEFINED
                ]
                yield _Meeting(name, defined, loc)
            elif value.op == "cast" and name in returned:
                results.append((_part(value, "value"), value.value))
                last = loc
    if results:
        yield _Meeting(None, results, last)


def _calls(typemap: dict[str, types.Type], call: ir.Expr, functions: tuple[object, ...]) -> bool:
    called = typemap.get(call.func.name)
    return isinstance(called, types.Function) and called.typing_key in functions


def _part(expression: ir.Inst, name: str) -> Replace:
    return lambda variable: setattr(expression, name, variable)


def _item(variables: list[ir.Var], place: int) -> Replace:
    return lambda variable: variables.__setitem__(place, variable)


def _constant_after(func_ir: ir.FunctionIR, variable: ir.Var, value: int) -> ir.Var:
    """A new variable that is a constant, assigned where `variable` is."""
    for block in func_ir.blocks.values():
        for place, statement in enumerate(block.body):
            if isinstance(statement, ir.Assign) and statement.target.name == variable.name:
                unsigned = ir.Var(block.scope, mk_unique_var("$unsigned"), variable.loc)
                constant = ir.Const(np.uint64(value), variable.loc)
                block.body.insert(place + 1, ir.Assign(constant, unsigned, variable.loc))
                func_ir._definitions[unsigned.name] = [constant]
                return unsigned
    raise AssertionError(f"{variable} is used and nowhere assigned")
