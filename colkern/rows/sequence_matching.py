"""`difflib` in row functions: how much two sequences have in common."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from colkern.rows.text_library import Uncovered

_MOST_RARE = 200
"""In longer texts, `difflib` begins no match with a character that is more than a hundredth of them."""


def _items(sequence: Any) -> list[Any]:
    """Returns what is compared; characters as numbers, which takes less time."""
    if isinstance(sequence, str):
        return [ord(character) for character in sequence]
    for item in sequence:
        if not isinstance(item, str | int):
            raise Uncovered
    return list(sequence)


class SequenceMatcher:
    """`difflib.SequenceMatcher` of two texts, or of two sequences of texts or integers."""

    _python_class_ = difflib.SequenceMatcher

    def __init__(
        self, isjunk: None = None, a: Any = "", b: Any = "", autojunk: bool = True
    ) -> None:
        if isjunk is not None:
            raise Uncovered
        self.a = _items(a)
        self.b = _items(b)
        self.starts = [1] * len(b)
        if autojunk and len(b) >= _MOST_RARE:
            counts = Counter(self.b)
            for j in range(len(b)):
                if counts[self.b[j]] > len(b) // 100 + 1:
                    self.starts[j] = 0

    def ratio(self) -> float:
        """Twice the number of characters in matching blocks, by the number of all."""
        matches = 0
        parts = [(0, len(self.a), 0, len(self.b))]
        while parts:
            a_low, a_high, b_low, b_high = parts.pop()
            i, j, size = self.longest_match(a_low, a_high, b_low, b_high)
            if size:
                matches += size
                if a_low < i and b_low < j:
                    parts.append((a_low, i, b_low, j))
                if i + size < a_high and j + size < b_high:
                    parts.append((i + size, a_high, j + size, b_high))
        return self.of_all(matches)

    def longest_match(
        self, a_low: int, a_high: int, b_low: int, b_high: int
    ) -> tuple[int, int, int]:
        """The first of the longest blocks: its places and its size."""
        first_i, first_j, size = a_low, b_low, 0
        lengths = [0] * (b_high - b_low)
        for i in range(a_low, a_high):
            before = 0
            for j in range(b_low, b_high):
                is_same = self.a[i] == self.b[j] and self.starts[j]
                length = before + 1 if is_same else 0
                before = lengths[j - b_low]
                lengths[j - b_low] = length
                if length > size:
                    first_i, first_j, size = i - length + 1, j - length + 1, length
        while first_i > a_low and first_j > b_low and self.a[first_i - 1] == self.b[first_j - 1]:
            first_i, first_j, size = first_i - 1, first_j - 1, size + 1
        while (
            first_i + size < a_high
            and first_j + size < b_high
            and self.a[first_i + size] == self.b[first_j + size]
        ):
            size += 1
        return first_i, first_j, size

    def quick_ratio(self) -> float:
        """An upper bound of `ratio`."""
        left = Counter(self.b)
        matches = 0
        for character in self.a:
            if left[character] > 0:
                matches += 1
            left[character] -= 1
        return self.of_all(matches)

    def real_quick_ratio(self) -> float:
        """An upper bound of `ratio`, from the lengths."""
        return self.of_all(min(len(self.a), len(self.b)))

    def of_all(self, matches: int) -> float:
        """The share of matching characters."""
        length = len(self.a) + len(self.b)
        return 2.0 * matches / length if length else 1.0


def get_close_matches(
    word: str, possibilities: Sequence[str], n: int = 3, cutoff: float = 0.6
) -> list[str]:
    """`difflib.get_close_matches` of texts."""
    if not n > 0 or not 0.0 <= cutoff <= 1.0:
        raise Uncovered
    close: list[tuple[float, str]] = []
    for possibility in possibilities:
        matcher = SequenceMatcher(None, possibility, word)
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff:
            ratio = matcher.ratio()
            if ratio >= cutoff:
                close.append((ratio, possibility))
    return [possibility for _, possibility in sorted(close, reverse=True)[:n]]
