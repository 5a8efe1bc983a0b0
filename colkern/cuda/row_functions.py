"""Row functions on CUDA: compiled bodies whose texts are values, and generated source.

Bodies of row functions call each other deeply. Each is compiled separately, and NVVM inlines those for
which it pays; that takes a tenth of the time of inlining all of them before. Texts are objects of
`NamedTuple` classes, which numba-cuda supports, but not numba-cuda-mlir.

Products are not fused with additions, since Python rounds twice.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from colkern.cuda import adapter
from colkern.errors import UnsupportedError
from colkern.generated import function_of_text, function_of_tree
from colkern.kernels.kernel import HELPERS
from colkern.kernels.primitives import PRIMITIVES

_PRODUCT = "_product"


def require_compiler() -> None:
    """Raise `UnsupportedError` if the chosen compiler does not support row functions."""
    if adapter.is_mlir():
        raise UnsupportedError("row functions compiled by numba-cuda-mlir")


@cache
def body(function: Callable[..., object]) -> object:
    """A body or a primitive that the source of a row function calls."""
    if adapter.is_simulated():
        return function
    if function in PRIMITIVES:
        # Imported late: it loads Numba.
        from colkern.cuda import primitives

        shared = getattr(primitives, function.__name__, function)
        # A primitive written in Python is the same for every compiler.
        if not isinstance(shared, types.FunctionType):
            return adapter.primitive(function.__name__)
    namespace: dict[str, object] = {"__name__": __name__}
    for name in function.__code__.co_names:
        if name in function.__globals__:
            namespace[name] = _value(function.__globals__[name])
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    path = function.__code__.co_filename
    return adapter.separate_function(_rounding(function.__name__, tree, namespace, path))


def _value(value: object) -> Any:
    """A global of a body in the form that the compiler needs; constants and types stay as they are."""
    if isinstance(value, types.FunctionType) and (value in HELPERS or value in PRIMITIVES):
        return body(value)
    return value


def generated(name: str, source: str, namespace: Mapping[str, object], title: str) -> Any:
    """A function of generated source that kernels call; its global names are in `namespace`."""
    own = {**namespace, "__name__": __name__}
    if adapter.is_simulated():
        return function_of_text(name, source, own, title)
    return adapter.separate_function(_rounding(name, ast.parse(source), own, f"<{title}>"))


def _rounding(
    name: str, tree: ast.Module, namespace: dict[str, object], path: str
) -> types.FunctionType:
    """The function that a tree defines, with each product rounded by itself."""
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    # Annotations may use names that are not in the namespace.
    definition.returns = None
    for argument in definition.args.args:
        argument.annotation = None
    namespace[_PRODUCT] = adapter.primitive("product")
    _Products().visit(tree)
    ast.fix_missing_locations(tree)
    return function_of_tree(name, tree, namespace, path)


class _Products(ast.NodeTransformer):
    """Replaces `*` by a call."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Replace a product by a call."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Mult):
            return node
        return ast.copy_location(_product(node.left, node.right), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Replace `name *= value` by an assignment of a call."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Mult) or not isinstance(node.target, ast.Name):
            return node
        value = _product(ast.Name(node.target.id, ast.Load()), node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)


def _product(left: ast.expr, right: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(_PRODUCT, ast.Load()), [left, right], [])
