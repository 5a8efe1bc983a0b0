"""Writes the stubs of the operations from their table: `python tests/operation_stubs.py`.

`colkern/arrays/column.pyi` has the methods of columns: the operations whose first argument is a
column, with the other parameters. `colkern/operations/__init__.pyi` has the functions, which take more
than the arrays that they are written for. A test holds that the files are what is written here.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import colkern as ck
from colkern import methods
from colkern.functions.row_functions import all_functions
from colkern.operations.arguments import OPERATIONS, Kind, Operation

PACKAGE = Path(ck.__file__).parent

HEAD = """\
# Written by tests/operation_stubs.py from the operations.

{imports}

Operand: TypeAlias = Any
# A column of any library, an array of NumPy, or a value.

class Column(PublicNames):
    # Those of arrays and chunked arrays that are no operations.
    to_pyarrow = methods.to_pyarrow
    to_pandas = methods.to_pandas
    to_polars = methods.to_polars
    _chosen = methods.chosen
    nbytes = property(methods.nbytes)
    _repr_html_ = methods.html
    __arrow_c_schema__ = methods.schema_capsule
"""

IMPORTS = {
    "Any": "typing",
    "NoReturn": "typing",
    "TypeAlias": "typing",
    "NDArray": "numpy.typing",
    "Self": "typing_extensions",
    "PublicNames": "colkern.names",
    "methods": "colkern",
}
"""Name → its module, of what all stubs need."""

PUBLIC = {*ck.operations.__all__, *all_functions(), "cast"}
"""The names of operations that callers use."""

KNOWN = {"None", "True", "False", "AnyColumn", *ck.operations.__all__}
"""Names that need no import."""

CHUNK_BY_CHUNK = (Kind.ELEMENT_WISE, Kind.SELECTION)

RESULTS = {
    "__bool__": "NoReturn",
    **dict.fromkeys(("__divmod__", "__rdivmod__"), "tuple[Self, Self]"),
}
UNARY = ("__neg__", "__pos__", "__abs__", "__invert__", "__bool__")


def noted(text: str, function: Callable[..., Any], imports: dict[str, str]) -> str:
    """An annotation, of which the names are put into `imports`."""
    text = re.sub(r"\bs\.", "", text)
    for name in set(re.findall(r"\b[A-Z]\w*", text)) - KNOWN.union(imports):
        known = name in function.__globals__
        imports[name] = home_of(name, function.__module__) if known else "colkern.schema"
    return text


def home_of(name: str, module: str) -> str:
    """The module that a module imports a name from; else the module itself."""
    for statement in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(statement, ast.ImportFrom) and name in [
            each.name for each in statement.names
        ]:
            return str(statement.module)
    return module


def parameters(function: Callable[..., Any], spelled: Callable[[str], str]) -> list[str]:
    """The parameters of a function in a stub."""
    parts: list[str] = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        star = "*" if each.kind is each.VAR_POSITIONAL else ""
        default = "" if each.default is each.empty else " = ..."
        parts.append(f"{star}{each.name}: {spelled(str(each.annotation))}{default}")
    return parts


def method(operation: Operation, imports: dict[str, str]) -> str:
    """The stub of a method; what it needs is put into `imports`."""
    function = operation.function

    def spelled(text: str) -> str:
        is_column = "Array" in text or text == "object"
        return "Operand" if is_column else noted(text, function, imports)

    _, *rest = parameters(function, spelled)
    result = str(inspect.signature(function).return_annotation)
    in_kind = operation.kind in CHUNK_BY_CHUNK and result == "Array"
    if in_kind or "RecordBatch" in result:
        result = "Self"
    else:
        result = noted(result.replace("Items", "NDArray[Any]"), function, imports)
    return f"def {operation.name}({', '.join(['self', *rest])}) -> {result}: ..."


def columns_stub() -> str:
    """The stub of the methods of columns."""
    names = [
        name
        for name, each in sorted(OPERATIONS.items())
        if each.of_column and name in PUBLIC and name not in vars(ck.Array)
    ]
    imports = dict(IMPORTS)
    lines = [method(OPERATIONS[name], imports) for name in names]
    for name in methods.OPERATORS:
        inspected = ", other: Operand" if name not in UNARY else ""
        if name == "__round__":
            inspected = ", ndigits: int = ..."
        result = RESULTS.get(name, "Self")
        ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        lines.append(f"def {name}(self{inspected}) -> {result}: ...{ignored}")
    return (
        HEAD.format(imports=statements(imports)) + textwrap.indent("\n".join(lines), "    ") + "\n"
    )


def statements(imports: dict[str, str]) -> str:
    """The import statements for names and their modules."""
    modules: dict[str, list[str]] = {}
    for name, module in sorted(imports.items()):
        modules.setdefault(module, []).append(name)
    return "\n".join(sorted(f"from {m} import {', '.join(names)}" for m, names in modules.items()))


FUNCTIONS_HEAD = """\
# Written by tests/operation_stubs.py from the operations.

{imports}

AnyColumn: TypeAlias = Column | Tabular | GivesArray | GivesStream | NDArray[Any]

__all__: list[str]
"""

FUNCTION_IMPORTS = {
    "Any": "typing",
    "TypeAlias": "typing",
    "overload": "typing",
    "NDArray": "numpy.typing",
    "GivesArray": "colkern.builders.entry",
    "GivesStream": "colkern.builders.entry",
    **dict.fromkeys(("Array", "ChunkedArray", "Column", "Tabular"), "colkern.arrays"),
}


def overloads(operation: Operation, imports: dict[str, str]) -> list[str]:
    """The stub of a function: for arrays, with chunked arrays, and with columns of any library."""
    function = operation.function
    result = str(inspect.signature(function).return_annotation).replace("Items", "NDArray[Any]")

    def line(spell: Callable[[str], str], returned: str) -> str:
        given = parameters(function, lambda text: noted(spell(text), function, imports))
        returns = noted(returned, function, imports)
        return f"def {operation.name}({', '.join(given)}) -> {returns}: ..."

    def chunked(text: str) -> str:
        text = text.replace("ArrayOrNumber", "Array | int | float")
        return re.sub(r"\bArray\b", "Array | ChunkedArray", text)

    def of_any(text: str) -> str:
        return chunked(text).replace("Array | ChunkedArray", "AnyColumn")

    if operation.kind not in CHUNK_BY_CHUNK or "Array" not in result:
        return [line(of_any, result)]
    in_chunks = re.sub(r"\bArray\b", "ChunkedArray", result)
    return [
        f"@overload\n{line(str, result)}  # type: ignore[overload-overlap]",
        f"@overload\n{line(chunked, in_chunks)}",
        f"@overload\n{line(of_any, 'Any')}",
    ]


def functions_stub() -> str:
    """The stub of the package of operations."""
    imports = dict(FUNCTION_IMPORTS)
    lines: list[str] = []
    kept: list[str] = []
    homes = {
        alias.name: statement.module
        for statement in ast.parse(Path(ck.operations.__file__).read_text()).body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    for name in sorted(ck.operations.__all__):
        operation = OPERATIONS.get(name)
        result = getattr(ck.operations, name)
        overloaded = typing.get_overloads(operation.function) if operation else []
        takes_none = "Array" not in str(list(inspect.signature(result).parameters.values()))
        if operation is None or overloaded or takes_none:
            kept.append(f"from {homes[name]} import {name} as {name}")
        else:
            lines += overloads(operation, imports)
    head = FUNCTIONS_HEAD.format(imports=statements(imports) + "\n" + "\n".join(sorted(kept)))
    return head + "\n" + "\n".join(lines) + "\n"


STUBS = {
    PACKAGE / "arrays" / "column.pyi": columns_stub,
    PACKAGE / "operations" / "__init__.pyi": functions_stub,
}


if __name__ == "__main__":
    for path, text in STUBS.items():
        path.write_text(text())
