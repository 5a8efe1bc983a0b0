"""Compiles expressions of a row function: each node of the syntax tree becomes a value."""

from __future__ import annotations

import ast
import enum
import operator
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import rows
from colkern.errors import shown
from colkern.kernels import row_values
from colkern.rows import enums
from colkern.rows import kinds as k
from colkern.rows.calls import call
from colkern.rows.comparisons import alike_tuples, compared, of_any_length
from colkern.rows.constants import wrapped
from colkern.rows.emitter import Emitter, derived
from colkern.rows.folding import OPERATORS, constant, evaluated, folded
from colkern.rows.front import is_constant_of, variables_of
from colkern.rows.integers import (
    by_power_of_two,
    is_signed,
    keeps_low_bits,
    low_bits,
    mask_first,
    operand_after,
    remainder_of_text,
)
from colkern.rows.library import REPLACED
from colkern.rows.program import Again, Block
from colkern.rows.several import by_class, by_number, is_instance, may_be_several
from colkern.rows.values import NONE, Value, inner, tuple_of_values


def expression(emitter: Emitter, node: ast.expr) -> Value:
    """Compiles an expression; returns its value."""
    write = _EXPRESSIONS.get(type(node))
    if write is None:
        emitter.node = node
        emitter.refuse(f"{type(node).__name__} has no compiled form")
    outer, emitter.node = emitter.node, node
    value = write(emitter, node)
    emitter.node = outer
    return value


def needed(emitter: Emitter, node: ast.expr) -> Value:
    """Compiles an expression where None raises a TypeError; returns its value."""
    return emitter.plain(expression(emitter, node))


def sought(emitter: Emitter, node: ast.expr) -> Value:
    """Compiles an expression where None raises no TypeError; rows where it is None are left to Python."""
    return emitter.plain(expression(emitter, node), row_values.LEFT)


# Names and constants


def _name(emitter: Emitter, node: ast.Name) -> Value:
    if node.id in emitter.env:
        return emitter.read(node.id)
    if node.id in emitter.locals:
        own = variables_of(emitter.definition.function.__code__)
        # Some have a longer name than the user's.
        is_own = not own.isdisjoint((node.id, node.id.rstrip("_")))
        reason = "is used before it has a value" if is_own else "is shared by all rows, and changes"
        emitter.refuse(f"{node.id} {reason}")
    if node.id not in emitter.definition.names:
        emitter.refuse(f"the name {node.id} is not defined")
    return constant(emitter.definition.names[node.id])


def _named(emitter: Emitter, node: ast.NamedExpr) -> Value:
    value = expression(emitter, node.value)
    emitter.assign(node.target.id, value)
    return value


# Operators


def _binary(emitter: Emitter, node: ast.BinOp) -> Value:
    node = mask_first(emitter, node)
    if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Call):
        remainder = remainder_of_text(emitter, node.left, node.right)
        if remainder is not None:
            return remainder
    left = (low_bits if keeps_low_bits(emitter, node) else needed)(emitter, node.left)
    is_format = isinstance(node.op, ast.Mod) and left.kind == k.TEXT
    compiled = sought if is_format else operand_after(left, node.op)
    right = partial(compiled, emitter, node.right)
    if isinstance(node.op, ast.Add) and left.kind == k.TEXT:
        return added(emitter, left, right)
    return operated(emitter, node.op, left, right())


Piece = Value | Callable[[], Value]
"""A text, or a function that writes the code of one."""


def added(emitter: Emitter, left: Value, piece: Piece) -> Value:
    """Compiles `left + piece` of texts.

    A constant or a parameter is written to the arena before the code of a piece runs: if the piece makes a
    text, that lies directly behind it, and neither has to be copied.
    """
    before, begun = emitter.state(), left
    if not isinstance(piece, Value):
        is_parameter = left.code.rpartition("_")[0] in emitter.definition.parameters
        if (left.constant if left.is_constant else is_parameter) and not emitter.dead:
            begun = call(emitter, "+", [left, constant("")])
        lines, names = len(emitter.block.lines), dict(emitter.env)
        piece = piece()
        # A piece that wrote no line may still have assigned a name, by `:=`.
        is_plain = len(emitter.block.lines) == lines and emitter.env == names
        if begun is not left and is_plain:
            emitter.restore(before)
            begun = left
    for value, other in ((begun, piece), (piece, begun)):
        if value.is_constant and value.constant == "" and other.kind == k.TEXT:
            return other
    return operated(emitter, ast.Add(), begun, piece)


def operated(emitter: Emitter, operation: ast.operator, left: Value, right: Value) -> Value:
    """Compiles an operator of two values, neither of them None."""
    name, function = OPERATORS[type(operation)]
    known = folded(function, left, right)
    if known is not None:
        is_wide = emitter.program.wraps and isinstance(known.constant, int)
        return constant(wrapped(known.constant)) if is_wide else known
    if (flags := enums.of_flags(emitter, name, left, right)) is not None:
        return flags
    if method := k.OPERATOR_METHODS.get(name):
        formats = name == "%" and left.kind in (k.TEXT, k.BYTES)
        reflected = "" if formats else method.replace("__", "__r", 1)
        result = rows.functions.special_of_either(emitter, method, reflected, left, right)
        if result is not None:
            return result
    counts = [getattr(side.kind, "default", "") == "count" for side in (left, right)]
    of_counts = REPLACED.get(f"Counter.{k.OPERATOR_METHODS.get(name)}")
    if all(counts) and of_counts:
        return rows.functions.users_function(emitter, of_counts, [left, right])
    for side in (left, right):
        if isinstance(side.kind, k.Container) and (side.kind.default or side.kind.most):
            emitter.refuse(
                "an operator of a deque, Counter, defaultdict or OrderedDict has no compiled form"
            )
    if name != "%" and any(k.is_row(side.kind) for side in (left, right)):
        emitter.refuse(f"`{name}` of a dictionary with constant keys has no compiled form")
    if isinstance(left.kind, k.Tuple) and isinstance(right.kind, k.Tuple) and name == "+":
        return tuple_of_values((*left.items, *right.items))
    if any(isinstance(side.constant, set | frozenset) for side in (left, right)):
        left, right = emitter.numbers(left), emitter.numbers(right)
    if name == "+":
        left, right = alike_tuples(emitter, left, right)
    elif name == "*":
        left, right = (
            of_any_length(emitter, side) if k.of_any_length(side.kind) else side
            for side in (left, right)
        )
    if name == "**" and isinstance(left.kind, k.Decimal) and right.constant in (2, 3):
        square = call(emitter, "*", [left, left])
        return square if right.constant == 2 else call(emitter, "*", [square, left])
    if name == "%" and left.kind == k.TEXT:
        if not left.is_constant:
            return emitter.left(k.TEXT, "a format that depends on the row")
        return rows.formatting.percent(emitter, left.constant, right)
    if name == "+" and _are_other_lists(left.kind, right.kind):
        return rows.comprehensions.concatenated(emitter, left, right)
    if (result := by_power_of_two(emitter, name, left, right.constant)) is not None:
        return result
    if name == "-" and left.constant == k.MOST_UNSIGNED and right.kind == k.UNSIGNED:
        return Value(k.UNSIGNED, emitter.bind(f"~{emitter.numbers(right).code}"))
    value = call(emitter, name, [left, right])
    if value.kind == k.UNSIGNED and is_signed(name, left.constant, right.constant):
        return Value(k.INT, value.code)
    if name in ("&", "|", "^") and {left.kind, right.kind} <= {k.BOOL, k.LOOSE_INT}:
        return value if value.kind == k.BOOL else Value(k.LOOSE_INT, value.code)
    return checked_loose(emitter, name, value, left, right)


def _are_other_lists(left: k.Kind, right: k.Kind) -> bool:
    """Whether two kinds are lists with items of different kinds."""
    if not isinstance(left, k.Container) or not isinstance(right, k.Container):
        return False
    if left.is_tuple or right.is_tuple or {left.name, right.name} != {"list"}:
        return False
    return k.NEVER not in (left.items + right.items) and left.items != right.items


def by_operator(
    emitter: Emitter, function: Any, arguments: list[Value], named: dict[str, Value]
) -> Value | None:
    """Compiles a function of `operator` as its operator; returns None if that is not of two values."""
    for kind, (_, known) in OPERATORS.items():
        if known is function and len(arguments) == 2 and not named:
            operation = kind()
            if isinstance(operation, ast.cmpop):
                return compared(emitter, operation, *arguments)
            assert isinstance(operation, ast.operator)
            return operated(emitter, operation, *arguments)
    return None


def checked_loose(emitter: Emitter, name: str, value: Value, *sides: Value) -> Value:
    """Returns the result of an operator; it stays loose if all its floats may be integers in Python."""
    if isinstance(value.kind, k.Tuple):
        return tuple_of_values(checked_loose(emitter, name, item, *sides) for item in value.items)
    kinds = [side.kind for side in sides]
    if value.kind == k.FLOAT and k.FLOAT not in kinds and k.LOOSE_FLOAT in kinds:
        if emitter.program.wraps:
            return value
        code = emitter.bind(value.code)
        test = f"abs({code}) >= {float(1 << 53)}"
        if name in ("+", "-", "*", "/"):
            # Of such integers, none is infinite; a power may be.
            test = f"({test}) & (abs({code}) <= {sys.float_info.max})"
        emitter.leave_if(test, "an integer of more than 53 bits beside floats")
        if name not in ("+", "-"):
            is_negative_zero = f"bits_of_float({code}) == (-9223372036854775807 - 1)"
            emitter.leave_if(is_negative_zero, "the sign of a zero that may be an integer")
        return Value(k.LOOSE_FLOAT, code)
    return value


def _unary(emitter: Emitter, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        return Value(k.BOOL, f"(not {condition(emitter, node.operand).code})")
    return operated_by(emitter, node.op, needed(emitter, node.operand))


def operated_by(emitter: Emitter, operation: ast.operator | ast.unaryop, *sides: Value) -> Value:
    """Compiles an operator of one value or two, none of them None."""
    if isinstance(operation, ast.operator):
        return operated(emitter, operation, *sides)
    (value,) = sides
    name, function = OPERATORS[type(operation)]
    if name == "~" and enums.is_flags(value.kind) and not value.is_constant:
        return enums.without(emitter, value)
    is_own = isinstance(value.kind, k.Compound)
    own = rows.functions.special(emitter, k.UNARY_METHODS[name], value) if is_own else None
    return (
        own
        or folded(function, value)
        or checked_loose(emitter, name, call(emitter, name, [value]), value)
    )


# Comparisons


@dataclass
class Condition:
    """A test.

    Args:
        holds: Values of variables if the test is true.
        fails: Values of variables if it is false.
        constant: The outcome, if it is known when the function is compiled.
    """

    code: str
    holds: dict[str, Value] = field(default_factory=dict)
    fails: dict[str, Value] = field(default_factory=dict)
    constant: bool | None = None


def condition(emitter: Emitter, node: ast.expr) -> Condition:
    """Compiles an expression as a test, with the facts about None that follow from it."""
    outer, emitter.node = emitter.node, node
    if isinstance(node, ast.BoolOp):
        result = _all_or_any(emitter, node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inside = condition(emitter, node.operand)
        known = None if inside.constant is None else not inside.constant
        result = Condition(f"(not {inside.code})", inside.fails, inside.holds, known)
    elif isinstance(node, ast.Compare):
        result = _comparison(emitter, node)
    else:
        result = _truth_of(emitter, node)
    emitter.node = outer
    return result


def _of_value(value: Value) -> Condition:
    if value.is_constant:
        return Condition(str(bool(value.constant)), constant=bool(value.constant))
    return Condition(value.code)


def _truth_of(emitter: Emitter, node: ast.expr) -> Condition:
    value = expression(emitter, node)
    result = _of_value(truth(emitter, value))
    name = node.target.id if isinstance(node, ast.NamedExpr) else getattr(node, "id", "")
    known = emitter.env.get(name)
    if known is not None and isinstance(known.kind, k.Optional):
        result.holds[name] = inner(known)
    _note_class(emitter, result, node)
    return result


def _note_class(emitter: Emitter, result: Condition, node: ast.expr) -> None:
    """Note the class of a variable that follows from `isinstance`."""
    match node:
        case ast.Call(function, [ast.Name(name), classes], []) if isinstance in (
            getattr(function, "value", None),
            rows.iteration.known_object(emitter, function),
        ):
            known = emitter.env.get(name, NONE)
            of = needed(emitter, classes).constant
            if may_be_several(known) and not known.unbound and not issubclass(type(None), of):
                _, result.holds[name], result.fails[name] = is_instance(known, of)


def truth(emitter: Emitter, value: Value) -> Value:
    """Compiles the truth value of a value."""
    if value.is_constant:
        return constant(bool(value.constant))
    if isinstance(value.kind, k.Optional):
        return emitter.chosen(
            value.none, lambda: constant(False), lambda: truth(emitter, inner(value))
        )
    if isinstance(value.kind, k.Several):
        return by_class(emitter, value, lambda each: truth(emitter, each))
    if isinstance(value.kind, k.Member):
        if enums.is_flags(value.kind):
            return enums.is_any(emitter, value)
        plain = enums.as_plain(emitter, value)
        if plain is value and any("__bool__" in vars(base) for base in value.kind.form.__mro__):
            emitter.refuse(f"whether {value.kind} is true has no compiled form")
        return constant(True) if plain is value else truth(emitter, plain)
    if isinstance(value.kind, k.Compound):
        for name in ("__bool__", "__len__"):
            if (result := rows.functions.special(emitter, name, value)) is not None:
                return truth(emitter, result)
        if isinstance(value.kind, k.Uneven):
            lacked = [item.items[0].code for item in value.items if k.is_unset(item.kind)]
            is_sure = len(lacked) < len(value.items)
            return constant(True) if is_sure else Value(k.BOOL, f"(not ({' & '.join(lacked)}))")
        return constant(bool(value.items) or not isinstance(value.kind, k.Tuple))
    if value.kind == k.BOOL:
        return value
    if value.kind.name in ("int", "unsigned", "float"):
        return Value(k.BOOL, f"({value.code} != 0)")
    if value.kind in (k.TEXT, k.BYTES):
        return Value(k.BOOL, f"({value.code}.size != 0)")
    if value.kind in (k.DATE, k.TIME, k.DATETIME) or isinstance(value.kind, k.Aware | k.Choice):
        return constant(True)
    if isinstance(value.kind, k.Container):
        length = call(emitter, "len", [value])
        return Value(k.BOOL, f"({length.code} != 0)")
    return call(emitter, "bool", [value])


def _comparison(emitter: Emitter, node: ast.Compare) -> Condition:
    operations = list(zip(node.ops, node.comparators, strict=True))
    left = expression(emitter, node.left)
    if len(operations) == 1:
        operation, right_node = operations[0]
        is_in = isinstance(operation, ast.In | ast.NotIn)
        right = (_looked_through if is_in else expression)(emitter, right_node)
        result = _of_value(compared(emitter, operation, left, right))
        _note_none(emitter, result, operation, (node.left, left), (right_node, right))
        return result

    def chain(left: Value, rest: list[tuple[ast.cmpop, ast.expr]]) -> Value:
        operation, right_node = rest[0]
        right = expression(emitter, right_node)
        value = compared(emitter, operation, left, right)
        if len(rest) == 1:
            return value
        first = emitter.numbers(value).code
        return _both(emitter, first, lambda: chain(right, rest[1:]))

    return _of_value(chain(left, operations))


def _both(emitter: Emitter, first: str, second: Callable[[], Value], is_and: bool = True) -> Value:
    """Compiles `and` or `or` of two tests; code of the second runs only if the first does not decide, or if
    it has no effect."""
    before = dict(emitter.env)
    value, again = _tried(emitter, second)
    env, emitter.env = emitter.env, before
    if again is None and (env == before or not is_and):
        return Value(k.BOOL, f"({first} {'&' if is_and else '|'} {value.code})")

    def other() -> Value:
        emitter.env = env
        if again is not None:
            again()
        return value

    sides = [other, lambda: constant(not is_and)]
    return emitter.chosen(first, *(sides if is_and else reversed(sides)))


def _tried(emitter: Emitter, write: Callable[[], Value]) -> tuple[Value, Callable[[], None] | None]:
    """Returns a value, and a function that inserts the lines it needs; None if it needs none.

    The lines are written only once: writing nested tests twice each would take exponential time.
    """
    outer, emitter.block = emitter.block, Block()
    was_dead = emitter.dead
    value = emitter.numbers(write())
    tried, emitter.block = emitter.block, outer
    dead, emitter.dead = emitter.dead, was_dead
    if not tried.lines:
        return value, None

    def again() -> None:
        if not emitter.dead:
            emitter.block.lines += tried.lines
        emitter.dead |= dead

    return value, again


def _note_none(
    emitter: Emitter, result: Condition, operation: ast.cmpop, *sides: tuple[ast.expr, Value]
) -> None:
    """Note the facts about a variable that follow from a comparison with None."""
    for (node, value), (_, other) in (sides, sides[::-1]):
        name = node.target.id if isinstance(node, ast.NamedExpr) else getattr(node, "id", "")
        known = emitter.env.get(name)
        if known is None or not isinstance(value.kind, k.Optional) or known.unbound:
            continue
        there = inner(known) if isinstance(known.kind, k.Optional) else known
        if other.kind == k.NONE and isinstance(operation, ast.Is | ast.Eq):
            result.holds[name], result.fails[name] = NONE, there
        elif other.kind == k.NONE and isinstance(operation, ast.IsNot | ast.NotEq):
            result.holds[name], result.fails[name] = there, NONE
        elif isinstance(operation, ast.Eq) and not isinstance(other.kind, k.Optional):
            result.holds[name] = there


def _all_or_any(emitter: Emitter, node: ast.BoolOp) -> Condition:
    """Compiles `and` and `or` as tests; later tests know the facts from earlier ones."""
    is_and = isinstance(node.op, ast.And)
    first = condition(emitter, node.values[0])
    if len(node.values) == 1:
        return first
    rest = node.values[1]
    if len(node.values) > 2:
        rest = ast.copy_location(ast.BoolOp(node.op, node.values[1:]), node)
    if first.constant is not None:
        return condition(emitter, rest) if first.constant == is_and else first
    known = first.holds if is_and else first.fails
    second: list[Condition] = []

    kept: dict[str, Value] = {}

    def then() -> Value:
        second.clear()
        kept.clear()
        emitter.env.update(known)
        second.append(condition(emitter, rest))
        # A variable that `:=` has bound since is not the one that the first test was about.
        kept.update({name: v for name, v in known.items() if emitter.env.get(name) == v})
        return Value(k.BOOL, second[0].code)

    value = _both(emitter, first.code, then, is_and)
    both = {**kept, **(second[0].holds if is_and else second[0].fails)}
    return Condition(value.code, both if is_and else {}, {} if is_and else both)


def _boolean(emitter: Emitter, node: ast.BoolOp) -> Value:
    """Compiles `and` and `or` as values: the first operand that decides."""
    is_and = isinstance(node.op, ast.And)

    def rest(values: list[ast.expr]) -> Value:
        left = expression(emitter, values[0])
        if len(values) == 1:
            return left
        test = _of_value(truth(emitter, left))
        if test.constant is not None:
            return rest(values[1:]) if test.constant == is_and else left
        name = getattr(values[0], "id", "")
        kept = inner(left) if not is_and else left
        of = getattr(left.kind, "of", None)
        if is_and and isinstance(of, k.Compound) and truth(emitter, inner(left)).constant:
            # A value such as a match is never false, so the operand that decides here is None.
            kept = NONE

        def other() -> Value:
            as_row_beside(emitter, inner(left).kind, values[1])
            if is_and and name in emitter.env and isinstance(left.kind, k.Optional):
                emitter.env[name] = inner(emitter.env[name])
            return rest(values[1:])

        if is_and:
            return emitter.chosen(test.code, other, lambda: kept)
        return emitter.chosen(test.code, lambda: kept, other)

    return rest(node.values)


def as_row_beside(emitter: Emitter, kind: k.Kind, node: ast.expr) -> None:
    """Compiles a display as a row if the value whose place it may take is a row."""
    if isinstance(node, ast.Dict) and (k.is_row(kind) or isinstance(kind, k.Uneven)):
        emitter.rows.add(id(node))


def in_branches(emitter: Emitter, node: ast.expr, make: Callable[[Value], Value]) -> Value:
    """Applies `make` to an expression's value; for `a if test else b` and `a or b`, in each branch.

    So the branches may be of different kinds, as in `str(n if n else "none")`.
    """
    if isinstance(node, ast.IfExp):
        test = condition(emitter, node.test)
        if test.constant is not None:
            return in_branches(emitter, node.body if test.constant else node.orelse, make)

        def side(known: dict[str, Value], branch: ast.expr) -> Callable[[], Value]:
            def write() -> Value:
                emitter.env.update(known)
                return in_branches(emitter, branch, make)

            return write

        return emitter.chosen(test.code, side(test.holds, node.body), side(test.fails, node.orelse))
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        left = expression(emitter, node.values[0])
        tested = _of_value(truth(emitter, left))
        if tested.constant is not None:
            return make(left) if tested.constant else in_branches(emitter, node.values[1], make)
        return emitter.chosen(
            tested.code,
            lambda: make(inner(left)),
            lambda: in_branches(emitter, node.values[1], make),
        )
    return make(expression(emitter, node))


# Parts


def with_attribute(emitter: Emitter, value: Value, name: str) -> Value:
    """Returns a value without None, which has no such attribute."""
    message = f"'NoneType' object has no attribute {name!r}"
    return emitter.plain(value, row_values.ATTRIBUTE_ERROR, message)


def attribute(emitter: Emitter, value: Value, name: str) -> Value:
    """Compiles an attribute of a value."""
    value = with_attribute(emitter, value, name)
    if isinstance(value.kind, k.Several):
        return by_class(emitter, value, lambda each: attribute(emitter, each, name))
    if isinstance(value.kind, k.Choice):
        return by_number(
            emitter,
            value.code,
            value.kind.among,
            lambda each: attribute(emitter, constant(each), name),
        )
    if value.is_constant and (value.kind.name == "object" or isinstance(value.constant, enum.Enum)):
        if not hasattr(value.constant, name):
            emitter.refuse(f"{shown(value.constant)} has no {name!r}")
        if isinstance(value.constant, threading.local):
            return constant(emitter.program.assumed(getattr, value.constant, name, None))
        return constant(getattr(value.constant, name))
    if isinstance(value.kind, k.Member):
        return enums.attribute(emitter, value, name)
    if getattr(value.kind, "form", None) is re.Match:
        return rows.matches.attribute_of_match(emitter, value, name)
    if k.is_row(value.kind) or isinstance(value.kind, k.Uneven):
        emitter.refuse(f"dict has no {name!r}")
    names: tuple[str, ...] = getattr(value.kind, "names", ())
    names = names or k.FIELDS_OF.get(getattr(value.kind, "form", tuple), ())
    if k.is_field_row(value.kind) and (
        name not in names or name.startswith("__") or hasattr(value.kind.form, name)
    ):
        # An attribute of the class hides a field of that name.
        emitter.refuse(f"{value.kind.form.__name__}.{name} is no field")
    if name in names:
        field = value.items[names.index(name)]
        if k.is_unset(field.kind):
            emitter.fail_if(field.items[0].code, row_values.LEFT, f"{name} has no value")
            field = field.items[1]
        return field
    if value.kind == k.EXCEPTION:
        return rows.exceptions.field(emitter, value, name)
    if isinstance(value.kind, k.Compound) and isinstance(
        getattr(value.kind.form, name, None), property
    ):
        return rows.functions.users_function(emitter, getattr(value.kind.form, name).fget, [value])
    if isinstance(value.kind, k.Record) and is_constant_of(value.kind.form, name):
        return constant(getattr(value.kind.form, name))
    method = rows.bound.method_of(emitter, value, name)
    return method or call(emitter, f"{k.type_name(value.kind)}.{name}", [value])


def _tuple(emitter: Emitter, node: ast.Tuple) -> Value:
    if any(isinstance(item, ast.Starred) for item in node.elts):
        whole: Any = tuple
        parts = ast.List(node.elts, ast.Load())
        make = partial(ast.Call, ast.Constant(whole), [parts], [])
        return expression(emitter, derived(node, "of a list", make))
    items = tuple(expression(emitter, item) for item in node.elts)
    if all(item.is_constant for item in items):
        return constant(tuple(item.constant for item in items))
    return tuple_of_values(map(emitter.numbers, items))


def _subscript(emitter: Emitter, node: ast.Subscript) -> Value:
    value = looked_into(emitter, node.value)
    if k.is_enum(value.constant):
        return enums.of_name(emitter, value.constant, sought(emitter, node.slice))
    if isinstance(value.constant, np.ndarray):
        return rows.containers.item(
            emitter, _numbers_of(emitter, value.constant), needed(emitter, node.slice)
        )
    if isinstance(node.slice, ast.Slice):
        bounds = [
            expression(emitter, bound) if bound is not None else NONE
            for bound in (node.slice.lower, node.slice.upper, node.slice.step)
        ]
        if all(bound.is_constant for bound in bounds):
            cut = slice(*(bound.constant for bound in bounds))
            if value.is_constant and value.kind.name != "object":
                return evaluated(emitter, operator.getitem, value.constant, cut)
            if isinstance(value.kind, k.Tuple) and not k.is_row(value.kind):
                return tuple_of_values(value.items[cut])
        # A bound that is None is no bound.
        bounds = [emitter.plain(bound, row_values.LEFT) for bound in bounds]
        if (result := rows.functions.special(emitter, "_slice_", value, *bounds)) is not None:
            return result
        name, limits = ("[:]", bounds[:2]) if bounds[2].kind == k.NONE else ("[::]", bounds)
        return call(emitter, name, [rows.containers.readable(emitter, value), *limits])
    is_dict = value.kind.name == "dict" or isinstance(value.constant, dict)
    return rows.containers.item(
        emitter, value, (sought if is_dict else needed)(emitter, node.slice)
    )


def _numbers_of(emitter: Emitter, array: NDArray[Any]) -> Value:
    """Returns a constant NumPy array as a list, for access to single items."""
    program = emitter.program
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        emitter.refuse(f"an array of {array.ndim} dimensions of {array.dtype} has no compiled form")
    if array.dtype.name not in ("bool", "int64", "float64") and not program.wraps:
        emitter.refuse(
            f"an array of {array.dtype} has a compiled form only with arithmetic='machine': what is "
            f"computed with its numbers has their width in NumPy"
        )
    if not program.wraps | program.has_numpy:
        raise Again(has_numpy=True)
    return constant(array.tolist())


def iterated(emitter: Emitter, value: Value) -> Value:
    """Returns the value that a loop reads: for a dictionary with constant keys the keys, for an enum the
    members, for an instance what its `__iter__` gives."""
    if isinstance(value.constant, enum.EnumMeta):
        return constant(tuple(value.constant))
    if isinstance(value.kind, k.Tuple) and k.is_row(value.kind):
        return constant(value.kind.names)
    if isinstance(value.kind, k.Record) and not k.has_iterator(value.kind):
        with emitter.ahead():
            items = rows.functions.special(emitter, "__iter__", value)
        if items is not None:
            emitter.read_later += k.containers_in(value.kind)
            value = (
                rows.comprehensions.listed(emitter, emitter.node, items)
                if k.has_iterator(items.kind)
                else items
            )
    return value


def looked_into(emitter: Emitter, node: ast.expr) -> Value:
    """Returns the value of an expression whose items are only read; constants displayed become one."""
    if isinstance(node, ast.List | ast.Set | ast.Dict):
        parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
        plain = [part for part in parts if part is not None and not isinstance(part, ast.Starred)]
        with emitter.looking():
            values = [expression(emitter, part) for part in plain]
        if len(values) == len(parts) and all(value.is_constant for value in values):
            items = [value.constant for value in values]
            if isinstance(node, ast.List):
                return constant(items)
            half = len(items) // 2
            return constant(
                set(items)
                if isinstance(node, ast.Set)
                else dict(zip(items[:half], items[half:], strict=True))
            )
    return needed(emitter, node)


def needed_arguments(emitter: Emitter, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    """Returns the arguments of a call, by position and by name, none of them None.

    A first one that is None raises a TypeError. Of others, None may be what Python takes by default: such
    rows are left to Python.
    """
    first = node.args[:1]
    return arguments_of(
        emitter, node, lambda emitter, part: (needed if part in first else sought)(emitter, part)
    )


def arguments_of(
    emitter: Emitter, node: ast.Call, compiled: Callable[[Emitter, ast.expr], Value] = expression
) -> tuple[list[Value], dict[str, Value]]:
    """Returns the arguments of a call, by position and by name, of any kind."""
    arguments = [compiled(emitter, part) for part in node.args]
    named = {}
    for word in node.keywords:
        if word.arg is None:
            emitter.refuse(f"`**` in {ast.unparse(node.func)}() has no compiled form")
        named[word.arg] = compiled(emitter, word.value)
    return arguments, named


def arguments_by_name(emitter: Emitter, node: ast.Call, *names: str) -> dict[str | None, ast.expr]:
    """Returns the expressions of a call's arguments by the names of the parameters."""
    arguments: dict[str | None, ast.expr] = dict(zip(names, node.args, strict=False))
    arguments |= {word.arg: word.value for word in node.keywords}
    if len(arguments) != len(node.args) + len(node.keywords) or not arguments.keys() <= {*names}:
        emitter.refuse(f"{ast.unparse(node.func)}() with such arguments has no compiled form")
    return arguments


def _looked_through(emitter: Emitter, node: ast.expr) -> Value:
    """Returns the value of an expression for a membership test; an iterator becomes a list."""
    if rows.iteration.builtin_of(emitter, node) in rows.iteration.VIEWS:
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Attribute)
        owner = looked_into(emitter, node.func.value)
        if node.func.attr == "keys":
            return owner
        if isinstance(owner.constant, dict):
            return constant(list(getattr(owner.constant, node.func.attr)()))
        return rows.comprehensions.as_list(emitter, node)
    if not rows.iteration.is_iterator(emitter, node):
        return looked_into(emitter, node)
    with emitter.ahead():
        return rows.comprehensions.as_items(emitter, node)


_EXPRESSIONS: dict[type[ast.expr], Callable[[Emitter, Any], Value]] = {
    ast.Constant: lambda _, node: constant(node.value),
    ast.Name: _name,
    ast.NamedExpr: _named,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: lambda e, node: Value(k.BOOL, condition(e, node).code),
    ast.BoolOp: _boolean,
    ast.IfExp: lambda e, node: in_branches(e, node, lambda value: value),
    ast.Attribute: lambda e, node: attribute(e, expression(e, node.value), node.attr),
    ast.Tuple: _tuple,
    ast.Subscript: _subscript,
    ast.JoinedStr: lambda e, node: rows.formatting.joined(e, node),
    ast.Call: lambda e, node: rows.invocations.invocation(e, node),
    ast.Lambda: lambda e, node: rows.bound.with_defaults(e, node),
    ast.ListComp: lambda e, node: rows.comprehensions.comprehension(e, node),
    ast.SetComp: lambda e, node: rows.comprehensions.comprehension(e, node),
    ast.DictComp: lambda e, node: rows.comprehensions.comprehension(e, node),
    ast.GeneratorExp: lambda e, node: rows.comprehensions.comprehension(e, node),
    ast.List: lambda e, node: rows.containers.display(e, node),
    ast.Set: lambda e, node: rows.containers.display(e, node),
    ast.Dict: lambda e, node: rows.containers.display(e, node),
}
