"""Reads the table of methods: the arguments that a row takes, and the kind of its result."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from colkern.forks import cached_property
from colkern.rows import kinds as k
from colkern.rows import methods
from colkern.rows.kinds import Kind
from colkern.rows.methods import Method
from colkern.rows.unicode_tables import TABLES

VARIABLES = ("T", "K", "V")

NO_DEFAULT = object()


@dataclass(frozen=True)
class Parameter:
    """A parameter of a row.

    Args:
        name: Its name; empty if it has none.
        kind: Its kind as a syntax tree, to be matched with an argument's.
        default: The value if it is left out.
    """

    name: str
    kind: ast.expr
    default: Any = NO_DEFAULT

    @property
    def is_constant(self) -> bool:
        """Whether the argument must be known when the function is compiled."""
        return isinstance(self.kind, ast.Name) and self.kind.id == "const"


@dataclass(frozen=True)
class Row:
    """A row of the table, whose signature is parsed when it is first used."""

    method: Method

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters."""
        return self._read[0]

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """The kinds of its parameters as text."""
        return tuple(ast.unparse(parameter.kind) for parameter in self.parameters)

    @property
    def is_left(self) -> bool:
        """Whether only Python computes it, whatever its arguments are."""
        return self.method.signature.startswith("(...)")

    @property
    def returns(self) -> ast.expr:
        """Its result as a syntax tree."""
        return self._read[1]

    def body(self, constants: Iterable[Any], wraps: bool = False) -> Any:
        """Returns its body, or an expression as text.

        Args:
            constants: The values of its `const` parameters.
            wraps: Whether to return the body with the machine's arithmetic.
        """
        body: Any = self.method.machine if wraps else self.method.body
        return methods.function_of(body(*constants) if self.method.maker else body)

    @cached_property
    def _read(self) -> tuple[tuple[Parameter, ...], ast.expr]:
        return _read(self.method)

    def result(self, bindings: dict[str, Kind]) -> Kind:
        """Returns the kind of the result, for kinds of the type variables."""
        return kind_of(self.returns, bindings)


@dataclass(frozen=True)
class Call:
    """The form of calls of a body, by its declaration.

    Args:
        leading: Its first parameters, which are no arguments: `arena`, a table, and facts about items.
        places: For each other parameter, whether it is the address of an argument's words.
        fails: Whether it returns a code with its result.
        result: "value"; "place" if it returns the address of the result's words; "room" if it returns the
            address to which the words of an argument that it does not take are to be written.
    """

    leading: tuple[str, ...]
    places: tuple[bool, ...]
    fails: bool
    result: str


OF_ITEMS = {"item": "T", "key": "K", "value": "V"}
"""The type variable to which a parameter `…_words` or `…_layout` refers."""


@cache
def call_of(body: Callable[..., Any]) -> Call:
    """Returns the form of calls of a body."""
    signature = inspect.signature(body)
    leading, places = [], []
    for name, parameter in signature.parameters.items():
        stem, _, what = name.partition("_")
        if name == "arena" or name in TABLES or (stem in OF_ITEMS and what in ("words", "layout")):
            leading.append(name)
        else:
            places.append("Place" in str(parameter.annotation))
    returned = str(signature.return_annotation)
    result = "place" if "Place" in returned else "room" if "Room" in returned else "value"
    return Call(tuple(leading), tuple(places), "Code" in returned, result)


@cache
def table() -> dict[str, list[Row]]:
    """Returns all rows, by name."""
    rows: dict[str, list[Row]] = {}
    for module in pkgutil.iter_modules(methods.__path__):
        for method in importlib.import_module(f"{methods.__name__}.{module.name}").METHODS:
            rows.setdefault(method.name, []).append(Row(method))
    return rows


def _read(method: Method) -> tuple[tuple[Parameter, ...], ast.expr]:
    """Parses the parameters and the result of a row."""
    arguments, _, result = method.signature.replace("(...)", "()").partition("->")
    tree = ast.parse(f"def f({_named(arguments.strip()[1:-1])}) -> {result.strip()}: ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    assert tree.returns is not None
    defaults = [NO_DEFAULT] * len(tree.args.args)
    values = [ast.literal_eval(value) for value in tree.args.defaults]
    if values:
        defaults[-len(values) :] = values
    parameters = [
        Parameter(
            argument.arg.removesuffix("_") if argument.arg[0] != "_" else "", annotation, default
        )
        for argument, default in zip(tree.args.args, defaults, strict=True)
        if (annotation := argument.annotation) is not None
    ]
    return tuple(parameters), tree.returns


def _named(text: str) -> str:
    """Gives each parameter a name: `str, int = 0` becomes `_0: str, _1: int = 0`."""
    parts = []
    for position, part in enumerate(_parts(text)):
        head = part.split("=")[0]
        parts.append(part if ":" in head else f"_{position}: {part}")
    return ", ".join(parts)


def _parts(text: str) -> Iterator[str]:
    """Yields the parts between commas outside brackets and quotes."""
    depth, start, quoted = 0, 0, ""
    for position, character in enumerate(text):
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "'\"":
            quoted = character
        elif character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    if text[start:].strip():
        yield text[start:].strip()


def kind_of(tree: ast.expr, bindings: dict[str, Kind]) -> Kind:
    """Returns the kind for a hint."""
    if isinstance(tree, ast.Constant) and tree.value is None:
        return k.NONE
    if isinstance(tree, ast.Name):
        document = {k.DOCUMENT.name: k.DOCUMENT}
        return {**k.HELD_BY_PYTHON, **k.PLAIN, **document, **bindings}[tree.id]
    if isinstance(tree, ast.BinOp):
        return k.optional(kind_of(tree.left, bindings))
    assert isinstance(tree, ast.Subscript)
    assert isinstance(tree.value, ast.Name)
    inner = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    parts = tuple(kind_of(part, bindings) for part in inner)
    if tree.value.id == "tuple":
        return k.tuple_of(parts)
    return k.Container(tree.value.id, items=parts)


def matches(tree: ast.expr, kind: Kind, bindings: dict[str, Kind], exact: bool) -> bool:
    """Whether an argument of a kind matches a parameter; adds the kinds of type variables to `bindings`.

    Args:
        bindings: The kinds of type variables so far.
        exact: Whether a `bool` is no `int`, and an `int` no `float`.
    """
    if isinstance(tree, ast.Name) and tree.id in VARIABLES:
        return _bound(tree.id, kind, bindings)
    if isinstance(tree, ast.Name):
        if tree.id == kind.name:
            return not (exact and kind.loose)
        return not exact and (tree.id, kind.name) in _WIDER
    if isinstance(tree, ast.Subscript) and isinstance(tree.value, ast.Name):
        if not isinstance(kind, k.Container) or tree.value.id != kind.name:
            return False
        inner = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        return all(
            matches(part, item, bindings, True) or (item == k.NEVER and kind.name == "list")
            for part, item in zip(inner, kind.items, strict=True)
        )
    return bool(kind_of(tree, bindings) == kind)


_WIDER = {
    ("int", "bool"),
    ("unsigned", "int"),
    ("unsigned", "bool"),
    ("float", "int"),
    ("float", "bool"),
}


def _bound(name: str, kind: Kind, bindings: dict[str, Kind]) -> bool:
    known = bindings.setdefault(name, kind)
    if known == kind or kind == k.NEVER:
        return True
    if known == k.NEVER:
        bindings[name] = kind
        return True
    return False


def in_order(row: Row, count: int, named: Sequence[str]) -> list[int | str | None] | None:
    """Returns the argument for each parameter: a position, a name, or None for its default.

    None if the row does not take that many arguments, or arguments of those names.
    """
    if count > len(row.parameters):
        return None
    order: list[int | str | None] = list(range(count))
    rest = row.parameters[count:]
    if not set(named) <= {parameter.name for parameter in rest}:
        return None
    for parameter in rest:
        if parameter.name in named and parameter.name:
            order.append(parameter.name)
        elif parameter.default is not NO_DEFAULT:
            order.append(None)
        else:
            return None
    return order
