"""The syntax tree of a user's function, and what the names in it mean."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
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


def _node_of(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda:
    """The very `def` or `lambda`: of several lambdas in a line, the one whose code has the same places."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise CompileError(
            f"{function.__name__}: its source is not to be had ({error}); define it in a file or a "
            f"notebook's cell"
        ) from None
    tree, shift = _parsed("".join(lines), function.__name__)
    ast.increment_lineno(tree, first - 1)
    is_lambda = function.__code__.co_name == "<lambda>"
    wanted = ast.Lambda if is_lambda else ast.FunctionDef
    found = [node for node in ast.walk(tree) if isinstance(node, wanted)]
    if not is_lambda:
        found = [node for node in found if node.name == function.__code__.co_name][:1]
    elif len(found) > 1:
        places = _places(function.__code__)
        found = [node for node in found if _place(node.body, shift) in places]
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
