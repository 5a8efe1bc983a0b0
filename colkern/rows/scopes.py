"""The variables of functions and comprehensions: finds the assigned ones, and gives each a unique name."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any


def stored_names(nodes: Sequence[ast.AST]) -> set[str]:
    """Returns the variables to which statements assign, except those of comprehensions."""
    return set().union(*map(_stored_names, nodes))


@lru_cache(maxsize=1 << 10)
def _stored_names(outer: ast.AST) -> set[str]:
    names: set[str] = set()
    waiting = [outer]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(getattr(node.value, "id", ""))
            waiting.append(node.value)
        elif (isinstance(node, ast.ExceptHandler) and node.name) or (
            isinstance(node, ast.MatchAs | ast.MatchStar) and node.name
        ):
            names.add(node.name)
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, _COMPREHENSIONS):
            waiting += [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return names


def nodes_of(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """Returns nodes and all those within them; faster than `ast.walk`."""
    found = list(nodes)
    for node in found:
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, list):
                found += [each for each in part if isinstance(each, ast.AST)]
            elif isinstance(part, ast.AST):
                found.append(part)
    return found


def named_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the variables that nodes, and those within them, name, once for each place."""
    return (part.id for part in nodes_of(nodes) if isinstance(part, ast.Name))


def declared_elsewhere(nodes: Iterable[ast.AST]) -> set[str]:
    """Returns the outer variables that some of all the nodes of functions declare `nonlocal`."""
    return {name for part in nodes if isinstance(part, ast.Nonlocal) for name in part.names}


_LOOKING = frozenset(["count", "get", "index"])
_TAKING = (all, any, enumerate, len, max, min, sum, zip)


def tables_of(nodes: Iterable[ast.AST], names: Mapping[str, Any], kind: type = object) -> set[str]:
    """Returns the variables that are assigned once and only read, so that their containers never change.

    Args:
        nodes: All nodes of the function.
        names: The objects for the names to which it does not assign.
        kind: Their type; for a set, only membership tests count as reading, as its order is undefined.
    """
    loads: Counter[str] = Counter()
    stores: Counter[str] = Counter()
    for node in nodes:
        asked: list[ast.expr] = []
        match node:
            case ast.Name(name, ast.Load()):
                loads[name] += 1
            case ast.Name(name):
                stores[name] += 1
            case ast.Nonlocal(outer):
                stores.update(outer)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                stores[name] += 1
            case ast.Compare(_, operations, sides):
                sides_of = zip(operations, sides, strict=True)
                asked = [side for each, side in sides_of if isinstance(each, ast.In | ast.NotIn)]
            case _ if kind is set:
                pass
            case ast.Subscript(value, _, ast.Load()):
                asked = [value]
            case ast.For(iter=value) | ast.comprehension(iter=value):
                match value:
                    case ast.Call(ast.Attribute(owner, "items" | "keys" | "values"), []):
                        value = owner
                asked = [value]
            case ast.Call(ast.Attribute(ast.Constant(), "join"), arguments):
                asked = arguments
            case ast.Call(ast.Attribute(value, method)) if method in _LOOKING:
                asked = [value]
            case ast.Call(ast.Name(name), arguments) if any(
                names.get(name) is each for each in _TAKING
            ):
                # `max(table, other)` returns one of its arguments.
                asked = arguments if len(arguments) == 1 or name in ("enumerate", "zip") else []
        loads.subtract(each.id for each in asked if isinstance(each, ast.Name))
    return {name for name, count in stores.items() if count == 1 and not loads[name]}


def own_names(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Returns the parameters and variables of a function."""
    parameters = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    if isinstance(node, ast.Lambda):
        return parameters | stored_names([node.body])
    declared = [part for part in own_nodes(node.body) if isinstance(part, _DECLARATIONS)]
    others = {name for part in declared for name in part.names}
    return (parameters | stored_names(node.body)) - others


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yields nodes and those within them, except the contents of functions among them."""
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            yield from own_nodes(ast.iter_child_nodes(node))


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_DECLARATIONS = (ast.Global, ast.Nonlocal)

_NAMED: dict[type[ast.AST], str] = {
    ast.Name: "id",
    ast.arg: "arg",
    ast.FunctionDef: "name",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
    ast.Nonlocal: "names",
}
"""The nodes that name a variable, and the field with the name."""


def _names(node: ast.AST) -> Iterator[str]:
    for part in nodes_of([node]):
        names = getattr(part, _NAMED.get(type(part), ""), None) or ()
        yield from [names] if isinstance(names, str) else names


def give_own_names(body: Sequence[ast.stmt]) -> None:
    """Rename variables so that no two functions or comprehensions within a function share a name.

    So a variable means the same in whichever function it is read. Arguments are still passed by the
    original names of parameters: `called`.
    """
    counts = Counter(name for node in body for name in _names(node))
    renaming = _Renaming(counts)
    for node in body:
        renaming.visit(node)
    # The cache has results with the former names.
    _stored_names.cache_clear()


class _Renaming(ast.NodeVisitor):
    """Renames variables of inner scopes whose names also occur outside."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._new: dict[str, str] = {}

    def visit(self, node: ast.AST) -> None:
        """Visit a node, and those within it."""
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            self._rename(node, ("name",))
            outside = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            self._within(node, own_names(node), [*outside, *getattr(node, "decorator_list", ())])
        elif isinstance(node, _COMPREHENSIONS):
            targets = [generator.target for generator in node.generators]
            self._within(node, stored_names(targets), [node.generators[0].iter])
        else:
            self._rename(node, ("id", "arg", "name", "rest", "names"))
            self.generic_visit(node)

    def _rename(self, node: ast.AST, fields: Iterable[str]) -> None:
        field = _NAMED.get(type(node), "")
        value: Any = getattr(node, field, None)
        if field not in fields or not value:
            return
        if isinstance(node, ast.arg):
            vars(node)["called"] = value
        names = [value] if isinstance(value, str) else value
        new = [self._new.get(name, name) for name in names]
        setattr(node, field, new[0] if isinstance(value, str) else new)

    def _within(self, node: ast.AST, own: set[str], outside: Sequence[ast.AST]) -> None:
        """Visit a scope with variables of its own, after the parts that are evaluated outside it."""
        for part in outside:
            self.visit(part)
        outer, inside = self._new, Counter(_names(node))
        self._new = dict(outer)
        for name in sorted(own):
            self._new.pop(name, None)
            if self._counts[name] > inside[name]:
                self._new[name] = f"{name}_"
                while self._new[name] in self._counts:
                    self._new[name] += "_"
                self._counts[self._new[name]] += 1
        skipped = {id(part) for part in outside}
        for part in ast.iter_child_nodes(node):
            self._visit_but(part, skipped)
        self._new = outer

    def _visit_but(self, node: ast.AST, skipped: set[int]) -> None:
        """Visit the contents of a scope, except the parts that were visited outside it."""
        if id(node) in skipped:
            return
        if isinstance(node, ast.arguments | ast.comprehension):
            for part in ast.iter_child_nodes(node):
                self._visit_but(part, skipped)
        else:
            self.visit(node)


def class_around(qualified_name: str) -> str:
    """Returns the innermost class in whose text a function stands, by its name; empty if there is none."""
    *parts, _ = qualified_name.split(".")
    while parts[-1:] == ["<locals>"]:
        del parts[-2:]
    return parts[-1] if parts else ""


def give_private_names(function: ast.FunctionDef | ast.Lambda, owner: str) -> None:
    """Rename what is private to a class (`self.__x`) within a function, as Python does."""
    own = owner.lstrip("_")
    for node in ast.walk(function) if own else ():
        field = _NAMED.get(type(node), "") or _PRIVATE.get(type(node), "")
        names = getattr(node, field, None) or ()
        if node is function or not names:
            continue
        each = [names] if isinstance(names, str) else names
        new = [f"_{own}{name}" if name[:2] == "__" and name[-2:] != "__" else name for name in each]
        setattr(node, field, new[0] if isinstance(names, str) else new)


_PRIVATE: dict[type[ast.AST], str] = {
    ast.Attribute: "attr",
    ast.keyword: "arg",
    ast.Global: "names",
}
"""The nodes beside `_NAMED` with names that may be private to a class."""
