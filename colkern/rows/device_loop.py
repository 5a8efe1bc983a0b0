"""The kernel that calls a row function on CUDA: each thread takes a row, then further rows.

A thread has an arena of its own, which each of its rows uses anew. For texts in results, only addresses and
sizes are written; the texts are gathered before the arenas are used again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern.cuda import adapter, row_functions
from colkern.errors import UnsupportedError
from colkern.generated import function_of_text
from colkern.kernels import row_values, selection
from colkern.memory import Items
from colkern.rows import kinds as k
from colkern.rows.compiling import BODIES, NAMES, PRIMITIVES
from colkern.rows.loop import call_of, indented
from colkern.rows.plan import Plan
from colkern.rows.results import Output, Sink, Slots, Written, is_hashed
from colkern.rows.values import Value, inner
from colkern.targets import Target

Pieces = dict[str, list[Items]]
"""Gathered arrays, by name; each array has a range of rows, in order."""

NO_ROOM = 1
"""Marks a row that needs a larger arena; no place in the source has this number."""

_SOURCE = """\
def over_rows(start, stop, valid, arenas, room, pool, marks, {parameters}):
    thread = u8(cuda.grid(1))
    arena = arenas + i8(thread) * room
{begin}
    i = u8(start) + thread
    while i < u8(stop):
        if is_valid(valid, u8(0), i):
{slot}
        i += u8(cuda.gridsize(1))
"""


class DeviceOutput(Output):
    """Writes results of a kind in a kernel; texts and lists as their addresses in the thread's arena."""

    def row_slots(self) -> Iterator[Slots]:
        """Yields the slots that rows have."""
        if self.is_text or self.item is not None:
            yield Slots(f"{self.name}_addresses", np.int64)
        yield from super().row_slots()

    def own_sinks(self) -> list[Sink]:
        """Returns no sinks."""
        return []

    def functions(self) -> dict[str, str]:
        """Returns no functions."""
        return {}

    def lines(self, value: Value) -> Iterator[str]:
        """Yields the lines that write a value as row `i`."""
        if not isinstance(self.kind, k.Optional):
            yield from self._inside(value)
            return
        yield f"if not {value.none}:"
        yield f"    {self.name}_valid[i] = 1"
        yield from ("    " + line for line in self._inside(inner(value)))

    def _inside(self, value: Value) -> Iterator[str]:
        if self.is_text:
            yield f"{self.name}_addresses[i] = {value.code}.address"
            yield f"{self.name}_sizes[i] = {value.code}.size"
        elif self.item is not None:
            yield f"{self.name} = {self.listed(value.code)}"
            yield f"if {self.name} == 0:"
            yield f"    marks[i] = u1({NO_ROOM})"
            yield "else:"
            yield f"    {self.name}_addresses[i] = get_word({self.name})"
            yield f"    {self.name}_sizes[i] = list_size({self.name})"
        else:
            yield from super()._inside(value)

    def require_known(self) -> None:
        """Check that all results can be gathered.

        Raises:
            UnsupportedError: For dictionaries in lists, whose entries only a kernel could list, and for
                decimals in lists.
        """
        in_lists = [below for part in self.below() if part.item for below in part.item.below()]
        if any(is_hashed(part.inside) or isinstance(part.inside, k.Decimal) for part in in_lists):
            raise UnsupportedError(f"results that are {self.kind} on a device")

    def is_elsewhere(self) -> bool:
        """Whether some results are written as addresses in an arena."""
        return any(part.is_text or part.item is not None for part in self.below())

    def gather(self, target: Target, written: Written, rows: slice, pieces: Pieces) -> None:
        """Gather the results that are in the arenas.

        Args:
            target: The device's target, which is current.
            written: The slots of all rows.
            rows: The range of rows.
            pieces: The pieces so far, by name; new ones are appended.
        """
        if self.is_text or self.item is not None:
            addresses, sizes = (written[f"{self.name}_{what}"] for what in ("addresses", "sizes"))
            self._gather(target, addresses[rows], sizes[rows], pieces)
        for part in self.parts:
            assert isinstance(part, DeviceOutput)
            part.gather(target, written, rows, pieces)

    def _gather(self, target: Target, addresses: Items, sizes: Items, pieces: Pieces) -> None:
        """Gather the texts or lists at addresses."""
        item = self.item
        if item is None:
            pieces.setdefault(f"{self.name}_data", []).append(gathered(target, addresses, sizes))
            return
        assert isinstance(item, DeviceOutput)
        count = item.kind.words
        words = gathered(target, addresses, sizes * (8 * count)).view(np.int64)
        length = target.total(sizes)
        item._gather_items(target, words.reshape(length, count), 0, None, pieces)

    def _gather_items(
        self, target: Target, words: Items, at: int, there: Items | None, pieces: Pieces
    ) -> None:
        """Gather the slots of items. Each item is a row of `words`, in which its part starts at column
        `at`.

        `there` has 1 for items that exist and 0 for others, whose words are undefined.
        """
        if isinstance(self.kind, k.Optional):
            valid = (words[:, at] == 0).astype(np.int64)
            there = valid if there is None else valid * there
            pieces.setdefault(f"{self.name}_valid", []).append(valid)
            at += 1
        if self.is_text or self.item is not None:
            addresses, sizes = words[:, at].copy(), words[:, at + self.is_text].copy()
            if self.item is not None:
                sizes = sizes * 0 + 16
            elif self.inside == k.TEXT:
                sizes >>= 1
            if there is not None:
                sizes *= there
            if self.item is not None:
                # A header has the address and the number of the items.
                headers = gathered(target, addresses, sizes).view(np.int64).reshape(-1, 2)
                known = sizes.nonzero()[0]
                addresses *= 0
                sizes *= 0
                addresses[known], sizes[known] = headers[:, 0], headers[:, 1]
            pieces.setdefault(f"{self.name}_sizes", []).append(sizes)
            self._gather(target, addresses, sizes, pieces)
        elif self.is_number:
            pieces.setdefault(self.name, []).append(self.numbers(words[:, at]))
        for part in self.parts:
            assert isinstance(part, DeviceOutput)
            part._gather_items(target, words, at, there, pieces)
            at += part.kind.words


def gathered(target: Target, addresses: Items, sizes: Items) -> Items:
    """Returns the bytes at addresses, concatenated."""
    offsets, total = target.running_sum(sizes, np.int64)
    data = target.output(total, np.uint8)
    target.map(selection.gather_bytes, len(sizes), addresses.view(np.uint64), offsets, data)
    return data


@dataclass(frozen=True)
class DeviceSource:
    """A kernel over rows, as text.

    Args:
        text: The kernel.
        output: Writes the results.
        uses_arena: Whether rows make values in an arena.
    """

    text: str
    output: DeviceOutput
    uses_arena: bool


def device_source(plan: Plan) -> DeviceSource:
    """Returns the kernel for the function of a plan.

    Raises:
        UnsupportedError: If kernels do not support a column or the results, the function calls itself, or
            the chosen compiler does not take row functions.
    """
    row_functions.require_compiler()
    output = DeviceOutput(plan.kind)
    output.require_known()
    program = plan.program
    if program.recurs:
        # The stack of a thread is small.
        raise UnsupportedError(
            f"row function {plan.function.__name__} on a device: it calls itself"
        )
    call = call_of(program, plan.name, plan.kind, plan.arguments, plan.site, output=output)
    begin = ["arena_begin = arena + 16", "set_word(arena + 8, arena + room)"]
    # Nothing is written of results that are all null.
    written = list(output.lines(call.result)) or ["pass"]
    slot = [*call.lines, "if status == 0:", *("    " + line for line in written)]
    slot += [f"elif status & 255 == {row_values.NO_ROOM}:", f"    marks[i] = u1({NO_ROOM})"]
    slot += ["else:", "    marks[i] = u1(status >> 8)"]
    text = _SOURCE.format(
        parameters=", ".join([*call.parameters, *(each.name for each in output.row_slots())]),
        begin=indented(begin if call.uses_arena else ["pass"], 4),
        slot=indented(slot, 12),
    )
    return DeviceSource(text, output, call.uses_arena)


def kernel_function(plan: Plan, source: DeviceSource) -> Any:
    """Returns the function of one thread, compiled from the plan's functions."""
    program, title = plan.program, f"row function {plan.function.__name__} on a device"
    shared = {function.__name__: function for function in (*PRIMITIVES, *BODIES)}
    used = source.text + "".join(program.sources.values())
    namespace = NAMES | {
        name: row_functions.body(function) for name, function in shared.items() if name in used
    }
    namespace |= {name: row_functions.body(body) for name, body in program.bodies.items()}
    for name, text in program.sources.items():
        namespace[name] = row_functions.generated(name, text, namespace, title)
    namespace |= {"__name__": __name__, "cuda": adapter.compiler()}
    return function_of_text("over_rows", source.text, namespace, title)
