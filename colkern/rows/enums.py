"""Members of enums in row functions: at run time, a member is its number within its enum.

All attributes of members are known when the function is compiled: name, value, text, and anything that the
class computes. Compiled code looks them up in a table, by the member's number.
"""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

from colkern import rows
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows import library
from colkern.rows.calls import call, has
from colkern.rows.constants import kind_of
from colkern.rows.emitter import Emitter
from colkern.rows.folding import constant
from colkern.rows.literals import stored_constant
from colkern.rows.values import NONE, Value, inner, tuple_of_values


def attribute(emitter: Emitter, member: Value, name: str) -> Value:
    """Compiles an attribute of a member."""
    kind = _form_of(member)
    attribute_of_class = inspect.getattr_static(kind, name, None)
    if isinstance(attribute_of_class, property) and not isinstance(
        attribute_of_class, enum.property | types.DynamicClassAttribute
    ):
        assert isinstance(attribute_of_class.fget, types.FunctionType)
        return rows.functions.users_function(emitter, attribute_of_class.fget, [member])
    if not all(hasattr(each, name) for each in k.values_of(kind)):
        emitter.refuse(f"{kind.__name__} has no {name!r}")
    return of_each(emitter, member, _ATTRIBUTES, name)


def method(
    emitter: Emitter, member: Value, name: str, arguments: Sequence[Value], named: dict[str, Value]
) -> Value:
    """Compiles a method of a member: its class's own, or that of the number or text that the member is."""
    function = inspect.getattr_static(_form_of(member), name, None)
    if isinstance(function, types.FunctionType):
        return rows.functions.users_function(emitter, function, [member, *arguments], named)
    plain = as_plain(emitter, member)
    if plain is member:
        emitter.refuse(f"{_form_of(member).__name__}.{name}() has no compiled form")
    return call(emitter, f"{plain.kind.name}.{name}", [plain, *arguments], named)


def as_plain(emitter: Emitter, value: Value) -> Value:
    """Returns the number or text that a member also is, by its class; other values unchanged."""
    if not isinstance(value.kind, k.Member) or not issubclass(value.kind.form, _MIXED):
        return value
    if value.is_constant:
        return constant(_plain(value.constant))
    return of_each(emitter, value, _PLAIN)


def as_result(emitter: Emitter, value: Value) -> Value:
    """Returns a row's result with numbers and texts in place of members that are numbers or texts."""
    kind = value.kind
    if not has_member(kind):
        return value
    if isinstance(kind, k.Optional):
        return emitter.chosen(value.none, lambda: NONE, lambda: as_result(emitter, inner(value)))
    if isinstance(kind, k.Compound):
        items = (as_result(emitter, item) for item in value.items)
        return tuple_of_values(map(emitter.numbers, items), kind.names, kind.form)
    form = getattr(kind.items[0], "form", None) if isinstance(kind, k.Container) else None
    if kind.name == "list" and form and issubclass(form, _MIXED):
        nothing = constant("" if issubclass(form, str) else 0)
        return rows.functions.users_function(emitter, library.added_to_each, [value, nothing])
    return as_plain(emitter, value)


def of_value(emitter: Emitter, form: type[enum.Enum], value: Value) -> Value:
    """`Form(value)`."""
    value = as_plain(emitter, emitter.plain(value, row_values.VALUE_ERROR))
    if isinstance(value.kind, k.Member) and value.kind.form is form:
        return value
    if value.is_constant:
        return constant(form(value.constant))
    table = stored_constant(emitter, _by_value(form), kind_of)
    if not has("dict.get", [table, value]):
        emitter.refuse(f"{form.__name__}() of {value.kind} has no compiled form")
    entry = call(emitter, "dict.get", [table, value])
    is_open = "_missing_" in vars(form) or issubclass(form, enum.Flag)
    code = row_values.LEFT if is_open else row_values.VALUE_ERROR
    emitter.fail_if(
        entry.none,
        code,
        f"{form.__name__}() of another value",
        partial(_not_valid, emitter, form, value),
    )
    return Value(k.member_of(form), entry.code)


def _not_valid(emitter: Emitter, form: type[enum.Enum], value: Value) -> Value:
    """Returns the text of the exception of `Form(value)`."""
    shown = rows.formatting.represented(emitter, value)
    return rows.formatting.concatenated(
        emitter, [shown, constant(f" is not a valid {form.__qualname__}")]
    )


def of_name(emitter: Emitter, form: type[enum.Enum], name: Value) -> Value:
    """`Form[name]`."""
    if name.is_constant:
        return constant(form[name.constant])
    entry = call(emitter, "[]", [stored_constant(emitter, _by_name(form), kind_of), name])
    return Value(k.member_of(form), entry.code)


def are_equal(emitter: Emitter, left: Value, right: Value) -> Value:
    """Compiles `==` of two values of which one is a member that is neither number nor text."""
    if left.kind != right.kind:
        return constant(False)
    if "__eq__" in {name for base in _form_of(left).__mro__[:-1] for name in vars(base)}:
        emitter.refuse(f"== of {left.kind} has no compiled form")
    return Value(k.BOOL, f"({emitter.numbers(left).code} == {emitter.numbers(right).code})")


def of_flags(emitter: Emitter, name: str, left: Value, right: Value) -> Value | None:
    """Compiles `&`, `|`, `^` or `in` of two combinations of flags; returns None for others."""
    if left.kind != right.kind or not is_flags(left.kind) or name not in ("&", "|", "^", "in"):
        return None
    _require_python_operators(emitter, left)
    codes = emitter.numbers(left).code, emitter.numbers(right).code
    if name == "in":
        return Value(k.BOOL, f"(({codes[0]} & {codes[1]}) == {codes[0]})")
    return Value(left.kind, f"({codes[0]} {name} {codes[1]})")


def without(emitter: Emitter, flags: Value) -> Value:
    """Compiles `~flags`."""
    _require_python_operators(emitter, flags)
    every = len(k.values_of(_form_of(flags))) - 1
    return Value(flags.kind, f"({every} ^ {emitter.numbers(flags).code})")


def is_any(emitter: Emitter, flags: Value) -> Value:
    """Compiles whether any flag is set."""
    _require_python_operators(emitter, flags)
    return Value(k.BOOL, f"({emitter.numbers(flags).code} != 0)")


def is_flags(kind: k.Kind) -> bool:
    """Whether a kind is that of combinations of flags."""
    return isinstance(kind, k.Member) and issubclass(kind.form, enum.Flag)


_OF_FLAGS = ("__and__", "__or__", "__xor__", "__invert__", "__contains__", "__bool__")


def _require_python_operators(emitter: Emitter, flags: Value) -> None:
    form = _form_of(flags)
    if any(getattr(form, name) is not getattr(enum.Flag, name) for name in _OF_FLAGS):
        emitter.refuse(f"an operator of {form.__name__} has no compiled form")


def has_member(kind: k.Kind, is_meant: Callable[[Any], bool] = lambda form: True) -> bool:
    """Whether a value of a kind is, or contains, a member of an enum for which `is_meant` is true."""
    return any(isinstance(part, k.Member) and is_meant(part.form) for part in k.parts_of(kind))


def is_unordered(form: Any) -> bool:
    """Whether the members of an enum have no order, or one that differs from the order of definition."""
    return not issubclass(form, _MIXED) or list(form) != sorted(form)


def _form_of(member: Value) -> type[enum.Enum]:
    assert isinstance(member.kind, k.Member)
    return member.kind.form


Table = Callable[[type[enum.Enum], str], list[Any]]


def of_each(emitter: Emitter, member: Value, table: Table, name: str = "") -> Value:
    """Returns the entry of a table for a member."""
    items = table(_form_of(member), name)
    place = Value(k.INT, emitter.numbers(member).code)
    if all(type(item) is type(items[0]) and item == items[0] for item in items):
        return constant(items[0])
    return call(emitter, "[]", [stored_constant(emitter, items, kind_of), place])


# Tables are cached, as the program identifies a constant by the object.


def _table(make: Callable[[Any, str], Any]) -> Table:
    @lru_cache
    def items_of(form: type[enum.Enum], name: str) -> list[Any]:
        return [make(member, name) for member in k.values_of(form)]

    return items_of


_ATTRIBUTES = _table(getattr)
FORMATS = _table(format)
TEXTS = _table(lambda member, _: str(member))
REPRESENTED = _table(lambda member, _: repr(member))
_PLAIN = _table(lambda member, _: _plain(member))

_MIXED = (str, int, float)


def _plain(member: Any) -> Any:
    """Returns the plain value of a member of a class such as `(str, Enum)`."""
    if isinstance(member, str):
        return str.__str__(member)
    return int(member) if isinstance(member, int) else float(member)


@lru_cache
def _by_value(form: type[enum.Enum]) -> dict[Any, int]:
    return {member.value: number for number, member in enumerate(k.values_of(form))}


@lru_cache
def _by_name(form: type[enum.Enum]) -> dict[str, int]:
    members = k.values_of(form)
    return {name: members.index(member) for name, member in form.__members__.items()}
