"""Code of expressions, as text and as trees: what is rebuilt of other operands, and how it reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any


def negated(text: str) -> str:
    """The code of the opposite of a condition."""
    return {"True": "False", "False": "True"}.get(text, f"(not {text})")


def calls_something(text: str) -> bool:
    """Whether code calls something, which is to happen once."""
    return any(isinstance(part, ast.Call) for part in ast.walk(ast.parse(text)))


def grouped(text: str) -> str:
    """The code of an expression as one that an attribute or an operator may follow."""
    return text if text.isidentifier() else f"({text})"


def children(node: ast.AST) -> list[ast.expr]:
    """The expressions right below, in their order; of slices and named arguments, those below these."""
    expressions: list[ast.expr] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Slice | ast.keyword | ast.Starred):
            expressions += children(child)
        elif isinstance(child, ast.expr):
            expressions.append(child)
    return expressions


class Replaced:
    """Puts other expressions in the place of those that `children` finds, in the same order."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._texts = texts

    def rebuilt(self, node: ast.AST) -> Any:
        """The same tree with the others in their places."""
        fields = {name: self._field(value) for name, value in ast.iter_fields(node)}
        return type(node)(**fields)

    def _field(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._field(item) for item in value]
        if isinstance(value, ast.Slice | ast.keyword | ast.Starred):
            return self.rebuilt(value)
        if isinstance(value, ast.expr):
            return ast.parse(next(self._texts), mode="eval").body
        return value
