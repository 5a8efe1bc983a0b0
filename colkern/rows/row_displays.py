"""Finds the dictionary displays that are rows: dictionaries with constant keys.

As a result, a row is a struct, and its values may be of different kinds. It never changes, or only at
constant keys, while no other name refers to it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from colkern.rows.scopes import nodes_of

_READING = ("get", "items", "keys", "values")
_TAKING = ("append", "insert", "format_map", "dumps")


def rows_of(nodes: Sequence[ast.AST], changing: Iterable[str] = ()) -> set[int]:
    """Returns the displays in a function that are rows, by the identity of their nodes.

    Args:
        nodes: All nodes of the function.
        changing: The variables of rows that change.
    """
    rows: set[int] = set()
    assigned: dict[str, list[ast.Dict]] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets, ast.Dict() as display):
                for target in targets:
                    assigned.setdefault(getattr(target, "id", ""), []).append(display)
            case ast.AnnAssign(ast.Name(name), value=ast.Dict() as display) if name in changing:
                assigned.setdefault(name, []).append(display)
        for part in _kept(node):
            rows |= {id(display) for display in _displays(part)}
    changed = set(_changed(nodes)) - set(changing)
    for name, displays in assigned.items():
        if name and name not in changed and len(set(map(_keys, displays))) == 1:
            rows |= {id(display) for value in displays for display in _displays(value)}
    return rows


def changing_rows(nodes: Sequence[ast.AST]) -> set[str]:
    """Returns the variables of displays that change only at constant keys, and have no other name.

    A view of one must not be there when it changes, as views are copies.
    """
    ends = {*map(id, nodes_of(node for node in nodes if isinstance(node, ast.Return)))}
    others = nodes_of(node for node in nodes if isinstance(node, ast.FunctionDef | ast.Lambda))
    names_of_rows: set[str] = set()
    displayed: set[str] = set()
    matched = [node for node in nodes if getattr(node, "attr", "") == "groupdict"]
    for node in nodes:
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                ast.Name(name), value=value
            ) if isinstance(value, ast.Dict) or getattr(value, "func", value) in matched:
                displayed.add(name)
            case ast.Attribute() | ast.keyword(None):
                # `_changed` finds the methods that change it.
                continue
            case ast.Subscript(ast.Name(name), ast.Constant(), context):
                names_of_rows |= {name} if isinstance(context, ast.Store) else set()
            case ast.Dict(keys, values):
                others += [value for key, value in zip(keys, values, strict=True) if key]
            case ast.Try(finalbody=[_, *_]):
                return set()
            case _ if id(node) not in ends:
                others += ast.iter_child_nodes(node)
    names = {part.id for part in others if isinstance(part, ast.Name)} | _seen_before(nodes)
    return (names_of_rows & displayed) - names - set(_changed(nodes, stores=False))


def _seen_before(nodes: Sequence[ast.AST]) -> set[str]:
    """Returns the variables whose views a function may have before it assigns to their items."""
    seen = set()
    loops = [node for node in nodes if isinstance(node, ast.For | ast.While)]
    # Over a loop, each part comes before each other.
    for parts in (nodes, *(nodes_of([loop]) for loop in loops)):
        viewed: dict[str, int] = {}
        stored: dict[str, int] = {}
        for node in parts:
            match node:
                case ast.Attribute(ast.Name(name), "items" | "keys" | "values"):
                    line = getattr(node, "lineno", 0)
                    viewed[name] = min(line, viewed.get(name, line))
                case ast.Subscript(ast.Name(name), ctx=ast.Store()):
                    stored[name] = max(getattr(node, "lineno", 0), stored.get(name, 0))
        is_loop = parts is not nodes
        seen |= {n for n in viewed.keys() & stored if is_loop or viewed[n] <= stored[n]}
    return seen


def _kept(node: ast.AST) -> list[ast.expr]:
    """Returns the expressions that a node returns, compares with patterns, or puts into a container."""
    match node:
        case ast.Return(value) | ast.Yield(value) if value is not None:
            return [value]
        case ast.BinOp(_, ast.Mod(), right):
            return [right]
        case ast.keyword(None, value):
            return [value]
        case ast.ListComp(elt) | ast.GeneratorExp(elt):
            return [elt]
        case ast.DictComp(_, value):
            return [value]
        case ast.Call(ast.Attribute(attr=name), arguments) if name in _TAKING:
            return arguments[-1:]
        case ast.Match(subject):
            return [subject]
        case ast.Call(ast.Name("dumps"), arguments):
            return arguments
    return []


def _displays(node: ast.expr) -> Iterator[ast.Dict]:
    """Yields the displays that an expression may be or contain."""
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


def _changed(nodes: Iterable[ast.AST], stores: bool = True) -> Iterator[str]:
    """Yields the variables that are changed, or read with a key that is not constant.

    Args:
        stores: Whether an assignment to a constant key is a change.
    """
    for node in nodes:
        match node:
            case ast.Subscript(ast.Name(name), place, context):
                is_change = not isinstance(context, ast.Load if stores else ast.Load | ast.Store)
                if is_change or not isinstance(place, ast.Constant):
                    yield name
            case ast.Call(ast.Attribute(ast.Name(name), method), arguments):
                constant = not arguments or isinstance(arguments[0], ast.Constant)
                if method not in _READING or not constant:
                    yield name
            case ast.AugAssign(ast.Name(name)):
                yield name
            case ast.Compare(_, operations, comparators):
                for operation, part in zip(operations, comparators, strict=True):
                    is_test = isinstance(operation, ast.In | ast.NotIn)
                    if isinstance(part, ast.Name) and not is_test:
                        yield part.id
