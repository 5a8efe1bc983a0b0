"""Comparisons of two values in row functions: equality, order and identity."""

from __future__ import annotations

import ast
import math
import operator
from dataclasses import fields, replace
from decimal import Decimal

from colkern import rows
from colkern.errors import UnsupportedError
from colkern.kernels import row_items, row_values
from colkern.rows import enums
from colkern.rows import kinds as k
from colkern.rows.calls import as_tuple, call
from colkern.rows.constants import has_64_bits
from colkern.rows.emitter import Emitter, derived
from colkern.rows.folding import OPERATORS, constant, folded
from colkern.rows.library import REPLACED
from colkern.rows.several import by_class, may_be_several
from colkern.rows.values import Value, inner, tuple_of_values


def compared(emitter: Emitter, operation: ast.cmpop, left: Value, right: Value) -> Value:
    """Compiles a comparison; returns its outcome."""
    if isinstance(operation, ast.Is | ast.IsNot):
        return _identical(emitter, left, right, isinstance(operation, ast.Is))
    if isinstance(operation, ast.In | ast.NotIn):
        value = _membership(emitter, left, emitter.plain(right))
        return value if isinstance(operation, ast.In) else _negated(value)
    name, function = OPERATORS[type(operation)]
    if name == "!=":
        parts = [*k.parts_of(left.kind), *k.parts_of(right.kind)]
        forms = [part.form for part in parts if isinstance(part, k.Compound)]
        forms += [type(left.constant), type(right.constant)]
        if any(k.written_method(form, "__ne__") for form in forms):
            emitter.refuse("a class's own != has no compiled form")
    if name in ("==", "!="):
        value = equal(emitter, left, right)
        return value if name == "==" else _negated(value)
    left, right = emitter.plain(left), emitter.plain(right)
    if k.is_plain(left.kind):
        return by_class(emitter, left, lambda each: compared(emitter, operation, each, right))
    if k.is_plain(right.kind):
        return by_class(emitter, right, lambda each: compared(emitter, operation, left, each))
    _refuse_several(emitter, left, right)
    result = _by_method(emitter, type(operation), left, right)
    if result is not None:
        return result
    left, right = _constants_alike(left, right)
    known = folded(function, left, right)
    if known is not None:
        return known
    if any(k.is_row(side.kind) for side in (left, right)):
        emitter.refuse("dictionaries have no order")
    if _are_decimal_and_float(left.kind, right.kind):
        return emitter.left(k.BOOL, "a decimal compared with a float")
    left, right = alike_tuples(emitter, left, right)
    if k.is_tuple(left.kind) != k.is_tuple(right.kind):
        emitter.fail(row_values.TYPE_ERROR, f"{name} of {left.kind} and {right.kind}")
        return Value(k.BOOL, "False")
    if isinstance(left.kind, k.Tuple) and isinstance(right.kind, k.Tuple):
        return _ordered(emitter, operation, left, right)
    if isinstance(left.kind, k.Record) and left.kind == right.kind:
        return _ordered_records(emitter, operation, left, right)
    return call(emitter, name, [_exactly(left), _exactly(right)])


def _refuse_several(emitter: Emitter, *sides: Value) -> None:
    if any(isinstance(side.kind, k.Several) for side in sides):
        emitter.refuse("a comparison of an instance of one of several classes has no compiled form")


def _membership(emitter: Emitter, value: Value, container: Value) -> Value:
    """Compiles `value in container`. None may be in a container, but a text refuses it."""
    items = container.constant if container.is_constant else container.kind
    may_have_none = isinstance(
        items, tuple | list | dict | set | frozenset | range | k.Tuple | k.Container
    )
    if not may_have_none or not isinstance(value.kind, k.Optional) or value.unbound:
        return rows.containers.contained(emitter, emitter.plain(value), container)
    return emitter.chosen(
        value.none,
        lambda: rows.containers.contained(emitter, constant(None), container),
        lambda: rows.containers.contained(emitter, inner(value), container),
    )


_METHODS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
}
"""The special methods of the left and the right side for each comparison, in the order of the calls."""


def _by_method(
    emitter: Emitter, operation: type[ast.cmpop], left: Value, right: Value
) -> Value | None:
    """Compares by a special method that a user wrote; returns None if there is none."""
    return rows.functions.special_of_either(emitter, *_METHODS[operation], left, right)


def _constants_alike(left: Value, right: Value) -> tuple[Value, Value]:
    """Returns both sides, a constant as an equal one of the other side's kind where there is one."""
    return _constant_like(left, right), _constant_like(right, left)


def _constant_like(value: Value, other: Value) -> Value:
    """Returns a constant as an equal constant of the kind that it is compared with, if there is one.

    An integer next to a float becomes a float; one of more than 64 bits is as far from integers as
    infinity. A float next to a decimal becomes a decimal, if that is short: 0.5, but not 0.1.
    """
    number = value.constant
    if isinstance(number, int) and other.kind.name == "float" and abs(number) < 1 << 1000:
        return constant(float(number)) if float(number) == number else value
    if isinstance(number, int) and other.kind.name in ("int", "unsigned"):
        is_unsigned = other.kind.name == "unsigned" and 0 <= number <= k.MOST_UNSIGNED
        if not has_64_bits(number) and not is_unsigned:
            return constant(math.copysign(math.inf, number))
    if not _are_decimal_and_float(value.kind, other.kind) or not isinstance(value.constant, float):
        return value
    try:
        return constant(Decimal(value.constant))
    except UnsupportedError:
        return value


def _negated(value: Value) -> Value:
    if value.is_constant:
        return constant(not value.constant)
    return Value(k.BOOL, f"(not {value.code})")


def _identical(emitter: Emitter, left: Value, right: Value, positive: bool) -> Value:
    """Compiles `is` of None, of booleans, and of constants."""
    if left.kind == k.NONE and right.kind != k.NONE:
        left, right = right, left
    if right.kind == k.NONE:
        if isinstance(left.kind, k.Optional):
            return Value(k.BOOL, left.none if positive else f"(not {left.none})")
        return constant((left.kind == k.NONE) == positive)
    if left.is_constant and right.is_constant:
        return constant((left.constant is right.constant) == positive)
    if left.kind in k.NODES and isinstance(right.constant, bool):
        is_same = f"({left.code} != 0) & (node_word({left.code}, 0) == {row_items.OF_BOOL})"
        word = f"(node_word({left.code}, 1) == {int(right.constant)})"
        return Value(k.BOOL, f"({is_same} & {word})" if positive else f"(not ({is_same} & {word}))")
    if any(may_be_several(side) for side in (left, right)):
        emitter.refuse("`is` of a value of one of several types compares with None only")
    if any(isinstance(side.kind, k.Choice) for side in (left, right)):
        emitter.refuse("`is` of one of several functions or classes has no compiled form")
    if any(isinstance(side.constant, type) for side in (left, right)):
        return constant(not positive)
    kinds = [k.present(left.kind), k.present(right.kind)]
    if "member" in (kinds[0].name, kinds[1].name):
        value = equal(emitter, left, right) if kinds[0] == kinds[1] else constant(False)
        return value if positive else _negated(value)
    if k.BOOL in kinds and not any(kind.loose for kind in kinds) and not emitter.program.has_numpy:
        value = equal(emitter, left, right) if kinds[0] == kinds[1] else constant(False)
        return value if positive else _negated(value)
    return emitter.refuse("`is` compares with None, True and False; use `==` for values")


def equal(emitter: Emitter, left: Value, right: Value) -> Value:
    """Compiles `==` of two values; None equals only None."""
    known = folded(operator.eq, left, right)
    if known is not None:
        return known
    if isinstance(left.kind, k.Optional) or isinstance(right.kind, k.Optional):
        return _equal_optional(emitter, left, right)
    if k.is_plain(left.kind):
        return by_class(emitter, left, lambda each: equal(emitter, each, right))
    if k.is_plain(right.kind):
        return by_class(emitter, right, lambda each: equal(emitter, left, each))
    _refuse_several(emitter, left, right)
    result = _by_method(emitter, ast.Eq, left, right)
    if result is not None:
        return result
    if k.NONE in (left.kind, right.kind):
        return constant(left.kind == right.kind)
    if "member" in (left.kind.name, right.kind.name):
        left, right = enums.as_plain(emitter, left), enums.as_plain(emitter, right)
        if "member" in (left.kind.name, right.kind.name):
            return enums.are_equal(emitter, left, right)
        return equal(emitter, left, right)
    if k.Uneven in (type(left.kind), type(right.kind)):
        emitter.refuse("== of a dictionary whose keys differ has no compiled form")
    if k.is_row(left.kind) or k.is_row(right.kind):
        if "dict" in (left.kind.name, right.kind.name):
            emitter.refuse("a dictionary beside one with constant keys has no compiled form")
        return _equal_rows(emitter, left, right)
    if isinstance(left.kind, k.Record) and isinstance(right.kind, k.Record):
        return _equal_records(emitter, left, right)
    if isinstance(left.kind, k.Tuple) and isinstance(right.kind, k.Tuple):
        if len(left.items) != len(right.items):
            return constant(False)
        same = [_equal_items(emitter, *pair) for pair in zip(left.items, right.items, strict=True)]
        if any(value.is_constant and not value.constant for value in same):
            return constant(False)
        codes = [value.code for value in same if not value.is_constant]
        return Value(k.BOOL, f"({' & '.join(codes)})") if codes else constant(True)
    if any(isinstance(side.constant, range) for side in (left, right)):
        emitter.refuse("== of a range that is known has no compiled form")
    left, right = _constants_alike(left, right)
    if _are_decimal_and_float(left.kind, right.kind):
        return emitter.left(k.BOOL, "a decimal compared with a float")
    left, right = alike_tuples(emitter, left, right)
    names = {left.kind.name, right.kind.name}
    never_equal = len(names) == 2 and not names.isdisjoint(_ALONE)
    if never_equal or k.is_tuple(left.kind) != k.is_tuple(right.kind):
        return constant(False)
    if k.is_deque(left.kind) != k.is_deque(right.kind):
        return constant(False)
    defaults = {getattr(side.kind, "default", "") for side in (left, right)}
    if defaults != {"range"} and not defaults.isdisjoint(k.SEQUENCES):
        emitter.refuse("== of a range and a list has no compiled form")
    if defaults == {"ordered"}:
        emitter.refuse("== of two OrderedDicts has no compiled form")
    if defaults == {"count"}:
        return rows.functions.users_function(emitter, REPLACED["Counter.__eq__"], [left, right])
    return call(emitter, "==", [_exactly(left), _exactly(right)])


def _exactly(value: Value) -> Value:
    """Returns a number that may have a narrower type as one of its kind: it compares as any of them."""
    if value.kind in (k.LOOSE_INT, k.LOOSE_FLOAT) and not value.is_constant:
        return replace(value, kind=replace(value.kind, loose=False))
    return value


def _are_decimal_and_float(left: k.Kind, right: k.Kind) -> bool:
    return {left.name, right.name} == {"Decimal", "float"}


def alike_tuples(emitter: Emitter, left: Value, right: Value) -> tuple[Value, Value]:
    """Returns both sides, a tuple beside one whose length depends on the row as such a tuple."""
    if k.is_tuple(left.kind) and isinstance(right.kind, k.Tuple):
        return left, of_any_length(emitter, right)
    if k.is_tuple(right.kind) and isinstance(left.kind, k.Tuple):
        return of_any_length(emitter, left), right
    return left, right


def of_any_length(emitter: Emitter, value: Value, kind: k.Kind = k.NEVER) -> Value:
    """Returns a tuple as one whose length depends on the row, with items of a kind at least."""
    assert isinstance(value.kind, k.Tuple)
    if not issubclass(value.kind.form, tuple):
        emitter.refuse(f"{value.kind} beside a tuple of any length has no compiled form")
    # The node itself may be the display of a container.
    node = derived(emitter.node, f"items of {kind}", ast.Pass)
    list_ = rows.containers.new_container(emitter, node, "list", len(value.items))
    for item in value.items:
        rows.containers.add(
            emitter, list_, (item if kind == k.NEVER else emitter.converted(item, kind),)
        )
    return as_tuple(list_)


def _equal_rows(emitter: Emitter, left: Value, right: Value) -> Value:
    """Compiles `==` of two dictionaries with constant keys, in any order of the keys."""
    if not isinstance(left.kind, k.Tuple) or not isinstance(right.kind, k.Tuple):
        return constant(False)
    if left.kind.form != right.kind.form or set(left.kind.names) != set(right.kind.names):
        return constant(False)
    sides = [dict(zip(side.kind.names, side.items, strict=True)) for side in (left, right)]  # type: ignore[attr-defined]
    items = [tuple(side[name] for name in left.kind.names) for side in sides]
    kinds = [k.tuple_of(tuple(item.kind for item in side)) for side in items]
    a, b = (Value(kind, items=side) for kind, side in zip(kinds, items, strict=True))
    return equal(emitter, a, b)


def _equal_items(emitter: Emitter, left: Value, right: Value) -> Value:
    """Compiles `==` of items of tuples. Only Python knows whether two NaN are one object, hence equal."""
    codes = [inner(side).code for side in (left, right) if inner(side).kind.name == "float"]
    if len(codes) == 2 and not (left.is_constant or right.is_constant):
        a, b = map(emitter.bind, codes)
        emitter.leave_if(f"({a} != {a}) & ({b} != {b})", "NaN in tuples")
    return equal(emitter, left, right)


def _equal_records(emitter: Emitter, left: Value, right: Value) -> Value:
    """Compiles `==` of two instances of data classes: the classes and the fields that count."""
    forms = [side.kind.form for side in (left, right)]  # type: ignore[attr-defined]
    for form in forms:
        if not _compares(form, "eq"):
            emitter.refuse(f"== of {form.__name__} has no compiled form")
    if forms[0] is not forms[1]:
        return constant(False)
    return equal(emitter, _counting(left), _counting(right))


def _compares(form: type, how: str) -> bool:
    """Whether a class is a data class whose instances compare by their fields, with the option `how`."""
    return bool(getattr(k.data_class_of(form), how, False))


def _counting(value: Value) -> Value:
    """Returns the fields of a data class's instance that count in comparisons, as a tuple."""
    kind = value.kind
    assert isinstance(kind, k.Record)
    by_name = dict(zip(kind.names, value.items, strict=True))
    return tuple_of_values(by_name[each.name] for each in fields(kind.form) if each.compare)


def _ordered_records(emitter: Emitter, operation: ast.cmpop, left: Value, right: Value) -> Value:
    """Compiles an ordering of two instances of a data class, as of tuples of their fields."""
    form = left.kind.form  # type: ignore[attr-defined]
    if not _compares(form, "order"):
        emitter.refuse(f"an order of {form.__name__} has no compiled form")
    return _ordered(emitter, operation, _counting(left), _counting(right))


_ALONE_NAMES = "str bytes date datetime aware time timedelta list dict set tuple record"
_ALONE = tuple(_ALONE_NAMES.split())


def _equal_optional(emitter: Emitter, left: Value, right: Value) -> Value:
    if any(
        k.written_method(getattr(inner(side).kind, "form", type), "__eq__")
        for side in (left, right)
    ):
        emitter.refuse("a class's own == beside None has no compiled form")
    if k.NONE in (left.kind, right.kind):
        return _identical(emitter, left, right, True)
    flags = [side.none for side in (left, right) if isinstance(side.kind, k.Optional)]
    bound = [emitter.bind(flag) for flag in flags]
    both = bound[0] if len(bound) == 1 else f"{bound[0]} != {bound[1]}"
    there = f"({both})" if len(bound) == 1 else f"({bound[0]} or {bound[1]})"
    # If one of them is None, they are equal only if the other is None, too.
    otherwise = "False" if len(bound) == 1 else f"({bound[0]} and {bound[1]})"
    return emitter.chosen(
        there, lambda: Value(k.BOOL, otherwise), lambda: equal(emitter, inner(left), inner(right))
    )


def _ordered(emitter: Emitter, operation: ast.cmpop, left: Value, right: Value) -> Value:
    """Compiles an ordering of two tuples: the first items that differ decide."""
    if not left.items or not right.items:
        _, function = OPERATORS[type(operation)]
        return constant(function(len(left.items), len(right.items)))
    same = _equal_items(emitter, left.items[0], right.items[0])
    rest = [tuple_of_values(side.items[1:]) for side in (left, right)]
    strict = ast.Lt() if isinstance(operation, ast.Lt | ast.LtE) else ast.Gt()
    return emitter.chosen(
        emitter.numbers(same).code,
        lambda: compared(emitter, operation, *rest),
        lambda: compared(emitter, strict, left.items[0], right.items[0]),
    )
