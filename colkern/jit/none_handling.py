"""Finds the parameters for which a function is certain to fail if they are None.

Functions for PySpark's `udf` have no hints, and get None for nulls. Where such a function fails for None
in any case, nulls may propagate instead. In all other cases, the function decides what becomes of them.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import re
import types
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from colkern.errors import CompileError
from colkern.rows.front import meanings_of, node_of

_BUILTINS = """abs all any chr dict divmod enumerate float frozenset int iter len list max min next ord pow
reversed round set sorted sum tuple zip"""

_PLACES: dict[object, int] = {
    **{getattr(builtins, name): 0 for name in _BUILTINS.split()},
    **{getattr(re, name): 1 for name in ("search", "match", "fullmatch", "findall", "split")},
    **{function: 0 for function in vars(math).values() if callable(function)},
    **{type_.fromisoformat: 0 for type_ in (date, datetime, time)},
    re.sub: 2,
    datetime.strptime: 0,
    Decimal: 0,
}
"""Functions that raise TypeError for None, and the place of the argument."""

_PATTERN_PLACES = {"sub": 1, "search": 0, "match": 0, "fullmatch": 0, "findall": 0, "split": 0}

_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)

_OTHERS = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type)
    and issubclass(value, Exception)
    and not issubclass(AttributeError, value)
    and not issubclass(TypeError, value)
}
"""Exceptions that Python does not raise for None."""

Known = dict[types.FunctionType, set[str]]
"""The results of `certain_to_fail` so far; empty sets for functions that are being read."""


def certain_to_fail(function: Callable[..., object], known: Known | None = None) -> set[str]:
    """Returns the names of the parameters for which a function raises an exception if they are None.

    Whatever the other arguments are, the function computes something that None lacks, such as `x.strip()`
    or `x + 1`, and does not catch the exception. A parameter that is not in the result may do so, too: the
    result is empty if the source cannot be read.

    Args:
        known: The results for functions that call this one, or that were called before.
    """
    known = {} if known is None else known
    if not isinstance(function, types.FunctionType):
        return set()
    if function in known:
        return known[function]
    known[function] = set()
    try:
        node = node_of(function)
    except CompileError:
        return set()
    body: list[ast.stmt] = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
    parameters = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    variables = parameters.union(*map(_stored, body))
    names = {name: value for name, value in meanings_of(function).items() if name not in variables}
    known[function] = _Needs(names, known).of_block(body) & parameters
    return known[function]


class _Needs:
    """Finds the names that code uses in every case, in a way that None does not support.

    Args:
        meanings: The objects for names that are no variables.
        known: The results for other functions.
    """

    def __init__(self, meanings: Mapping[str, Any], known: Known) -> None:
        self._meanings = meanings
        self._known = known

    def of_block(self, statements: list[ast.stmt]) -> set[str]:
        """Returns the names that the statements need, up to one that may end the block early."""
        needs: set[str] = set()
        stored: set[str] = set()
        for number, statement in enumerate(statements):
            match statement:
                case ast.If(test, body, orelse):
                    rest = statements[number + 1 :]
                    if isinstance(body[-1], ast.Return | ast.Raise):
                        orelse, rest = orelse + rest, []
                    branches = self.of_block(body) & self.of_block(orelse)
                    needs |= (self.of(test) | branches) - stored
                    if not rest or _may_leave([*body, *orelse]):
                        return needs
                case ast.Try(body, handlers, orelse, finalbody):
                    if not any(map(_may_catch, handlers)) and not _may_leave(finalbody):
                        needs |= self.of_block(body) - stored
                    return needs
                case ast.Match(subject):
                    return needs | (self.of(subject) - stored)
                case ast.For(iter=items):
                    needs |= (_named(items) | self.of(items)) - stored
                case ast.While(test):
                    needs |= self.of(test) - stored
                case ast.AnnAssign(value=value) if value is not None:
                    needs |= self.of(value) - stored
                case ast.AugAssign(ast.Name(name), _, value):
                    needs |= ({name} | self.of(value)) - stored
                case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.Return():
                    needs |= self.of(statement) - stored
                case ast.Pass() | ast.Import() | ast.ImportFrom() | ast.FunctionDef():
                    pass
                case _:
                    return needs
            if isinstance(statement, ast.Return) or _may_leave([statement]):
                return needs
            stored |= _stored(statement)
        return needs

    def of(self, node: ast.AST) -> set[str]:
        """Returns the names that an expression, or a statement of expressions, needs."""
        rebound = {each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}
        return self._of(node) - rebound

    def _of(self, node: ast.AST) -> set[str]:
        match node:
            case ast.BoolOp(values=[first, *_]):
                return self._of(first)
            case ast.IfExp(test, body, orelse):
                return self._of(test) | (self._of(body) & self._of(orelse))
            case ast.Lambda():
                return set()
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                items = node.generators[0].iter
                return _named(items) | self._of(items)
            case ast.Compare(left, [comparison, *_], [right, *_]):
                own = self._of(left) | self._of(right)
                if isinstance(comparison, (ast.In, ast.NotIn, *_ORDER)):
                    own |= _named(right)
                return own | (_named(left) if isinstance(comparison, _ORDER) else set())
        needs = {name for child in ast.iter_child_nodes(node) for name in self._of(child)}
        match node:
            case ast.BinOp(left, operation, right):
                # Text may be formatted with None: "%s" % x. A union of types may have it: int | x.
                is_certain = not isinstance(operation, ast.BitOr)
                needs |= _named(left) if is_certain else set()
                is_certain &= not isinstance(operation, ast.Mod)
                needs |= _named(right) if is_certain else set()
            case ast.UnaryOp(sign, operand) if not isinstance(sign, ast.Not):
                needs |= _named(operand)
            case ast.Attribute(value, name) if not name.startswith("__"):
                needs |= _named(value)
            case ast.Subscript(value) | ast.Starred(value):
                needs |= _named(value)
            case ast.FormattedValue(value, -1, ast.JoinedStr(parts)):
                # The specification of None is empty.
                needs |= _named(value) if any(isinstance(e, ast.Constant) for e in parts) else set()
            case ast.Call():
                needs |= self._of_call(node)
        return needs

    def _of_call(self, node: ast.Call) -> set[str]:
        """Returns the names that are arguments of a call for which None is an error."""
        called = self._meaning(node.func)
        place = _PLACES.get(called) if isinstance(called, Hashable) else None
        if called in (max, min) and node.keywords:
            # The key, or the default, may be for None.
            place = None
        if isinstance(called, types.FunctionType) and place is None:
            return self._of_arguments(called, node)
        match node.func:
            case ast.Attribute(value, name) if isinstance(self._meaning(value), re.Pattern):
                place = _PATTERN_PLACES.get(name)
        return _named(node.args[place]) if place is not None and place < len(node.args) else set()

    def _of_arguments(self, called: types.FunctionType, node: ast.Call) -> set[str]:
        """Returns the names that are arguments of a function of the user's, which needs them."""
        words = {word.arg: word.value for word in node.keywords if word.arg is not None}
        is_spread = len(words) < len(node.keywords) or any(
            isinstance(e, ast.Starred) for e in node.args
        )
        if is_spread or inspect.isgeneratorfunction(called):
            return set()
        try:
            arguments = inspect.signature(called).bind(*node.args, **words).arguments
        except TypeError:
            return set()
        needs = certain_to_fail(called, self._known) & arguments.keys()
        return {name for word in needs for name in _named(arguments[word])}

    def _meaning(self, node: ast.expr) -> Any:
        """Returns the object that a name, or an attribute of a module or type, means; else None."""
        match node:
            case ast.Name(name):
                return self._meanings.get(name)
            case ast.Attribute(value, name):
                owner = self._meaning(value)
                if isinstance(owner, types.ModuleType | type):
                    return getattr(owner, name, None)
        return None


def _named(node: object) -> set[str]:
    """Returns the name that an expression is; else nothing."""
    return {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()


def _stored(node: ast.AST) -> set[str]:
    """Returns the names that code assigns or defines."""
    stored = {
        e.id for e in ast.walk(node) if isinstance(e, ast.Name) and not isinstance(e.ctx, ast.Load)
    }
    return stored | {each.name for each in ast.walk(node) if isinstance(each, ast.FunctionDef)}


def _may_leave(statements: Iterable[ast.stmt]) -> bool:
    """Whether one of the statements may end the function, a round of a loop, or the loop."""
    leaving = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)
    return any(isinstance(e, leaving) for statement in statements for e in ast.walk(statement))


def _may_catch(handler: ast.ExceptHandler) -> bool:
    """Whether a handler may catch what Python raises for None."""
    if handler.type is None:
        return True
    return not {each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)} <= _OTHERS
