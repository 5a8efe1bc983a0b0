"""Matchers of constant patterns, with the facts about their matches that a compiler needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from colkern.rows.regex.matching import matcher
from colkern.rows.regex.parsing import parse


@dataclass(frozen=True, eq=False)
class Matcher:
    """The function that finds the first match of a pattern in a text, and what `Pattern` says of matches.

    Args:
        body: A function `(text: Text) -> tuple[spans, Code]`. `spans` has `2 * groups + 3` numbers: whether
            there is a match (1 or 0), then the begin and end of the match and of each group: bytes of the
            text, -1 for a group that takes no part.
    """

    body: Callable[..., Any]
    groups: int
    group_names: dict[str, int]
    always: tuple[bool, ...]
    closing: tuple[int, ...]

    def number(self, group: int | str) -> int:
        """Returns the number of a group.

        Raises:
            IndexError: If there is no such group, with Python's message.
        """
        number = self.group_names.get(group, -1) if isinstance(group, str) else int(group)
        if not 0 <= number <= self.groups:
            raise IndexError("no such group")
        return number


@cache
def find(how: str, pattern: str | re.Pattern[str], flags: int = 0) -> Matcher:
    """Returns the matcher of a pattern.

    Args:
        how: "search", "match" or "fullmatch".

    Raises:
        CompileError: If the pattern has parts that generated code does not support.
        re.error: If it is no regular expression.
    """
    parsed = parse(pattern, flags)
    return Matcher(
        matcher(parsed, how), parsed.groups, parsed.group_names, parsed.always, parsed.closing
    )


def body_of(how: str, pattern: str | re.Pattern[str], flags: int = 0) -> Callable[..., Any]:
    """Returns the body of `re.search`, `re.match` or `re.fullmatch`, as for `find`."""
    return find(how, pattern, int(flags)).body
