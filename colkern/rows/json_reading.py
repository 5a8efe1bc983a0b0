"""How a row function uses a document of `json.loads` or `ast.literal_eval`, by its syntax.

Code for lists and objects within an object takes three times as long to compile as code for numbers and
texts, and few functions read them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

_GETTERS = ("get", "pop", "setdefault")
_OF_CONTAINERS = ("append", "extend", "get", "items", "keys", "update", "values")
_OF_SCALARS = ("bool", "float", "int", "isinstance", "repr", "round", "str", "type")
_READING = ("extend", "join", "update")
_OF_LISTS_NAMES = "Counter enumerate join len list max min set sorted sum zip"
_OF_LISTS = tuple(_OF_LISTS_NAMES.split())
_SCALARS = {"bool", "float", "int", "str"}


class Reader:
    """The uses of a document in a function.

    Args:
        nodes: All nodes of the function.
        document: The call that gives the document.
        result: The hint for the function's result.
    """

    def __init__(self, nodes: Sequence[ast.AST], document: ast.Call, result: object) -> None:
        self._nodes = nodes
        self._document = document
        self._words = set(re.findall(r"\w+", getattr(result, "__name__", str(result))))
        self._gives_list = bool(re.search(r"\b[Ll]ist\b", str(result)))
        self._documents: set[str] = set()
        self._values: set[str] = set()
        known = -1
        while known != len(self._documents) + len(self._values):
            known = len(self._documents) + len(self._values)
            for target, value in _assignments(nodes):
                if self._is_document(value):
                    self._documents |= _names(target)
                elif self._is_value(value):
                    self._values |= _names(target)
            for loop in (node for node in nodes if isinstance(node, ast.For | ast.comprehension)):
                if self._gives_values(loop.iter):
                    self._values |= _names(loop.target)

    def looks_within(self) -> bool:
        """Whether the function looks into a value of the document, or gives one away whose type it does not
        say."""
        gives_scalars = bool(self._words & _SCALARS) and not self._words - {
            *_SCALARS,
            *("None", "NoneType", "Optional", "Union", "typing"),
        }
        return any(map(self._looks, self._nodes)) or any(
            self._is_document(node.value) or (not gives_scalars and self._is_value(node.value))
            for node in self._nodes
            if isinstance(node, ast.Return | ast.Yield)
        )

    def is_list(self) -> bool:
        """Whether the document is used as a list, and not as an object."""
        return {use for node in self._nodes for use in self._uses(node)} == {list}

    def _uses(self, node: ast.AST) -> Iterator[type]:
        """Yields the types that a node takes the document for."""
        if isinstance(node, ast.Subscript) and self._is_document(node.value):
            is_place = isinstance(node.slice, ast.Slice | ast.UnaryOp) or (
                isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int)
            )
            yield list if is_place else dict
        elif isinstance(node, ast.Attribute) and self._is_document(node.value):
            yield dict
        elif isinstance(node, ast.For | ast.comprehension) and self._is_document(node.iter):
            yield list
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant):
            yield from [dict] * any(map(self._is_document, node.comparators))
        elif isinstance(node, ast.Call) and _called(node) in _OF_LISTS:
            yield from [list] * any(map(self._is_document, node.args))
        elif isinstance(node, ast.Return) and self._is_document(node.value):
            yield list if self._gives_list else dict

    def _is_document(self, node: ast.AST | None) -> bool:
        parts = _alternatives(node)
        return any(
            part is self._document or (isinstance(part, ast.Name) and part.id in self._documents)
            for part in parts
        )

    def _is_value(self, node: ast.AST | None) -> bool:
        """Whether an expression may be a value of the document, or a part of one."""
        return any(map(self._is_one_value, _alternatives(node)))

    def _is_one_value(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._values
        if isinstance(node, ast.Subscript):
            return not isinstance(node.slice, ast.Slice) and self._is_of(node.value)
        func = getattr(node, "func", None)
        return isinstance(func, ast.Attribute) and func.attr in _GETTERS and self._is_of(func.value)

    def _is_of(self, node: ast.AST | None) -> bool:
        return self._is_document(node) or self._is_value(node)

    def _gives_values(self, node: ast.AST) -> bool:
        """Whether a loop over an expression gives values of the document."""
        if not isinstance(node, ast.Call) or self._is_of(node):
            return self._is_of(node)
        if isinstance(node.func, ast.Attribute):
            return _called(node) in ("items", "values") and self._is_of(node.func.value)
        return _called(node) in _OF_LISTS and any(map(self._gives_values, node.args))

    def _looks(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Subscript):
            return not isinstance(node.slice, ast.Slice) and self._is_value(node.value)
        if isinstance(node, ast.Attribute):
            return node.attr in _OF_CONTAINERS and self._is_value(node.value)
        if isinstance(node, ast.For | ast.comprehension):
            return self._is_value(node.iter)
        if isinstance(node, ast.Assign):
            return isinstance(node.targets[0], ast.Tuple | ast.List) and self._is_value(node.value)
        if isinstance(node, ast.Starred):
            return self._is_of(node.value)
        if isinstance(node, ast.Match):
            return self._is_of(node.subject)
        if isinstance(node, ast.Compare):
            displays = (ast.List, ast.Dict)
            return any(isinstance(part, displays) for part in (node.left, *node.comparators))
        return isinstance(node, ast.Call) and self._takes_containers(node)

    def _takes_containers(self, node: ast.Call) -> bool:
        """Whether a call may look into a value, or a function of the user's gets the document."""
        func = node.func
        if isinstance(func, ast.Attribute):
            return func.attr in _READING and any(map(self._is_value, node.args))
        name = getattr(func, "id", "")
        if name == "isinstance":
            words = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            return bool(words & {"dict", "list"}) and any(map(self._is_value, node.args))
        if name in _OF_SCALARS:
            return False
        return any(map(self._is_value, node.args)) or (
            name != "len" and any(map(self._is_document, node.args))
        )


def _alternatives(node: ast.AST | None) -> Iterator[ast.AST]:
    """Yields the expressions one of which an expression is."""
    if isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from _alternatives(part)
    elif isinstance(node, ast.IfExp):
        yield from _alternatives(node.body)
        yield from _alternatives(node.orelse)
    elif isinstance(node, ast.NamedExpr):
        yield from _alternatives(node.value)
    elif node is not None:
        yield node


def _assignments(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """Yields targets, each with its value."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            yield node.target, node.value


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def _names(target: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
