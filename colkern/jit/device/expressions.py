"""Expressions of a user's function: the kind of each, and the code that computes it.

An expression that reads a column becomes statements before the statement that contains it; under the same
condition, if it is conditional. Other expressions stay as they are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from colkern.jit.device import builders, columns, decimals, methods
from colkern.jit.device.assignments import Assignments, variables
from colkern.jit.device.emitter import Emitter, Value, constant, integer, items, record
from colkern.jit.device.kinds import (
    NOTHING,
    PLAIN,
    UNKNOWN,
    Column,
    Decimal,
    Element,
    Kind,
    Literal,
    Record,
    Row,
    Unknown,
    is_plain,
)
from colkern.jit.device.nodes import Builder


def negated(text: str) -> str:
    """The code of the opposite of a condition."""
    return {"True": "False", "False": "True"}.get(text, f"(not {text})")


def calls_something(text: str) -> bool:
    """Whether code has a call, which must happen only once."""
    return any(isinstance(part, ast.Call) for part in ast.walk(ast.parse(text)))


def grouped(text: str) -> str:
    """The code of an expression as one that an attribute or an operator may follow."""
    return text if text.isidentifier() else f"({text})"


def children(node: ast.AST) -> list[ast.expr]:
    """The expressions directly inside a node, in order, also those inside slices and named arguments."""
    expressions: list[ast.expr] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Slice | ast.keyword | ast.Starred):
            expressions += children(child)
        elif isinstance(child, ast.expr):
            expressions.append(child)
    return expressions


class Replaced(ast.NodeTransformer):
    """Puts other expressions in the place of those that `children` finds, in the same order."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._texts = texts

    def visit(self, node: ast.AST) -> Any:
        """The expression in its place, or a node with others in theirs."""
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice | ast.Starred):
            return ast.parse(next(self._texts), mode="eval").body
        return self.generic_visit(node)


_NAMELESS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions with names of their own, which are left alone."""


class Members(NamedTuple):
    """The writers of `value.name` and `value.name(…)` for values of one kind."""

    attribute: Callable[[Emitter, Value, str], Value]
    method: Callable[..., Value]


MEMBERS: dict[type[Kind], Members] = {
    Column: Members(columns.column_attribute, columns.column_method),
    Row: Members(columns.row_attribute, columns.row_method),
    Decimal: Members(decimals.attribute, decimals.method),
    Builder: Members(builders.attribute, builders.method),
    Element: Members(methods.attribute, methods.method),
    Literal: Members(methods.attribute, methods.method),
}


class Expressions(Assignments):
    """Translates the expressions of one function: names, constants, attributes and items."""

    # Values

    def value(self, node: ast.expr) -> Value:
        """The value of an expression; its statements are emitted."""
        method = getattr(self, f"_{type(node).__name__.lower()}", self._generic)
        result: Value = method(node)
        return result

    def text(self, node: ast.expr) -> str:
        """The code of an expression for the compiler."""
        return self.plain(self.value(node))

    def operands(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """The values of several expressions, computed in their order."""
        values: list[Value] = []
        for node in nodes:
            block, at = self.block, len(self.block)
            values.append(self.value(node))
            if len(block) > at:
                # Operands before the one with statements are computed before these.
                with self.within([]) as before:
                    values[:-1] = [self._kept(value) for value in values[:-1]]
                block[at:at] = before
        return values

    def _kept(self, value: Value) -> Value:
        parts = tuple(self.bind(part) if calls_something(part) else part for part in value.parts)
        return Value(value.kind, parts)

    def unplain(self, value: Value) -> str:
        """The code of tuples and of None for the compiler; others have none."""
        if isinstance(value.kind, Record):
            texts = [self.plain(item) for item in items(value)]
            return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
        return super().unplain(value)

    # Names and constants

    def _name(self, node: ast.Name) -> Value:
        if node.id not in self.local:
            if node.id not in self.around:
                raise self.failure(f"name {node.id!r} is not defined")
            return self._global(node.id)
        kind = self.kinds.get(node.id)
        if kind is None:
            kind = self.kinds_so_far.get(node.id, UNKNOWN)
            # It may get other kinds further down.
            kind = UNKNOWN if kind == NOTHING else kind
        return Value(kind, variables(node.id, kind))

    def _global(self, name: str) -> Value:
        if name in self.around:
            meaning = self.around[name]
            if isinstance(meaning, str | bytes):
                return Value(Literal(meaning), ())
            self.namespace[name] = meaning
        return Value(PLAIN, (name,))

    def _constant(self, node: ast.Constant) -> Value:
        return constant(node.value) or Value(PLAIN, (repr(node.value),))

    def _tuple(self, node: ast.Tuple) -> Value:
        return record(self.operands(node.elts))

    def _namedexpr(self, node: ast.NamedExpr) -> Value:
        self.assign([(node.target.id, self.value(node.value))])
        return self.value(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))

    # Attributes and items

    def _attribute(self, node: ast.Attribute) -> Value:
        base = self.inner(self.value(node.value))
        kind = base.kind
        if isinstance(kind, Unknown):
            return Value(UNKNOWN, ("0",))
        if type(kind) in MEMBERS:
            return MEMBERS[type(kind)].attribute(self, base, node.attr)
        if isinstance(kind, Record) and node.attr in kind.names:
            return items(base)[kind.names.index(node.attr)]
        return Value(PLAIN, (f"{grouped(self.plain(base))}.{node.attr}",))

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.inner(self.value(node.value))
        kind, key = base.kind, node.slice
        if isinstance(kind, Unknown):
            return Value(UNKNOWN, ("0",))
        if isinstance(kind, Column) and isinstance(key, ast.Slice):
            return self._part(base, key)
        if methods.is_element(base) and isinstance(key, ast.Slice):
            return self._part_of_element(base, key)
        if isinstance(kind, Column):
            index = self.value(key)
            if isinstance(index.kind, Literal):
                return self._field(base, index)
            return columns.item(self, base, self.plain(index))
        if isinstance(kind, Row):
            return self._field(base, self.value(key))
        if methods.is_element(base):
            return methods.call(self, "[]", [base, self.value(key)])
        if isinstance(kind, Record) and isinstance(key, ast.Constant | ast.UnaryOp):
            position: int = ast.literal_eval(key)
            return items(base)[position]
        return self._generic(node)

    def _part(self, base: Value, key: ast.Slice) -> Value:
        step = self.value(key.step) if key.step else Value(NOTHING, ())
        if step.kind != NOTHING and step.parts != ("1",):
            raise self.failure(f"{base.kind.words} is sliced with a step of 1")
        bounds = [self.value(bound) if bound else None for bound in (key.lower, key.upper)]
        start, stop = (
            None if bound is None or bound.kind == NOTHING else self.plain(bound)
            for bound in bounds
        )
        return columns.part(self, base, start, stop)

    def _part_of_element(self, base: Value, key: ast.Slice) -> Value:
        bounds = [
            Value(NOTHING, ()) if bound is None else self.value(bound)
            for bound in (key.lower, key.upper, key.step)
        ]
        has_step = bounds[2].kind != NOTHING and integer(bounds[2]) != 1
        name = "[::]" if has_step else "[:]"
        return methods.call(self, name, [base, *bounds[: 2 + has_step]])

    def _field(self, base: Value, key: Value) -> Value:
        kind = base.kind
        assert isinstance(kind, Column | Row)
        if not columns.is_struct(kind):
            raise self.failure(f"{kind.words} has no fields")
        k = columns.chosen_position(self, kind, key)
        if isinstance(kind, Row):
            return columns.field_of_row(self, base, k)
        return columns.field_of_column(self, base, k)

    # All else

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        text: Value = Value(Literal(""), ())
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                piece = self._formatted(part)
            else:
                piece = self.value(part)
            is_first = isinstance(text.kind, Literal) and text.kind.value == ""
            text = piece if is_first else methods.call(self, "+", [text, piece])
        return text

    def _formatted(self, node: ast.FormattedValue) -> Value:
        value = self.value(node.value)
        if node.conversion != -1:
            value = methods.call(self, "repr" if chr(node.conversion) == "r" else "str", [value])
        specification = self.value(node.format_spec) if node.format_spec else Value(Literal(""), ())
        if isinstance(specification.kind, Literal) and specification.kind.value == "":
            return methods.call(self, "str", [value])
        return methods.call(self, "format", [value, specification])

    def _generic(self, node: ast.expr) -> Value:
        if isinstance(node, _NAMELESS):
            self._require_no_views(node)
            return Value(PLAIN, (ast.unparse(node),))
        return self._rebuilt(node, self.operands(children(node)))

    def _require_no_views(self, node: ast.expr) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in self.local:
                kind = self.kinds.get(part.id, self.kinds_so_far.get(part.id, UNKNOWN))
                if not is_plain(kind):
                    raise self.failure(
                        f"{part.id} is {kind.words}, which cannot be used within this"
                    )
            elif isinstance(part, ast.Name):
                self._global(part.id)

    def _rebuilt(self, node: ast.expr, values: Sequence[Value]) -> Value:
        """The same expression of other operands."""
        if any(isinstance(value.kind, Unknown) for value in values):
            return Value(UNKNOWN, ("0",))
        texts = iter([self.plain(value) for value in values])
        expression = Replaced(texts).generic_visit(copy.deepcopy(node))
        return Value(PLAIN, (grouped(ast.unparse(expression)),))
