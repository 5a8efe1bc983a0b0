"""Instances of users' classes in row functions: named tuples, data classes, and classes with a constructor.

An instance is compiled as its fields. A constructor is a method that changes an instance without assigned
fields.
"""

from __future__ import annotations

import abc
import ast
import collections
import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from colkern.rows import kinds as k
from colkern.rows.contexts import METHODS
from colkern.rows.emitter import Emitter, derived
from colkern.rows.expressions import attribute, expression
from colkern.rows.folding import constant
from colkern.rows.front import WRITTEN, assigned_fields, is_of_standard_library
from colkern.rows.functions import changing_method
from colkern.rows.values import UNSET, Value, tuple_of_values

_WITHOUT_MEANING = ("__repr__", "__str__", "__format__", "__hash__")
"""Special methods that neither construct an instance nor are called by compiled code."""

CONSTRUCTING = ("__init__", "__post_init__")
"""Methods that assign the fields of a new instance."""

_OPERATORS = (
    *k.OPERATOR_METHODS.values(),
    *(method.replace("__", "__r", 1) for method in k.OPERATOR_METHODS.values()),
    *(*k.UNARY_METHODS.values(), "__abs__", "__round__", "__int__", "__float__"),
)
"""Special methods that operators and built-in functions call."""

_IN_PLACE = tuple(method.replace("__", "__i", 1) for method in k.OPERATOR_METHODS.values())
"""Special methods that augmented assignments call."""

_CALLED = (
    *(*CONSTRUCTING, "__bool__", "__len__", "__contains__", "__getitem__", "__call__", "__iter__"),
    *("__bytes__", "__delitem__", "__setitem__"),
    *("__eq__", "__lt__", "__le__", "__gt__", "__ge__", *_OPERATORS),
    *(*_IN_PLACE, *METHODS, "__ne__", "__class_getitem__", "__init_subclass__"),
)
"""Special methods that are called when an instance is made, or by expressions."""

COPYING = (
    *("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
)
"""Methods by which a class says what copies are; what makes some is refused for such a class."""

_GENERATING = ("<string>", *(module.__file__ for module in (collections, dataclasses, typing)))


def has_fields(kind: type) -> bool:
    """Whether instances of a class may have a compiled form."""
    is_tuple = issubclass(kind, k.FieldRow) or (
        issubclass(kind, tuple) and hasattr(kind, "_fields")
    )
    return (
        is_tuple or dataclasses.is_dataclass(kind) or _is_users(kind) or typing.is_typeddict(kind)
    )


def _is_users(kind: type) -> bool:
    """Whether a class and its bases are defined in Python, and its constructor is the user's, or none."""
    are_plain = all(
        type(base) in (type, abc.ABCMeta) and base.__flags__ & WRITTEN for base in kind.__mro__[:-1]
    )
    return are_plain and ("__init__" in written_methods(kind) or not is_of_standard_library(kind))


def written_methods(kind: type) -> Iterator[str]:
    """Yields the special methods of a class that a user wrote."""
    for base in kind.__mro__:
        for name, own in vars(base).items():
            is_special = name.startswith("__") and name not in _WITHOUT_MEANING
            code = getattr(own, "__code__", None)
            if is_special and code is not None and code.co_filename not in _GENERATING:
                yield name


def instance(
    emitter: Emitter,
    node: ast.Call,
    kind: type,
    arguments: Sequence[Value],
    named: dict[str, Value],
) -> Value:
    """Compiles a new instance of a class for which `has_fields` is true."""
    is_row = issubclass(kind, k.FieldRow)
    if is_row or typing.is_typeddict(kind):
        if arguments or (is_row and not named):
            emitter.refuse(f"{kind.__name__}() of values without names has no compiled form")
        return _of_fields(emitter, kind if is_row else dict, named)
    if inspect.isabstract(kind):
        emitter.refuse(f"the class {kind.__name__} is abstract: it has no instances")
    written = set(written_methods(kind))
    if k.is_record(kind) and any("__new__" in vars(base) for base in kind.__mro__[:-1]):
        written.add("__new__")
    other = min(written - {*COPYING, *(_CALLED if k.is_record(kind) else _OPERATORS)}, default="")
    if other:
        emitter.refuse(f"the class {kind.__name__} has {other}, which has no compiled form")
    if "__init__" in written:
        return _of_fields(
            emitter, kind, constructed(emitter, kind, "__init__", {}, arguments, named)
        )
    try:
        bound = inspect.signature(kind).bind(*arguments, **named)
    except TypeError as error:
        emitter.refuse(str(error))
    known: dict[str, Any] = getattr(kind, "__dataclass_fields__", {})
    fields = dataclasses.fields(kind) if known else ()
    unnamed = _defaults(emitter, node, [one for one in fields if one.name not in bound.arguments])
    bound.arguments.update(unnamed)
    bound.apply_defaults()
    values = unnamed | {
        name: value if isinstance(value, Value) else constant(value)
        for name, value in bound.arguments.items()
    }
    if known and "__post_init__" in written:
        names = [field.name for field in fields]
        others = [values.pop(name) for name in known if name in values and name not in names]
        values = constructed(emitter, kind, "__post_init__", values, others, {})
    names = [field.name for field in fields] or list(getattr(kind, "_fields", ()))
    if sorted(names) != sorted(values):
        emitter.refuse(
            f"{kind.__name__} has parameters that are not its fields, or fields that are not its parameters"
        )
    return _of_fields(emitter, kind, {name: values[name] for name in names})


def _defaults(
    emitter: Emitter, node: ast.Call, fields: Sequence[dataclasses.Field[Any]]
) -> dict[str, Value]:
    """Returns the values of fields that a call of a data class does not give."""
    values = {}
    for field in fields:
        if field.default_factory is not dataclasses.MISSING:
            factory: Any = field.default_factory
            make = functools.partial(ast.Call, ast.Constant(factory), [], [])
            values[field.name] = expression(emitter, derived(node, field.name, make))
        elif field.default is not dataclasses.MISSING:
            values[field.name] = constant(field.default)
    return values


def _of_fields(emitter: Emitter, form: type, fields: dict[str, Value]) -> Value:
    for name in fields if k.is_record(form) else ():
        own = inspect.getattr_static(form, name, None)
        is_plain = bool(form.__dictoffset__) and not hasattr(type(own), "__set__")
        if not is_plain and not isinstance(own, types.MemberDescriptorType):
            emitter.refuse(f"{form.__name__}.{name} is no plain field, which has no compiled form")
    return tuple_of_values(map(emitter.numbers, fields.values()), tuple(fields), form)


def constructed(
    emitter: Emitter,
    kind: type,
    method: str,
    before: dict[str, Value],
    arguments: Sequence[Value],
    named: dict[str, Value],
) -> dict[str, Value]:
    """Returns the fields of an instance after a method in `CONSTRUCTING` has run.

    Args:
        before: The fields that the instance has already.
    """
    names = tuple(dict.fromkeys((*before, *assigned_fields(kind))))
    start = tuple_of_values((before.get(name, UNSET) for name in names), names, kind)
    function = inspect.getattr_static(kind, method)
    result, instance = changing_method(emitter, function, start, None, arguments, named)
    if method == "__init__" and result.kind != k.NONE:
        emitter.refuse(f"{kind.__name__}.__init__ returns a value")
    if not isinstance(instance.kind, k.Compound):
        emitter.refuse(f"{kind.__name__}.{method} gives fields values of several types")
    for name, item in zip(before, instance.items, strict=False):
        if item.kind != UNSET.kind and getattr(item.kind, "form", None) is k.Unset:
            # The `args` of an exception, which has other ones where its constructor assigns none.
            emitter.refuse(f"{kind.__name__}.{method} assigns {name} on some paths only")
    assigned = (
        name for name, item in zip(names, instance.items, strict=True) if item.kind != UNSET.kind
    )
    return {name: attribute(emitter, instance, name) for name in assigned}
