"""Methods of `bytes` in row functions, but formats and numbers: mostly the bodies of text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from colkern.generated import function_of_text
from colkern.kernels import byte_string_methods
from colkern.kernels.kernel import helper
from colkern.kernels.row_values import Bytes
from colkern.rows.methods import Method
from colkern.rows.methods import text as text_methods

_RESULTS = {
    "Text": ("Bytes", "Bytes(result.address, result.size)"),
    "tuple[Text, Code]": (
        "tuple[Bytes, Code]",
        "(Bytes(result[0].address, result[0].size), result[1])",
    ),
    "tuple[tuple[Text, Text, Text], Code]": (
        "tuple[tuple[Bytes, Bytes, Bytes], Code]",
        "((Bytes(result[0][0].address, result[0][0].size), Bytes(result[0][1].address, result[0][1].size),"
        " Bytes(result[0][2].address, result[0][2].size)), result[1])",
    ),
}
"""How results of bodies of text become those of byte strings: their type, and an expression."""


def _for_bytes(body: Callable[..., Any]) -> Callable[..., Any]:
    """The body for byte strings that calls one for text."""
    signature = inspect.signature(body)
    names = ", ".join(signature.parameters)
    passed = ", ".join(
        f"as_text({name})" if parameter.annotation == "Text" else name
        for name, parameter in signature.parameters.items()
    )
    hint, result = _RESULTS.get(
        signature.return_annotation, (signature.return_annotation, "result")
    )
    head = f"def {body.__name__}({names}) -> {hint!r}:\n"
    source = f"{head}    result = body({passed})\n    return {result}\n"
    namespace = {
        "__name__": __name__,
        "body": body,
        "as_text": byte_string_methods.as_text,
        "Bytes": Bytes,
    }
    return helper(function_of_text(body.__name__, source, namespace, "byte string"))


_SAME = {"==", "!=", "<", "<=", ">", ">=", "min", "max", "in", "str.startswith", "str.endswith"}
"""The rows whose bodies take either, if they have two parameters."""

_OTHERS = {"str", "repr", "ord", "chr", "list", "[]", "str.encode", "str.casefold"}
_OTHERS |= {"str.isdecimal", "str.isnumeric", "str.isprintable", "str.isidentifier"}
"""The rows of text that byte strings do not have."""

_OWN = [
    Method("len", "(bytes) -> int", byte_string_methods.length),
    Method("bytes", "(list[int]) -> bytes", byte_string_methods.from_items),
    Method("ord", "(bytes) -> int", byte_string_methods.ord_of),
    Method("[]", "(bytes, int) -> int", byte_string_methods.item),
    Method("in", "(int, bytes) -> bool", byte_string_methods.has_byte),
    Method(
        "int.from_bytes",
        '(bytes, byteorder: str = "big", signed: bool = False) -> int',
        byte_string_methods.integer,
    ),
    Method("str.encode", "(str) -> bytes", byte_string_methods.encode),
    Method("bytes.decode", "(bytes) -> str", byte_string_methods.decode),
    Method("bytes.isascii", "(bytes) -> bool", byte_string_methods.isascii),
    Method("bytes.isspace", "(bytes) -> bool", byte_string_methods.isspace),
    Method("bytes.strip", "(bytes) -> bytes", byte_string_methods.strip),
    Method("bytes.strip", "(bytes, None) -> bytes", byte_string_methods.strip),
    Method("bytes.lstrip", "(bytes) -> bytes", byte_string_methods.lstrip),
    Method("bytes.lstrip", "(bytes, None) -> bytes", byte_string_methods.lstrip),
    Method("bytes.rstrip", "(bytes) -> bytes", byte_string_methods.rstrip),
    Method("bytes.rstrip", "(bytes, None) -> bytes", byte_string_methods.rstrip),
    Method("bytes.join", "(bytes, list[bytes]) -> bytes", byte_string_methods.join),
    Method(
        "bytes.split",
        "(bytes, sep: None = None, maxsplit: int = -1) -> list[bytes]",
        byte_string_methods.split_space,
    ),
    Method(
        "bytes.split",
        "(bytes, sep: bytes, maxsplit: int = -1) -> list[bytes]",
        byte_string_methods.split,
    ),
    Method(
        "bytes.rsplit",
        "(bytes, sep: None = None, maxsplit: int = -1) -> list[bytes]",
        byte_string_methods.rsplit_space,
    ),
    Method(
        "bytes.rsplit",
        "(bytes, sep: bytes, maxsplit: int = -1) -> list[bytes]",
        byte_string_methods.rsplit,
    ),
    Method(
        "bytes.splitlines",
        "(bytes, keepends: bool = False) -> list[bytes]",
        byte_string_methods.splitlines,
    ),
]


def _row_for_bytes(row: Method) -> Method:
    """A row of text for byte strings."""
    is_same = isinstance(row.body, str) or (row.name in _SAME and row.signature.count(",") == 1)
    return Method(
        row.name.replace("str", "bytes", 1) if row.name.startswith("str.") else row.name,
        row.signature.replace("str", "bytes"),
        row.body if is_same else _for_bytes(row.body),  # type: ignore[arg-type]
    )


_KNOWN = {(row.name, row.signature) for row in _OWN}

METHODS: list[Method] = [
    *_OWN,
    *(
        row
        for row in map(
            _row_for_bytes, (row for row in text_methods.METHODS if row.name not in _OTHERS)
        )
        if (row.name, row.signature) not in _KNOWN
    ),
]
