"""Rows for regular expressions: `re.search` and similar functions with constant patterns, and matches.

A `match` is the result of a matcher (`colkern.rows.regex.search`), and the text that it searched.
"""

from __future__ import annotations

from colkern.kernels import text_scanning
from colkern.rows.methods import Method
from colkern.rows.regex import every, search

_FLAGS = "flags: const = 0"

METHODS: list[Method] = [
    *(
        method
        for module, pattern, flags in (
            ("re", "pattern: const, ", f", {_FLAGS}"),
            ("pattern", "const, ", ""),
        )
        for method in (
            Method(
                f"{module}.search",
                f"({pattern}string: str{flags}) -> match | None",
                search.search,
                maker=True,
            ),
            Method(
                f"{module}.match",
                f"({pattern}string: str{flags}) -> match | None",
                search.match,
                maker=True,
            ),
            Method(
                f"{module}.fullmatch",
                f"({pattern}string: str{flags}) -> match | None",
                search.fullmatch,
                maker=True,
            ),
            Method(
                f"{module}.findall",
                f"({pattern}string: str{flags}) -> list[str]",
                every.findall,
                maker=True,
            ),
            Method(
                f"{module}.split",
                f"({pattern}string: str, maxsplit: const = 0{flags}) -> list[str]",
                every.split,
                maker=True,
            ),
            Method(
                f"{module}.sub",
                f"({pattern}repl: const, string: str, count: const = 0{flags}) -> str",
                every.sub,
                maker=True,
            ),
        )
    ),
    # The text, and the begin and end of a group: bytes, -1 if it does not take part.
    Method("match.group", "(str, int, int) -> str", text_scanning.part),
    Method("match.start", "(str, int) -> int", text_scanning.character_index),
    Method("match.end", "(str, int) -> int", text_scanning.character_index),
]
