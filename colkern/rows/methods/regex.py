"""Rows for regular expressions: `re.search` and similar functions with constant patterns, and matches.

A `match` is the result of a matcher (`colkern.rows.regex.search`), and the text that it searched.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from colkern.kernels import text_scanning, text_search
from colkern.rows.methods import Method
from colkern.rows.regex import every, search

_FUNCTIONS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    **{
        how: ("string: str", "match | None", partial(search.body_of, how))
        for how in ("search", "match", "fullmatch")
    },
    "findall": ("string: str", "list[str]", every.findall),
    "split": ("string: str, maxsplit: const = 0", "list[str]", every.split),
    "sub": ("repl: const, string: str, count: const = 0", "str", every.sub),
}
"""Of each function: its parameters but the pattern and the flags, its result, and what makes its body."""

METHODS: list[Method] = [
    *(
        Method(f"{owner}.{name}", signature.format(parameters, gives), make, maker=True)
        for owner, signature in (
            ("re", "(pattern: const, {}, flags: const = 0) -> {}"),
            ("pattern", "(const, {}) -> {}"),
        )
        for name, (parameters, gives, make) in _FUNCTIONS.items()
    ),
    # The text, and the begin and end of a group: bytes, -1 if it does not take part.
    Method("match.group", "(str, int, int) -> str", text_scanning.part),
    Method("match.start", "(str, int) -> int", text_search.index_at),
    Method("match.end", "(str, int) -> int", text_search.index_at),
]
