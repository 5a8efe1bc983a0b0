"""Decorated functions within a row function, as plain functions.

`@decorate def f(…)` becomes `def g(…)` and `f = decorate(g)`. A function that `functools.cache` or
`lru_cache` decorates becomes one that keeps its results in a dictionary of the row. That changes the
result of no function without effects, but functions such as Fibonacci's would take exponential time.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from colkern.errors import CompileError
from colkern.rows.scopes import named_in, nodes_of, own_nodes

CACHED = type(functools.lru_cache(abs))
"""The class of functions that `functools` gives a cache."""

_CACHE = "<cache>"
"""The name of `functools.lru_cache` in the decorators of functions outside."""

_SHARED = "<shared>"
"""The name of `shared` in these decorators."""

_USUAL_SIZE = inspect.signature(functools.lru_cache).parameters["maxsize"].default


def drops_results() -> None:
    """Stands for the place where a cache drops the result that was not used for the longest time."""


def shared(value: Any) -> Any:
    """Stands for a value that other rows have too, so that it must not change."""
    return value


def without_decorators(
    function: types.FunctionType,
    body: list[ast.stmt],
    names: dict[str, Any],
    node_of: Callable[[types.FunctionType], Any],
) -> list[ast.stmt]:
    """Returns the statements of a function with plain functions in place of decorated ones.

    Args:
        body: Its statements, which are changed.
        names: The objects for the names to which it does not assign. A name for `drops_results` is added.
        node_of: Returns the `def` of a function.

    Raises:
        CompileError: If a function with a cache takes `*args` or `**kwargs`, is a generator, or is called
            with its arguments spelled in several ways.
    """
    for cached in [*_recursive(function, body, names)]:
        node = node_of(cached.__wrapped__)
        # The text of a function has no decorators. Its results are those of other rows, too.
        size = ast.Constant(cached.cache_parameters()["maxsize"])
        names |= {_CACHE: functools.lru_cache, _SHARED: shared}
        node.decorator_list = [
            ast.Name(_SHARED, ast.Load()),
            ast.Call(ast.Name(_CACHE, ast.Load()), [size], []),
        ]
        body = [node, *body]
    if not any(getattr(part, "decorator_list", ()) for part in nodes_of(body)):
        return body
    own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    used = {*names, *own, *named_in(body)}
    return _Rewriting(names, own, used).block(body)


def _recursive(
    function: types.FunctionType, body: Sequence[ast.stmt], names: Mapping[str, Any]
) -> Iterator[Any]:
    """Yields the functions outside that statements name, and that call themselves through a cache.

    A row has a dictionary for their results if they are defined within the row function.
    """
    own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    for name in sorted({*named_in(body)} - own):
        cached = names.get(name)
        plain = getattr(cached, "__wrapped__", None)
        if not isinstance(cached, CACHED) or not isinstance(plain, types.FunctionType):
            continue
        code = plain.__code__
        is_recursive = plain.__name__ == name and name in code.co_names
        means_the_same = plain.__globals__ is function.__globals__ and own.isdisjoint(code.co_names)
        if is_recursive and means_the_same and not code.co_freevars:
            yield cached


def _passed(arguments: ast.arguments) -> tuple[str, str]:
    """Returns the arguments of a call that passes all parameters on, and the values alone."""
    places = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    words = [each.arg for each in arguments.kwonlyargs]
    positional = [*places, *(f"{word}={word}" for word in words)]
    return ", ".join(positional), ", ".join([*places, *words])


@dataclass
class _Rewriting(ast.NodeTransformer):
    """Rewrites decorated functions.

    Args:
        names: As for `without_decorators`.
        own: The variables of the function.
        used: The names that have a meaning already.
    """

    _names: dict[str, Any]
    _own: set[str]
    _used: set[str]

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrites the functions in a list of statements."""
        self._parts = nodes_of(body)
        return list(self.visit(ast.Module(body, [])).body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Returns the statements for a function, and those within it."""
        self.generic_visit(node)
        decorators = [each for each in node.decorator_list if not self._is_wraps(each)]
        node.decorator_list = []
        if not decorators:
            return node
        name = node.name
        self._require_one_spelling(name, decorators)
        statements: list[ast.stmt] = [node]
        for decorator in reversed(decorators):
            size = self._size_of(decorator)
            if size == 0:
                # It calls the function each time.
                continue
            last = statements[-1]
            assert isinstance(last, ast.FunctionDef | ast.Assign)
            once = self._new_name(name)
            if isinstance(last, ast.FunctionDef):
                last.name = once
            else:
                last.targets = [ast.Name(once, ast.Store())]
            if self._meaning(decorator) is shared:
                statements.append(self._sharing(node, name, once))
            elif size is None:
                call = ast.Call(decorator, [ast.Name(once, ast.Load())], [])
                statements.append(ast.Assign([ast.Name(name, ast.Store())], call))
            else:
                statements += self._keeping(node, name, once, size)
        for part in nodes_of(statements[1:]):
            ast.copy_location(part, node)
        return statements

    def _require_one_spelling(self, name: str, decorators: Sequence[ast.expr]) -> None:
        """Refuse a function with a cache if its calls differ in more than values.

        A cache keeps the results of `f(1)`, `f(x=1)` and, with a default, `f(1, 2)` apart.
        """
        calls = [
            part
            for part in self._parts
            if isinstance(part, ast.Call) and getattr(part.func, "id", "") == name
        ]
        spellings = {
            (
                *(isinstance(each, ast.Starred) for each in call.args),
                *(word.arg for word in call.keywords),
            )
            for call in calls
        }
        if len(spellings) > 1 and any(self._size_of(each) is not None for each in decorators):
            raise CompileError(
                f"{name}: calls of a function with a cache that spell its arguments in several ways have "
                f"no compiled form"
            )

    def _keeping(self, node: ast.FunctionDef, name: str, once: str, size: float) -> list[ast.stmt]:
        """Returns the statements of a function that keeps the results of another one."""
        arguments, every = _passed(node.args)
        yields = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_nodes(node.body))
        if node.args.vararg or node.args.kwarg or yields:
            raise CompileError(
                f"{name}: a cache of a generator, or of a function with *args or **kwargs, has no "
                f"compiled form"
            )
        key = f"({every or 0})"
        results = self._new_name(f"{name}_results")
        drops = self._new_name(drops_results.__name__)
        self._names[drops] = drops_results
        is_full = "False" if size == math.inf else f"len({results}) == {size}"
        return ast.parse(
            f"{results} = {{}}\n"
            f"def {name}({ast.unparse(node.args)}):\n"
            f"    if {key} not in {results}:\n"
            f"        if {is_full}:\n"
            f"            {drops}()\n"
            f"        {results}[{key}] = {once}({arguments})\n"
            f"    return {results}[{key}]\n"
        ).body

    def _sharing(self, node: ast.FunctionDef, name: str, once: str) -> ast.stmt:
        """Returns a function that calls another one, whose results must not change."""
        arguments, _ = _passed(node.args)
        text = f"def {name}({ast.unparse(node.args)}):\n    return f({once}({arguments}))\n"
        sharing = ast.parse(text).body[0]
        call = sharing.body[0].value  # type: ignore[attr-defined]
        call.func = ast.Name(_SHARED, ast.Load())
        return sharing

    def _is_wraps(self, decorator: ast.expr) -> bool:
        return isinstance(decorator, ast.Call) and self._meaning(decorator.func) is functools.wraps

    def _size_of(self, decorator: ast.expr) -> Any:
        """Returns how many results a decorator keeps; None for one that keeps none."""
        if self._meaning(decorator) is functools.cache:
            return math.inf
        if self._meaning(decorator) is functools.lru_cache:
            return _USUAL_SIZE
        if (
            not isinstance(decorator, ast.Call)
            or self._meaning(decorator.func) is not functools.lru_cache
        ):
            return None
        words = [word.value for word in decorator.keywords if word.arg == "maxsize"]
        size = [*decorator.args[:1], *words, ast.Constant(_USUAL_SIZE)][0]
        if not isinstance(size, ast.Constant):
            raise CompileError(
                f"lru_cache({ast.unparse(size)}) has no compiled form; write a number"
            )
        if size.value is not None and type(size.value) is not int:
            raise CompileError(f"lru_cache({ast.unparse(size)}): maxsize is an integer or None")
        return math.inf if size.value is None else max(size.value, 0)

    def _meaning(self, node: ast.expr) -> Any:
        """Returns the object outside the function that an expression names."""
        if isinstance(node, ast.Attribute):
            return getattr(self._meaning(node.value), node.attr, None)
        if not isinstance(node, ast.Name) or node.id in self._own:
            return None
        return self._names.get(node.id)

    def _new_name(self, like: str) -> str:
        while like in self._used:
            like += "_"
        self._used.add(like)
        return like
