"""The syntax tree of a user's function, and what the names in it mean."""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import textwrap
import tokenize
import types
from dataclasses import dataclass
from typing import Any

from colkern.errors import CompileError


@dataclass(frozen=True)
class Definition:
    """A function as a syntax tree.

    Args:
        function: The function.
        parameters: The names of its parameters.
        body: Its statements; a lambda has a `return`.
        names: What the names that it does not assign to mean.
        path: The file.
    """

    function: types.FunctionType
    parameters: tuple[str, ...]
    body: list[ast.stmt]
    names: dict[str, Any]
    path: str


def definition_of(function: types.FunctionType) -> Definition:
    """The definition of a function, with the lines of its file.

    Raises:
        CompileError: If its source is not to be had.
    """
    node = _node_of(function)
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
    else:
        body = node.body
    arguments = node.args
    if arguments.vararg or arguments.kwarg:
        raise CompileError(f"{function.__name__}: *args and **kwargs do not compile")
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = tuple(argument.arg for argument in parameters)
    return Definition(function, names, body, _meanings(function), function.__code__.co_filename)


NO_SOURCE = (OSError, TypeError, SyntaxError, tokenize.TokenError)
"""What `inspect` raises where there are no lines of a function, or its file has changed since."""

Sources = dict[str, tuple[list[str], int]]
"""The lines of functions and the number of the first, by what tells the functions apart."""

_SHIPPED: Sources = {}


def sources_of(function: types.FunctionType) -> Sources:
    """The sources of a function and of the plain functions that it names, for a process without them."""
    found: Sources = {}
    waiting = [function]
    while waiting and len(found) < MOST_SHIPPED:
        each = waiting.pop()
        if _key(each) in found:
            continue
        try:
            found[_key(each)] = _lines_of(each)
        except NO_SOURCE:
            continue
        named = _meanings(each)
        waiting += [
            value
            for name in _names_in(each.__code__)
            if isinstance(value := named.get(name), types.FunctionType)
        ]
    return found


MOST_SHIPPED = 64
"""So many functions are sent along at most."""


def take_sources(sources: Sources) -> None:
    """Keep sources that came from another process."""
    _SHIPPED.update(sources)


def _key(function: types.FunctionType) -> str:
    """What tells a function from others, in all processes; also from what stood in its place before,
    as in a notebook's cell that was edited."""
    code = function.__code__
    place = code.co_filename, code.co_firstlineno, code.co_name
    return hashlib.sha256(repr((place, _content(code))).encode()).hexdigest()


def _content(code: types.CodeType) -> tuple[object, ...]:
    constants = [
        _content(part)
        if isinstance(part, types.CodeType)
        # The order of a set differs from process to process.
        else sorted(map(repr, part))
        if isinstance(part, frozenset)
        else repr(part)
        for part in code.co_consts
    ]
    return code.co_code, code.co_names, code.co_varnames, constants


def _lines_of(function: types.FunctionType) -> tuple[list[str], int]:
    """The lines of a function, and the number of the first.

    Raises:
        OSError, TypeError: If they are not to be had.
    """
    # The file that a worker has under the name may be another.
    shipped = _SHIPPED.get(_key(function)) if _SHIPPED else None
    return shipped or inspect.getsourcelines(function)


def _names_in(code: types.CodeType) -> set[str]:
    names = {*code.co_names, *code.co_freevars}
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            names |= _names_in(part)
    return names


def _node_of(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda:
    """The very `def` or `lambda`: of several lambdas in a line, the one whose code has the same places."""
    try:
        lines, first = _lines_of(function)
    except NO_SOURCE as error:
        raise CompileError(
            f"{function.__name__}: its source is not to be had ({error}); define it in a file or a "
            f"notebook's cell"
        ) from None
    tree, shift = _parsed("".join(lines), function.__name__)
    ast.increment_lineno(tree, first - 1)
    is_lambda = function.__code__.co_name == "<lambda>"
    wanted = ast.Lambda if is_lambda else ast.FunctionDef
    found: list[Any] = [node for node in ast.walk(tree) if isinstance(node, wanted)]
    if len(found) > 1 and is_lambda:
        places = _places(function.__code__)
        found = [node for node in found if _place(node.body, shift) in places]
    elif not is_lambda:
        found = [node for node in found if node.name == function.__code__.co_name][:1]
    if not found:
        raise CompileError(f"{function.__name__}: its source is not a plain `def` or `lambda`")
    node = found[0]
    assert isinstance(node, ast.FunctionDef | ast.Lambda)
    return node


def _parsed(text: str, name: str) -> tuple[ast.Module, int]:
    """The tree of the lines that a function stands in, and how many columns they were moved."""
    plain = textwrap.dedent(text)
    shift = len(text) - len(text.lstrip(" \t")) if plain != text else 0
    # A lambda may stand within a call whose other lines are not there, or open a block.
    for candidate in (plain, f"{plain.rstrip().rstrip(':')}", f"({plain.strip().rstrip(',')})"):
        try:
            return ast.parse(candidate), shift
        except SyntaxError:
            continue
    at = plain.find("lambda")
    for end in range(len(plain), at, -1) if at >= 0 else ():
        try:
            return ast.parse("(" + plain[at:end].rstrip() + ")"), shift - at + 1
        except SyntaxError:
            continue
    raise CompileError(f"{name}: its source cannot be read")


def _places(code: types.CodeType) -> set[tuple[int | None, int | None]]:
    """The line and column at which instructions of a function begin."""
    return {(line, column) for line, _, column, _ in code.co_positions()}


def _place(node: ast.expr, shift: int) -> tuple[int, int]:
    inner = next(iter(ast.walk(node)))
    assert isinstance(inner, ast.expr)
    return inner.lineno, inner.col_offset + shift


def _meanings(function: types.FunctionType) -> dict[str, Any]:
    """What names mean that a function does not assign to: those around it, of its module, built in."""
    around = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            around[name] = cell.cell_contents
        except ValueError:
            continue
    return {**vars(builtins), **function.__globals__, **around}
