"""The source of a user's function, as a tree, and what its global names mean."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from typing import Any

from colkern.errors import CompileError


def definition_of(function: types.FunctionType) -> ast.FunctionDef:
    """The tree of a function, without decorators and annotations, with the lines of its file.

    Raises:
        CompileError: If its source is not to be found, or it is no `def`.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError) as error:
        raise CompileError(
            f"{function.__name__}: its source is not to be found ({error}); kernels with columns are "
            f"made from source: define it in a file or a notebook's cell"
        ) from None
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise CompileError(f"{function.__name__}: a kernel is made from a `def`")
    ast.increment_lineno(tree, first - 1)
    definition.decorator_list = []
    definition.returns = None
    for argument in (*definition.args.posonlyargs, *definition.args.args):
        argument.annotation = None
    return definition


def globals_of(function: types.FunctionType) -> dict[str, Any]:
    """What the names that a function does not assign to mean: those around it, of its module, built in."""
    found = inspect.getclosurevars(function)
    around = dict(found.nonlocals)
    # Its own attribute lookups do not count there: names of the module are all taken.
    return {**found.builtins, **function.__globals__, **around}


def local_names(definition: ast.FunctionDef) -> set[str]:
    """The names that a function assigns to, and its parameters."""
    stored = {
        node.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del)
    }
    return stored | {argument.arg for argument in parameters(definition)}


def parameters(definition: ast.FunctionDef) -> list[ast.arg]:
    """The parameters that are not variadic."""
    return [*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs]
