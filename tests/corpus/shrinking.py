"""Programs made smaller, as long as they still fail: without statements, with parts for expressions.

What keeps programs short is kept: counters and conditions of `while`, remainders, slices.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator


def smaller(source: str, runs: Callable[[str], bool], fails: Callable[[str], bool]) -> str:
    """The smallest source found for which `fails` holds.

    Args:
        source: A program.
        runs: Whether a source is a program at all; it is cheap.
        fails: Whether the failure that is looked for is there.
    """
    tried = {source}
    again = True
    while again:
        again = False
        for less in (*_with_less(source), *_with_parts(source)):
            if less in tried:
                continue
            tried.add(less)
            if len(less) < len(source) and runs(less) and fails(less):
                source, again = less, True
                break
    return source


def _with_less(source: str) -> Iterator[str]:
    """The source without a statement, or with a statement's body in its place."""
    for place, body in enumerate(_bodies(ast.parse(source))):
        for index, statement in enumerate(body):
            if _counts(statement):
                continue
            for change in (_dropped, _unwrapped):
                tree = ast.parse(source)
                if change(list(_bodies(tree))[place], index):
                    yield ast.unparse(tree) + "\n"


def _counts(statement: ast.stmt) -> bool:
    """Whether a statement counts the turns of `while`."""
    return isinstance(statement, ast.AugAssign) and ast.unparse(statement.target).startswith("k")


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module):
            continue
        for field in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, field, None), list) and body:
                yield body


def _dropped(body: list[ast.stmt], index: int) -> bool:
    del body[index]
    if not body:
        body.append(ast.Pass())
    return True


def _unwrapped(body: list[ast.stmt], index: int) -> bool:
    inner = getattr(body[index], "body", None)
    if not isinstance(inner, list) or isinstance(body[index], ast.While):
        return False
    body[index : index + 1] = inner
    return True


def _with_parts(source: str) -> Iterator[str]:
    """The source with a part of an expression in the expression's place."""
    count = len(_expressions(ast.parse(source)))
    for place in range(count):
        node = _expressions(ast.parse(source))[place][2]
        for part in range(len(_parts(node))):
            tree = ast.parse(source)
            parent, field, node = _expressions(tree)[place]
            _put(parent, field, node, _parts(node)[part])
            yield ast.unparse(tree) + "\n"


def _expressions(tree: ast.AST) -> list[tuple[ast.AST, str, ast.expr]]:
    """Expressions that may be replaced, each with what it is a part of."""
    actual = []
    fixed = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.While)
        for part in ast.walk(node.test)
    }
    for hint in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        fixed |= {id(part) for part in (*ast.walk(hint.args), *ast.walk(hint.returns or hint.args))}
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(parent, ast.JoinedStr) or field in ("func", "format_spec"):
                continue
            for node in value if isinstance(value, list) else [value]:
                if isinstance(node, ast.expr) and id(node) not in fixed and not _limits(node):
                    actual.append((parent, field, node))
    return actual


def _limits(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod)
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def _parts(node: ast.expr) -> list[ast.expr]:
    return [
        part
        for part in ast.iter_child_nodes(node)
        if isinstance(part, ast.expr) and not isinstance(part, ast.Slice | ast.FormattedValue)
    ]


def _put(parent: ast.AST, field: str, node: ast.expr, part: ast.expr) -> None:
    value = getattr(parent, field)
    if isinstance(value, list):
        value[value.index(node)] = part
    else:
        setattr(parent, field, part)
