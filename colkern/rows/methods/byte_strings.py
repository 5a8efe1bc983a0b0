"""Rows for methods of `bytes`, except formats and numbers; they mostly use the bodies for text."""

from __future__ import annotations

import inspect
from typing import Any

from colkern.kernels import byte_string_methods, digests, text_building, text_parts, text_tests
from colkern.rows.methods import COMPARISONS, Body, Bound, Method, function_of
from colkern.rows.methods import text as text_methods

_BYTES = "Bytes({0}.address, {0}.size)"

_RESULTS = {
    "Text": ("Bytes", _BYTES),
    "tuple[Text, Code]": ("Bytes", _BYTES),
    "tuple[tuple[Text, Text, Text], Code]": (
        "tuple[Bytes, Bytes, Bytes]",
        f"({', '.join(_BYTES.replace('{0}', f'{{0}}[{place}]') for place in range(3))})",
    ),
}
"""For results of bodies for text, the type of the result for byte strings, and an expression."""


def _for_bytes(body: Body, **values: Any) -> Bound:
    """Returns a body for byte strings that calls a body for text."""
    of_text = body if isinstance(body, Bound) else Bound(body)
    signature = inspect.signature(function_of(of_text.body))
    texts = (name for name, one in signature.parameters.items() if one.annotation == "Text")
    gives, result = _RESULTS.get(signature.return_annotation, ("", ""))
    bound = dict.fromkeys(texts, byte_string_methods.as_text) | of_text.values | values
    # As text, they say that they are ASCII, for which no body looks at the table of characters.
    bound |= {"unicode": 0} if "unicode" in signature.parameters else {}
    options = {"result": result, "gives": gives, "code": of_text.code}
    return Bound(of_text.body, *of_text.order, **options, **bound)


_SAME = {*COMPARISONS, "min", "max", "in", "str.startswith", "str.endswith"}
"""The rows whose bodies take text and byte strings, if they have two parameters."""

_OTHERS = {"str", "repr", "ord", "chr", "list", "[]", "str.encode", "str.casefold"}
_OTHERS |= {"str.isdecimal", "str.isnumeric", "str.isprintable", "str.isidentifier"}
"""The rows of text that byte strings do not have."""

_SPACES: dict[str, Any] = {"spaces": text_parts.BYTE_SPACES, "form": 0}

_OWN = [
    *(
        Method(
            f"bytes.{name}",
            f"(bytes{none}) -> bytes",
            _for_bytes(text_parts.strip, spaces=text_parts.BYTE_SPACES, **ends),
        )
        for name, ends in text_methods.STRIPS.items()
        for none in ("", ", None")
    ),
    *(
        Method(
            f"colkern.rows.digests.{name}",
            "(bytes, bytes) -> bytes",
            Bound(digests.digest, algorithm=algorithm, size=words),
        )
        for name, algorithm, words in (
            ("md5", digests.MD5, 4),
            ("sha_1", digests.SHA_1, 5),
            ("sha_256", digests.SHA_256, 8),
        )
    ),
    Method("len", "(bytes) -> int", "{0}.size"),
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
    Method(
        "bytes.isspace",
        "(bytes) -> bool",
        _for_bytes(text_tests.all_of, classes=text_tests.SPACES, wanted=0, empty=False),
    ),
    Method(
        "bytes.join",
        "(bytes, list[bytes]) -> bytes",
        _for_bytes(text_building.join_items, places=0),
    ),
    *(
        Method(f"bytes.{name}", f"(bytes, sep: {sep}, maxsplit: int = -1) -> list[bytes]", body)
        for name, (by_space, by) in text_methods.SPLITS.items()
        for sep, body in (
            ("None = None", _for_bytes(by_space, **_SPACES)),
            ("bytes", _for_bytes(by, form=0)),
        )
    ),
    Method(
        "bytes.splitlines",
        "(bytes, keepends: bool = False) -> list[bytes]",
        byte_string_methods.splitlines,
    ),
]


def _row_for_bytes(row: Method) -> Method:
    """Returns a row of text as a row of byte strings."""
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
            _row_for_bytes,
            (
                row
                for row in text_methods.METHODS
                if row.name not in _OTHERS and row.name[:8] != "colkern."
            ),
        )
        if (row.name, row.signature) not in _KNOWN
    ),
]
