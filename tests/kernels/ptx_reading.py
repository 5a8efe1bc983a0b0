"""PTX as basic blocks: which instructions are run again and again, and what they load."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property

_LABEL = re.compile(r"^(\$L\w+):$")
_OPCODE = re.compile(r"^(?:@!?%p\d+ )?([a-z][\w.:]*)")
_GUARD = re.compile(r"^@!?%p\d+ ")
_PLACE = re.compile(r"\[(%\w+)(?:\+(-?\d+))?\]")


class Ptx:
    """The text of a kernel, one instruction an item, without comments."""

    def __init__(self, text: str) -> None:
        body = re.sub(r"//[^\n]*", "", text).partition(".entry")[2].partition("{")[2]
        lines = (" ".join(line.split()).removesuffix(";") for line in body.splitlines())
        self.lines = [line for line in lines if line and not line.startswith((".", "{", "}"))]
        self.has_local_memory = ".local" in text

    @cached_property
    def blocks(self) -> list[list[str]]:
        """Instructions that are run one after the other."""
        result: list[list[str]] = [[]]
        for line in self.lines:
            if _LABEL.match(line) or (result[-1] and opcode(result[-1][-1]).startswith("bra")):
                result.append([])
            result[-1].append(line)
        return result

    @cached_property
    def loops(self) -> list[str]:
        """The instructions that may be run more than once by a thread."""
        follows = self._successors()
        again = [b for b in range(len(self.blocks)) if b in _reached(follows, follows[b])]
        return [line for b in again for line in self.blocks[b]]

    def _successors(self) -> list[set[int]]:
        places = {
            result[1]: number
            for number, block in enumerate(self.blocks)
            if block and (result := _LABEL.match(block[0]))
        }
        follows: list[set[int]] = []
        for number, block in enumerate(self.blocks):
            last = block[-1] if block else ""
            jumps = opcode(last).startswith("bra")
            follows.append({places[last.split()[-1]]} if jumps else set())
            ends = opcode(last) == "ret" or (jumps and not _GUARD.match(last))
            if not ends and number + 1 < len(self.blocks):
                follows[-1].add(number + 1)
        return follows

    def divisions(self) -> list[str]:
        """64-bit integer divisions that are run again and again: dozens of instructions each."""
        return [line for line in self.loops if re.match(r"(div|rem)\.[us]64", opcode(line))]

    def generic(self) -> list[str]:
        """Loads and stores that ask at each run in which memory they are."""
        pattern = re.compile(r"(ld|st)\.(?!global|shared|param)")
        return [line for line in self.lines if pattern.match(opcode(line))]

    def neighbours(self, least: int = 4) -> list[str]:
        """Bytes that one thread loads one by one, although they stand side by side."""
        results = []
        for block in self.blocks:
            offsets: dict[str, set[int]] = defaultdict(set)
            for line in block:
                place = _PLACE.search(line)
                if place and re.match(r"ld\.global\S*8$", opcode(line)):
                    offsets[place[1]].add(int(place[2] or 0))
            results += [
                f"{len(some)} bytes at {base}"
                for base, some in offsets.items()
                if any(all(first + k in some for k in range(least)) for first in some)
            ]
        return results


def opcode(line: str) -> str:
    """The instruction's name with its types."""
    result = _OPCODE.match(line)
    return result[1] if result else ""


def _reached(follows: list[set[int]], start: set[int]) -> set[int]:
    """The blocks that can be reached from those of `start`, them included."""
    seen: set[int] = set()
    left = list(start)
    while left:
        block = left.pop()
        if block not in seen:
            seen.add(block)
            left += follows[block]
    return seen
