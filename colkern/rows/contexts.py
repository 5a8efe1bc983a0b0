"""`with` of an instance of a user's class, rewritten as calls of its methods around a `try`."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from colkern.errors import CompileError
from colkern.rows.scopes import named_in, nodes_of, own_nodes

METHODS = ("__enter__", "__exit__")
"""The methods that `with` calls."""


class Contexts(ast.NodeTransformer):
    """Rewrites `with C() as x: …` as `x = C().__enter__()`, and a `try` that ends with `x.__exit__(…)`.

    Other `with` statements stay. An `__exit__` that reads the exception, or ends it, has no such form.

    Args:
        names: What the names of the function mean that are no variables of its own.
        node_of: Returns the syntax tree of a function.
        enters: Tells whether a method of a class only returns the instance.
    """

    def __init__(
        self,
        names: Mapping[str, Any],
        node_of: Callable[[types.FunctionType], Any],
        enters: Callable[[type, str], bool],
    ) -> None:
        self._names, self._node_of, self._enters = names, node_of, enters

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """A function within has variables of its own: it stays as it is."""
        return node

    def visit_With(self, node: ast.With) -> ast.stmt | list[ast.stmt]:
        """Rewrites a statement, and those within it."""
        first, *others = node.items
        if others:
            node = ast.With([first], [ast.copy_location(ast.With(others, node.body), node)])
            ast.copy_location(node, node.body[0])
        self.generic_visit(node)
        target = first.optional_vars or ast.Name(f"<entered at {node.lineno}, {node.col_offset}>")
        bound = set().union(*map(_bound_by, nodes_of(node.body)))
        is_kept = isinstance(target, ast.Name) and target.id not in bound
        if not is_kept or not self._is_known(first.context_expr):
            return node
        name: str = target.id  # type: ignore[attr-defined]
        enter = ast.Attribute(first.context_expr, "__enter__", ast.Load())
        leave = ast.Attribute(ast.Name(name, ast.Load()), "__exit__", ast.Load())
        end = ast.Expr(ast.Call(leave, [ast.Constant(None) for _ in range(3)], []))
        parts: list[ast.stmt] = [
            ast.Assign([ast.Name(name, ast.Store())], ast.Call(enter, [], [])),
            ast.Try(node.body, [], [], [end]),
        ]
        return [ast.fix_missing_locations(ast.copy_location(part, node)) for part in parts]

    def _is_known(self, made: ast.expr) -> bool:
        """Whether an expression makes an instance whose methods say nothing about exceptions."""
        form = self._names.get(getattr(getattr(made, "func", None), "id", ""))
        leave = isinstance(form, type) and inspect.getattr_static(form, "__exit__", None)
        if not isinstance(form, type) or not isinstance(leave, types.FunctionType):
            return False
        try:
            node = self._node_of(leave)
        except CompileError:
            return False
        _, *given = inspect.signature(leave).parameters
        ends = [part.value for part in own_nodes(node.body) if isinstance(part, ast.Return)]
        says_nothing = all(
            end is None or (isinstance(end, ast.Constant) and not end.value) for end in ends
        )
        return (
            says_nothing
            and self._enters(form, "__enter__")
            and set(given).isdisjoint(named_in(node.body))
        )


def _bound_by(node: ast.AST) -> set[object]:
    """Returns the variables that a node itself binds; fields of an instance are none."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    names = (getattr(node, field, None) for field in ("name", "asname", "rest"))
    return {*names, *getattr(node, "names", ())}
