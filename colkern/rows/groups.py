"""Tells whether the groups of `groupby` may be lists: Python's can be read once only."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from colkern.rows.scopes import nodes_of

_GOING_OVER_NAMES = "Counter all any join list max min set sorted sum tuple"
_GOING_OVER = tuple(_GOING_OVER_NAMES.split())
"""Functions that only iterate over their argument."""

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def are_gone_over_once(body: Sequence[ast.stmt], call: ast.Call) -> bool:
    """Whether a function iterates at most once over each group of a call of `groupby`.

    Args:
        call: The call, over which a loop or a comprehension of the function iterates.
    """
    nodes = nodes_of(body)
    parts: list[ast.AST]
    for node in nodes:
        if isinstance(node, ast.For) and node.iter is call:
            target, parts = node.target, [*node.body]
        elif isinstance(node, _LOOPS[2:]) and node.generators[0].iter is call:
            target, parts = node.generators[0].target, list(_of_a_round(node))
        else:
            continue
        last = target.elts[-1] if isinstance(target, ast.Tuple) else target
        if not isinstance(last, ast.Name):
            return False
        # A pair that is not unpacked has the group as its item 1; its item 0 may be read anywhere.
        name = last.id if last is not target else f"{last.id}[1]"
        used = sum(isinstance(n, ast.Name) and n.id == last.id for n in nodes) - 1
        keys = sum(_is(n, f"{last.id}[0]") for n in nodes) if last is target else 0
        return used - keys == sum(_visits(part, name) for part in parts) <= 1
    return False


def _of_a_round(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the parts of a comprehension that are evaluated once per round of its first loop."""
    first, *rest = node.generators  # type: ignore[attr-defined]
    yield from first.ifs
    if rest:
        yield ast.For(ast.Constant(None), rest[0].iter, [], [])
    elif isinstance(node, ast.DictComp):
        yield from (node.key, node.value)
    else:
        yield node.elt  # type: ignore[attr-defined]


def _visits(node: ast.AST, name: str) -> int:
    """Returns the number of iterations over a variable, or an item, in a node that is evaluated once."""
    if isinstance(node, ast.For):
        return _is(node.iter, name) or _visits(node.iter, name)
    if isinstance(node, _LOOPS[2:]):
        first = node.generators[0].iter
        return _is(first, name) or _visits(first, name)
    if isinstance(node, ast.While | ast.Lambda | ast.FunctionDef):
        return 0
    count = 0
    if isinstance(node, ast.Call):
        function = getattr(node.func, "id", getattr(node.func, "attr", ""))
        count = sum(_is(part, name) for part in node.args if function in _GOING_OVER)
    return count + sum(_visits(part, name) for part in ast.iter_child_nodes(node))


def _is(node: ast.AST, name: str) -> int:
    return int(isinstance(node, ast.Name | ast.Subscript) and ast.unparse(node) == name)
