"""Instances of users' classes in row functions: named tuples, data classes, and others with a constructor.

An instance is its fields, each a variable of its own. A constructor runs with them as variables: it may do
with `self` nothing but read and assign them.
"""

from __future__ import annotations

import abc
import ast
import collections
import copy
import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from colkern.errors import CompileError
from colkern.rows import kinds as k
from colkern.rows.emitter import Emitter, derived
from colkern.rows.expressions import expression
from colkern.rows.folding import constant
from colkern.rows.front import WRITTEN, Definition, definition_of
from colkern.rows.functions import bound_values, called_function
from colkern.rows.values import NONE, Value, tuple_of_values

_WITHOUT_MEANING = ("__repr__", "__str__", "__format__", "__hash__")
"""Special methods that are not called when an instance is made."""

_CALLED = (
    *(
        "__init__",
        "__post_init__",
        "__bool__",
        "__len__",
        "__contains__",
        "__getitem__",
        "__call__",
    ),
    *("__eq__", "__lt__", "__le__", "__gt__", "__ge__", *k.OPERATOR_METHODS.values()),
    *(method.replace("__", "__r", 1) for method in k.OPERATOR_METHODS.values()),
)
"""Special methods that are, or where an expression asks for them."""

_GENERATING = ("<string>", *(module.__file__ for module in (collections, dataclasses, typing)))


def has_fields(kind: type) -> bool:
    """Whether instances of a class may have a compiled form."""
    is_tuple = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return (
        is_tuple or dataclasses.is_dataclass(kind) or _is_users(kind) or typing.is_typeddict(kind)
    )


def _is_users(kind: type) -> bool:
    """Whether a class is a user's, with a constructor, and so are its bases."""
    are_plain = all(
        type(base) in (type, abc.ABCMeta) and base.__flags__ & WRITTEN for base in kind.__mro__[:-1]
    )
    return are_plain and "__init__" in _written_methods(kind)


def _written_methods(kind: type) -> Iterator[str]:
    """The special methods of a class that a user wrote."""
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
    """A new instance of a class for which `has_fields` holds."""
    if typing.is_typeddict(kind):
        if arguments:
            emitter.refuse(f"{kind.__name__}() of a value without a name has no compiled form")
        return _of_fields(emitter, dict, named)
    if inspect.isabstract(kind):
        emitter.refuse(f"the class {kind.__name__} is abstract: it has no instances")
    written = set(_written_methods(kind))
    if k.is_record(kind) and any("__new__" in vars(base) for base in kind.__mro__[:-1]):
        written.add("__new__")
    other = min(written - set(_CALLED if k.is_record(kind) else ()), default="")
    if other:
        emitter.refuse(f"the class {kind.__name__} has {other}, which has no compiled form")
    try:
        bound = inspect.signature(kind).bind(*arguments, **named)
    except TypeError as error:
        emitter.refuse(str(error))
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    for field in fields:
        if field.default_factory is not dataclasses.MISSING and field.name not in bound.arguments:
            factory: Any = field.default_factory
            make = functools.partial(ast.Call, ast.Constant(factory), [], [])
            bound.arguments[field.name] = expression(emitter, derived(node, field.name, make))
    bound.apply_defaults()
    values = {
        name: value if isinstance(value, Value) else constant(value)
        for name, value in bound.arguments.items()
    }
    if "__init__" in written:
        made = _constructed(emitter, kind, inspect.getattr_static(kind, "__init__"), values, {})
        return _of_fields(emitter, kind, made)
    if "__post_init__" in written:
        function = inspect.getattr_static(kind, "__post_init__")
        if function.__code__.co_argcount > 1:
            emitter.refuse(f"the class {kind.__name__} has an InitVar, which has no compiled form")
        values = _constructed(emitter, kind, function, {}, values)
    names = [field.name for field in fields] or list(getattr(kind, "_fields", ()))
    if sorted(names) != sorted(values):
        emitter.refuse(
            f"{kind.__name__} has parameters that are not its fields, or the other way round"
        )
    return _of_fields(emitter, kind, {name: values[name] for name in names})


def _of_fields(emitter: Emitter, form: type, fields: dict[str, Value]) -> Value:
    for name in fields if k.is_record(form) else ():
        own = inspect.getattr_static(form, name, None)
        is_plain = bool(form.__dictoffset__) and not hasattr(type(own), "__set__")
        if not is_plain and not isinstance(own, types.MemberDescriptorType):
            emitter.refuse(f"{form.__name__}.{name} is no plain field, which has no compiled form")
    return tuple_of_values(map(emitter.numbers, fields.values()), tuple(fields), form)


@dataclasses.dataclass(frozen=True)
class Constructor:
    """The constructor of a base class, called for an instance of a class, as `super().__init__`.

    Args:
        kind: The class.
        function: The base's `__init__`.
    """

    kind: type
    function: Any

    def fields(
        self, emitter: Emitter, arguments: Sequence[Value], named: dict[str, Value]
    ) -> Value:
        """The fields that it assigns, as a tuple."""
        _, *given = bound_values(emitter, self.function, [NONE, *arguments], named).items()
        made = _constructed(emitter, self.kind, self.function, dict(given), {})
        return tuple_of_values(map(emitter.numbers, made.values()))

    def names(self) -> Iterator[str]:
        """The fields that it assigns."""
        yield from _fields_assigned(self.kind, self.function, definition_of(self.function))


def _base_constructor(kind: type, function: Any) -> Constructor | None:
    """What `super().__init__` is in a constructor; None where it does nothing."""
    lineage = iter(kind.__mro__[:-1])
    for base in lineage:
        if vars(base).get("__init__") is function:
            break
    behind = (vars(base).get("__init__") for base in lineage)
    return next((Constructor(kind, each) for each in behind if each is not None), None)


def _is_base_call(node: ast.AST) -> bool:
    match node:
        case ast.Expr(ast.Call(ast.Attribute(ast.Call(ast.Name("super"), []), "__init__"))):
            return True
    return False


def _fields_assigned(kind: type, function: Any, definition: Definition) -> Iterator[str]:
    """The fields that a constructor, or one that it calls, assigns."""
    own = definition.parameters[0]
    nodes = [node for statement in definition.body for node in ast.walk(statement)]
    if any(map(_is_base_call, nodes)):
        base = _base_constructor(kind, function)
        yield from base.names() if base is not None else ()
    for node in nodes:
        match node:
            case ast.Attribute(ast.Name(name), field, ast.Store()) if name == own:
                yield field


class _Fields(ast.NodeTransformer):
    """Puts variables in the place of the fields of an instance.

    Args:
        kind: The class.
        own: What the function calls the instance.
        names: The fields, those that are assigned before and those that the function assigns.
        base: What it calls as `super().__init__`.
    """

    def __init__(
        self, kind: type, own: str, names: Iterable[str], base: Constructor | None
    ) -> None:
        self._kind = kind
        self._own = own
        self._base = base
        self.names = tuple(dict.fromkeys(names))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """An assignment of the base's fields for a call of its constructor."""
        self.generic_visit(node)
        if not _is_base_call(node):
            return node
        if self._base is None:
            return ast.copy_location(ast.Pass(), node)
        call: Any = node.value
        call.func = ast.Constant(self._base)  # type: ignore[arg-type]
        variables: list[ast.expr] = [
            ast.Name(self.variable(name), ast.Store()) for name in dict.fromkeys(self._base.names())
        ]
        made = ast.Assign([ast.Tuple(variables, ast.Store())], call)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A variable for a field, and the class's own attribute for another."""
        if getattr(node.value, "id", "") != self._own:
            return self.generic_visit(node)
        if node.attr not in self.names:
            if is_constant_of(self._kind, node.attr):
                node.value = ast.copy_location(ast.Constant(self._kind), node)  # type: ignore[arg-type]
            return node
        return ast.copy_location(ast.Name(self.variable(node.attr), node.ctx), node)

    def variable(self, name: str) -> str:
        """The variable of a field."""
        return f"{self._own}__{name}"


def is_constant_of(kind: type, name: str) -> bool:
    """Whether an attribute of a class is that of its instances, too, and no method or property."""
    attribute = inspect.getattr_static(kind, name, None)
    return attribute is not None and not hasattr(attribute, "__get__")


def _constructed(
    emitter: Emitter,
    kind: type,
    function: Any,
    arguments: dict[str, Value],
    before: dict[str, Value],
) -> dict[str, Value]:
    """The fields of an instance after a special method of its class has run.

    Args:
        emitter: Where it is written.
        kind: The class.
        function: The method.
        arguments: Those of the call, by the names of parameters.
        before: The fields that the instance has already.
    """
    key = kind, function
    known = emitter.program.definitions.get(key)
    if known is None:
        try:
            known = definition_of(function)
        except CompileError as error:
            emitter.refuse(str(error))
        own, *parameters = known.parameters
        nodes = [node for statement in known.body for node in ast.walk(statement)]
        names = (*before, *_fields_assigned(kind, function, known))
        fields = _Fields(kind, own, names, _base_constructor(kind, function))
        body = [fields.visit(copy.deepcopy(statement)) for statement in known.body]
        rest = {
            node.id for statement in body for node in ast.walk(statement) if hasattr(node, "id")
        }
        computed = [inspect.getattr_static(kind, each, None) for each in fields.names]
        if (
            own in rest
            or not fields.names
            or any(isinstance(node, ast.Return) for node in nodes)
            or any(isinstance(each, property) for each in computed)
        ):
            emitter.refuse(
                f"{kind.__name__}.{function.__name__} does more than to assign fields, which has no "
                f"compiled form"
            )
        loads: list[ast.expr] = [
            ast.Name(fields.variable(each), ast.Load()) for each in fields.names
        ]
        returned = ast.Return(ast.Tuple(loads, ast.Load()))
        for node in ast.walk(returned):
            ast.copy_location(node, known.body[-1])
        variables = [fields.variable(each) for each in before]
        own_names = (*parameters, *variables)
        known = Definition(function, own_names, [*body, returned], known.names, known.path)
        emitter.program.definitions[key] = known
    values = [*arguments.values(), *before.values()]
    given = dict(zip(known.parameters, values, strict=True))
    instance = called_function(emitter, known, given, known)
    end: Any = known.body[-1]
    prefix = f"{function.__code__.co_varnames[0]}__"
    stems = [each.id.removeprefix(prefix) for each in end.value.elts]
    return dict(zip(stems, instance.items, strict=True))
