"""Literals beside uint64 values: unsigned themselves, as in NumPy.

To Numba a literal such as `1` is an int64, and an int64 with a uint64 gives an int64: `x + 1` would be
negative from 2**63 on, and `x // 10` wrong. A variable that is 0 or a uint64 would be a float.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import numpy as np
from numba import types
from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import TypingError
from numba.core.ir_utils import mk_unique_var
from numba.core.typed_passes import NopythonTypeInference, PartialTypeInference

_Meeting = tuple[str | None, list[tuple[Any, Any]]]

_ARITHMETIC = {
    getattr(operator, name)
    for word in ("add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor")
    for name in (f"{word}_" if word in ("and", "or") else word, f"i{word}")
}


@register_pass(mutates_CFG=False, analysis_only=False)
class UnsignedTypeInference(FunctionPass):  # type: ignore[misc]
    """Infers types, with literals that are not negative as uint64 where they meet uint64 values."""

    _name = "colkern_unsigned_type_inference"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
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
            if not _replace_literals(state.func_ir, state.typemap):
                break
            state.return_type = declared
        if wrong is not None:
            raise wrong
        return True


class _Kind(IntEnum):
    """What a variable is, as far as it is known; it never becomes less."""

    NONE = 0
    LITERAL = 1
    UNKNOWN = 2
    UNSIGNED = 3
    OTHER = 4


def _replace_literals(func_ir: Any, typemap: dict[str, Any]) -> bool:
    """Put uint64 constants in place of literals; whether there were any."""
    meetings = list(_meetings(func_ir))
    kinds = _kinds(func_ir, typemap, meetings)
    found = [
        (replace, variable)
        for _, meeting in meetings
        if _met(kinds, meeting) is _Kind.UNSIGNED
        for replace, variable in meeting
        if kinds.get(variable.name) is _Kind.LITERAL
    ]
    for replace, variable in found:
        replace(_constant_after(func_ir, variable, typemap[variable.name].literal_value))
    return bool(found)


def _kinds(func_ir: Any, typemap: dict[str, Any], meetings: list[_Meeting]) -> dict[str, _Kind]:
    """The kind of each variable. What Numba inferred says nothing of a variable that is the result of
    a meeting: a literal in a loop has made all of it signed, or floats."""
    kinds = {name: _kind(inferred) for name, inferred in typemap.items()}
    results = {name for name, _ in meetings if name and kinds.get(name) is not _Kind.LITERAL}
    kinds |= dict.fromkeys(results, _Kind.UNKNOWN)
    _settle(kinds, meetings)
    for name in results:
        if kinds[name] is _Kind.UNKNOWN:
            kinds[name] = _Kind.OTHER
    _settle(kinds, meetings)
    return kinds


def _settle(kinds: dict[str, _Kind], meetings: list[_Meeting]) -> None:
    """Carry kinds from variables to what is made of them, round loops too."""
    changed = True
    while changed:
        changed = False
        for name, meeting in meetings:
            if name is None or kinds[name] is _Kind.LITERAL:
                continue
            if _met(kinds, meeting) > kinds[name]:
                kinds[name] = _met(kinds, meeting)
                changed = True


def _kind(inferred: Any) -> _Kind:
    if isinstance(inferred, types.IntegerLiteral) and inferred.literal_value >= 0:
        return _Kind.LITERAL
    if isinstance(inferred, types.NoneType):
        return _Kind.NONE
    return _Kind.UNSIGNED if inferred == types.uint64 else _Kind.OTHER


def _met(kinds: dict[str, _Kind], meeting: list[tuple[Any, Any]]) -> _Kind:
    """The kind of what is made of variables: the largest; of literals alone, a signed number."""
    largest = max((kinds.get(v.name, _Kind.OTHER) for _, v in meeting), default=_Kind.OTHER)
    return largest if largest > _Kind.LITERAL else _Kind.OTHER


def _meetings(func_ir: Any) -> Iterator[_Meeting]:
    """Variables that are given one type, and the name of the one that they make, if any.

    Each of them is with what puts another one in its place.
    """
    returned = {
        statement.value.name
        for block in func_ir.blocks.values()
        for statement in block.find_insts(ir.Return)
    }
    results = []
    for block in func_ir.blocks.values():
        for assignment in block.find_insts(ir.Assign):
            name, value = assignment.target.name, assignment.value
            if isinstance(value, ir.Var):
                yield name, [(_part(assignment, "value"), value)]
            elif not isinstance(value, ir.Expr):
                continue
            elif value.op in ("binop", "inplace_binop"):
                if (value.fn if value.op == "binop" else value.immutable_fn) in _ARITHMETIC:
                    yield name, [(_part(value, n), getattr(value, n)) for n in ("lhs", "rhs")]
            elif value.op == "phi":
                incoming = value.incoming_values
                yield (
                    name,
                    [
                        (_item(incoming, place), variable)
                        for place, variable in enumerate(incoming)
                        if variable is not ir.UNDEFINED
                    ],
                )
            elif value.op == "cast" and name in returned:
                results.append((_part(value, "value"), value.value))
    yield None, results


def _part(expression: Any, name: str) -> Any:
    return lambda variable: setattr(expression, name, variable)


def _item(variables: list[Any], place: int) -> Any:
    return lambda variable: variables.__setitem__(place, variable)


def _constant_after(func_ir: Any, variable: Any, value: int) -> Any:
    """A new variable that is a constant, assigned where `variable` is."""
    for block in func_ir.blocks.values():
        for place, statement in enumerate(block.body):
            if isinstance(statement, ir.Assign) and statement.target.name == variable.name:
                made = ir.Var(block.scope, mk_unique_var("$unsigned"), variable.loc)
                constant = ir.Const(np.uint64(value), variable.loc)
                block.body.insert(place + 1, ir.Assign(constant, made, variable.loc))
                func_ir._definitions[made.name] = [constant]
                return made
    raise AssertionError(f"{variable} is used and nowhere assigned")
