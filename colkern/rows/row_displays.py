"""Which dictionary displays are rows: dictionaries whose keys are known, and which never change.

Such a one is a struct where it is a result, and its values may be of several kinds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_READING = ("get", "items", "keys", "values")
_ADDING = ("append", "insert")


def rows_of(body: Iterable[ast.stmt]) -> set[int]:
    """The displays in a function that are rows, by the identity of their nodes."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    found: set[int] = set()
    assigned: dict[str, list[ast.Dict]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            for target in node.targets:
                assigned.setdefault(getattr(target, "id", ""), []).append(node.value)
        for part in _kept(node):
            found |= {id(display) for display in _displays(part)}
    changed = set(_changed(nodes))
    for name, displays in assigned.items():
        if name and name not in changed and len(set(map(_keys, displays))) == 1:
            found |= {id(display) for value in displays for display in _displays(value)}
    return found


def _kept(node: ast.AST) -> list[ast.expr]:
    """The expressions that a node returns, or puts into a container."""
    match node:
        case ast.Return(value) | ast.Yield(value) if value is not None:
            return [value]
        case ast.BinOp(_, ast.Mod(), right):
            return [right]
        case ast.ListComp(elt) | ast.GeneratorExp(elt):
            return [elt]
        case ast.DictComp(_, value):
            return [value]
        case ast.Call(ast.Attribute(attr=name), arguments) if name in _ADDING:
            return arguments[-1:]
    return []


def _displays(node: ast.expr) -> Iterator[ast.Dict]:
    """The displays that an expression may be or have."""
    parts: list[ast.expr] = []
    match node:
        case ast.Dict(keys, values):
            if all(key is None or isinstance(getattr(key, "value", None), str) for key in keys):
                yield node
            parts = values
        case ast.List(parts) | ast.Tuple(parts) | ast.BoolOp(_, parts):
            pass
        case ast.IfExp(_, then, otherwise):
            parts = [then, otherwise]
    for part in parts:
        yield from _displays(part)


def _keys(display: ast.Dict) -> tuple[str, ...]:
    return tuple(ast.dump(key) if key is not None else "" for key in display.keys)


def _changed(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The variables that are changed, or asked for a key that is not known."""
    for node in nodes:
        match node:
            case ast.Subscript(ast.Name(name), place, context):
                if not isinstance(context, ast.Load) or not isinstance(place, ast.Constant):
                    yield name
            case ast.Call(ast.Attribute(ast.Name(name), method), arguments):
                constant = not arguments or isinstance(arguments[0], ast.Constant)
                if method not in _READING or not constant:
                    yield name
            case ast.AugAssign(ast.Name(name)):
                yield name
            case ast.Compare(_, _, comparators):
                yield from (part.id for part in comparators if isinstance(part, ast.Name))
