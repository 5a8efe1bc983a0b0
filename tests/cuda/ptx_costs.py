"""The cost of PTX to a GPU, estimated: the issue slots of a thread, and how often it waits for memory.

`ptxas` turns PTX into machine code, which cannot be run here. So an instruction counts as the machine
instructions that it usually becomes, and a basic block's loads as issued as early as their addresses are
known. Registers do not limit that, and loads that another branch decides on stay behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_PARTS = re.compile(r"^(?:@!?(%p\d+)\s+)?([a-z0-9_.]+)\s*(.*)$")
_REGISTER = re.compile(r"%[a-z]+\d+")

_FREE = ("cvta", "ld.param", "bra.uni", "ret", "exit")
"""Constants of machine code, or nothing."""

_WIDE_INTEGERS = {"mul.lo": 4, "mul.hi": 10, "mad.lo": 4, "div": 70, "rem": 70, "min": 4, "max": 4}
"""The machine instructions for 64-bit integers, where they are not two."""

_OTHERS = {
    # A multiprocessor does those of a warp in a cycle.
    "shfl.sync.bfly.b32": 4,
    "div.rn.f32": 10,
    "div.rn.f64": 24,
    "sqrt.rn.f32": 10,
    "sqrt.rn.f64": 24,
    "rcp.rn.f64": 16,
    "div.u32": 17,
    "div.s32": 20,
    "rem.u32": 17,
    "rem.s32": 20,
    "div.u16": 10,
    "div.s16": 12,
    "rem.u16": 10,
    "rem.s16": 12,
}

_SLOW = re.compile(r"(popc|clz|brev|sqrt|rcp|div\.\w+\.f|ex2|lg2|sin|cos)")
"""An eighth as fast as others: a multiprocessor does 16 threads' in a cycle, as of conversions between
floats and 64 bits."""


class Instruction(NamedTuple):
    """A PTX instruction.

    Args:
        slots: The issue slots that it takes.
        slow: Those of the unit that is an eighth as fast.
        reads: How many items it loads; 0 if it is no load.
        stores: Whether it writes to memory.
        fixed: Whether its load is of memory that the kernel does not write.
        copies: Whether it only gives a register another name.
        inputs: The registers that it needs.
        outputs: The registers that it writes.
    """

    slots: int
    slow: int
    reads: int
    stores: bool
    fixed: bool
    copies: bool
    inputs: frozenset[str]
    outputs: frozenset[str]


def instruction(line: str) -> Instruction:
    """An instruction by its text."""
    result = _PARTS.match(line.rstrip(";"))
    assert result, line
    guard, name, rest = result.groups()
    operands = [part.strip() for part in re.split(r",(?![^{]*\})", rest)]
    op = name.partition(".")[0]
    without_output = op in ("st", "bra", "bar", "barrier", "ret", "exit", "red")
    outputs = [] if without_output else _REGISTER.findall(operands[0])
    inputs = _REGISTER.findall(" ".join(operands if without_output else operands[1:]))
    loads = op in ("ld", "atom") and not name.startswith("ld.param")
    assert not (loads and guard), f"a load that may not be run: {line}"
    return Instruction(
        slots=_slots(name, op),
        slow=_slow(name, op),
        reads=len(outputs) if loads and op == "ld" else 0,
        stores=op in ("st", "atom", "red", "bar", "barrier"),
        fixed=".nc" in name,
        copies=(op == "mov" or (op == "cvt" and ".f" not in name)) and not guard,
        inputs=frozenset([*inputs, *([guard] if guard else [])]),
        outputs=frozenset(outputs),
    )


def _slots(name: str, op: str) -> int:
    if name.startswith(_FREE):
        return 0
    if name in _OTHERS:
        return _OTHERS[name]
    if op in ("ld", "st", "atom", "bra", "bar", "barrier"):
        return 1
    if op == "mov" or (op == "cvt" and ".f" not in name):
        # Mostly another name of a register.
        return 0
    if name.endswith(".f64"):
        # Half as fast.
        return 2
    if name.endswith("64"):
        return _WIDE_INTEGERS.get(".".join(name.split(".")[:2]), _WIDE_INTEGERS.get(op, 2))
    return 1


def _slow(name: str, op: str) -> int:
    if op == "cvt":
        return int(".f" in name and "64" in name)
    if not _SLOW.match(name):
        return 0
    return 2 if name.endswith("b64") else 1


class Block:
    """A basic block.

    Args:
        lines: Its instructions.

    slots: The issue slots of a thread that runs it.
    slow: Those of the unit that is an eighth as fast.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        program = [instruction(line) for line in lines]
        self.slots = sum(one.slots for one in program)
        self.slow = sum(one.slow for one in program)
        # The place of each load's items among those that the block reads.
        at, self._order = 0, []
        for one in program:
            self._order.append((one, range(at, at + one.reads)))
            at += one.reads
        rounds = _rounds(program)
        self._order = [self._order[k] for k in sorted(range(len(program)), key=rounds.__getitem__)]

    def run(self, thread: Thread, sectors: list[int]) -> None:
        """A thread runs it: it loads from those sectors, in the order of the text."""
        waits = thread.waiting
        for one, places in self._order:
            if one.copies:
                source = next(iter(one.inputs), "")
                number = waits.get(source)
                for register in one.outputs:
                    waits.pop(register, None)
                    if number is not None:
                        waits[register] = number
                continue
            if waits:
                needed = [waits[register] for register in one.inputs if register in waits]
                if needed:
                    thread.wait(max(needed))
                for register in one.outputs:
                    waits.pop(register, None)
            if one.reads:
                number = thread.load([sectors[k] for k in places])
                waits.update(dict.fromkeys(one.outputs, number))


def _rounds(program: list[Instruction]) -> list[tuple[int, int]]:
    """A number for each instruction: they are issued in the order of the numbers, and else of the text.

    Instructions of one round wait for the same loads; those that loads of their round need come first.
    """
    writers: dict[str, int] = {}
    needs: list[list[int]] = []
    rounds: list[int] = []
    stores: list[int] = []
    for number, one in enumerate(program):
        sources = [writers[register] for register in one.inputs if register in writers]
        if one.reads and not one.fixed:
            sources += stores
        rounds.append(max((rounds[k] + bool(program[k].reads) for k in sources), default=0))
        needs.append(sources)
        if one.stores:
            stores.append(number)
        writers.update(dict.fromkeys(one.outputs, number))
    late = [1] * len(program)
    for number in reversed(range(len(program))):
        if program[number].reads or not late[number]:
            late[number] = 0
            for source in needs[number]:
                if rounds[source] == rounds[number]:
                    late[source] = 0
    return list(zip(rounds, late, strict=True))


class Thread:
    """A thread's loads.

    far: How often it waited for memory.
    near: How often it waited for what it, or the block, had at hand already.
    waiting: The number of the load that each register waits for.
    """

    def __init__(self) -> None:
        self.far = self.near = 0
        self.waiting: dict[str, int] = {}
        self._number = self._over = 0
        self._known: set[int] = set()
        self._far: list[int] = []

    def load(self, sectors: list[int]) -> int:
        """A load begins; its number. A sector of shared memory is -1."""
        self._number += 1
        new = set(sectors) - self._known - {-1}
        if new:
            self._far.append(self._number)
            self._known |= new
        return self._number

    def wait(self, number: int) -> None:
        """Wait for a load; those that have begun soon after it are there soon after it."""
        if number <= self._over:
            return
        if any(k <= number for k in self._far):
            self.far += 1
            self._far.clear()
            number = self._number
        else:
            self.near += 1
        self._over = number
        for register in [register for register, k in self.waiting.items() if k <= number]:
            del self.waiting[register]


def waits(blocks: list[Block], visits: Iterable[tuple[int, list[int]]]) -> tuple[int, int]:
    """The number of times that a thread waits: for memory, and for what is at hand already.

    Args:
        blocks: The kernel's.
        visits: The blocks that it came to, with the sectors that it loaded from.
    """
    thread = Thread()
    for number, sectors in visits:
        blocks[number].run(thread, sectors)
    return thread.far, thread.near
