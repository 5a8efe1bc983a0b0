"""Writes `colkern/arrays/column.pyi` from the operations: `python tests/operation_stubs.py`.

The methods of columns are the operations whose first argument is a column; each has the operation's
other parameters. A test holds that the file is what is written here.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import colkern as ck
from colkern import methods, schema
from colkern.operations.arguments import OPERATIONS, Kind, Operation

STUB = Path(ck.__file__).parent / "arrays" / "column.pyi"

HEAD = """\
# Written by tests/operation_stubs.py from the operations.

{imports}

Operand: TypeAlias = Any
# A column of any library, an array of NumPy, or a value.

class Column(PublicNames):
"""

IMPORTS = {
    "Any": "typing",
    "NoReturn": "typing",
    "TypeAlias": "typing",
    "NDArray": "numpy.typing",
    "Self": "typing_extensions",
    "PublicNames": "colkern.names",
}
"""Name → its module, of what all stubs need."""

UNARY = ("__neg__", "__abs__", "__invert__", "__bool__")


def annotation(text: str, function: Callable[..., Any], imports: dict[str, str]) -> str:
    """The annotation of a parameter after the first: what is an array may be any column."""
    if "Array" in text or text == "object":
        return "Operand"
    text = text.replace("s.", "")
    for name in set(re.findall(r"\b[A-Z]\w*", text)) - {"None", "True", "False"}:
        found = getattr(
            function.__globals__.get(name, getattr(schema, name, None)), "__module__", ""
        )
        own = function.__module__ if name in function.__globals__ else "colkern.schema"
        imports[name] = found if found.startswith(("colkern", "collections")) else own
    return text


def method(operation: Operation, imports: dict[str, str]) -> str:
    """The stub of a method; what it needs is put into `imports`."""
    function = operation.function
    signature = inspect.signature(function)
    _, *rest = signature.parameters.values()
    parts, keyword = ["self"], False
    for each in rest:
        if each.kind is each.KEYWORD_ONLY and not keyword:
            parts.append("*")
            keyword = True
        star = "*" if each.kind is each.VAR_POSITIONAL else ""
        default = "" if each.default is each.empty else " = ..."
        parts.append(
            f"{star}{each.name}: {annotation(str(each.annotation), function, imports)}{default}"
        )
    result = str(signature.return_annotation)
    in_kind = operation.kind in (Kind.ELEMENT_WISE, Kind.SELECTION) and result == "Array"
    if in_kind or "RecordBatch" in result:
        result = "Self"
    elif result == "Items":
        result = "NDArray[Any]"
    elif "Array" in result:
        imports["Array"] = "colkern.arrays.array"
    return f"def {operation.name}({', '.join(parts)}) -> {result}: ..."


def text() -> str:
    """The whole stub."""
    names = [
        name
        for name, each in sorted(OPERATIONS.items())
        if each.of_column and name in ck.operations.__all__ and name not in vars(ck.Array)
    ]
    imports = dict(IMPORTS)
    lines = [method(OPERATIONS[name], imports) for name in names]
    for name in methods.OPERATORS:
        inspected = ", other: Operand" if name not in UNARY else ""
        result = "NoReturn" if name == "__bool__" else "Self"
        ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        lines.append(f"def {name}(self{inspected}) -> {result}: ...{ignored}")
    modules: dict[str, list[str]] = {}
    for name, module in sorted(imports.items()):
        modules.setdefault(module, []).append(name)
    texts = [f"from {module} import {', '.join(found)}" for module, found in modules.items()]
    head = HEAD.format(imports="\n".join(sorted(texts)))
    return head + textwrap.indent("\n".join(lines), "    ") + "\n"


if __name__ == "__main__":
    STUB.write_text(text())
