"""Functions that are generated, and why they are.

A loop over rows has a parameter for each buffer of its arguments, and an append to a struct has a
statement for each field. Numba compiles neither a variable number of different parameters nor a loop
over different types, so such functions are written as text, or as a syntax tree, for the types at hand.
Names that users choose, such as those of fields, go into the text as `repr` writes them.

A cache identifies a generated function like any other, by its code and the content of its globals
(`colkern.cpu.content`), so a changed template gives another key. The namespace becomes the
function's globals: its `__name__` says which module Numba imports when it loads the compiled code.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
from types import FunctionType


def function_of_text(
    name: str, source: str, namespace: dict[str, object], title: str
) -> FunctionType:
    """The function `name` that `source` defines, which `namespace` gets too; tracebacks show its lines."""
    path = f"<colkern {title} {hashlib.sha256(source.encode()).hexdigest()[:8]}>"
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    exec(compile(source, path, "exec"), namespace)
    return _defined(name, namespace)


def function_of_tree(
    name: str, tree: ast.Module, namespace: dict[str, object], path: str
) -> FunctionType:
    """The function `name` that a syntax tree defines, which `namespace` gets too."""
    exec(compile(tree, path, "exec"), namespace)
    return _defined(name, namespace)


def _defined(name: str, namespace: dict[str, object]) -> FunctionType:
    function = namespace[name]
    assert isinstance(function, FunctionType)
    return function
