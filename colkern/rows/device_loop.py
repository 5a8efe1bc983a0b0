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
from colkern.kernels.row_results import HEADER
from colkern.memory import Items
from colkern.rows import kinds as k
from colkern.rows.compiling import NAMES, helpers_in
from colkern.rows.loop import call_of, indented
from colkern.rows.plan import Plan
from colkern.rows.results import Output, Sink, Slots, Written, is_hashed
from colkern.rows.values import Value
from colkern.targets import Target

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

    def gathered(self, target: Target, written: Written, rows: slice) -> Written:
        """Returns the results of rows that are in the arenas, and the slots of items.

        Args:
            target: The device's target, which is current.
            written: The slots of all rows.
        """
        own: Written = {}
        if self.is_text or self.item is not None:
            addresses, sizes = (written[f"{self.name}_{what}"] for what in ("addresses", "sizes"))
            self._gather(target, addresses[rows], sizes[rows], own)
        for part in self.parts:
            assert isinstance(part, DeviceOutput)
            own |= part.gathered(target, written, rows)
        return own

    def _gather(self, target: Target, addresses: Items, sizes: Items, own: Written) -> None:
        """Gather the texts or lists at addresses."""
        item = self.item
        if item is None:
            own[f"{self.name}_data"] = bytes_at(target, addresses, sizes)
            return
        count = item.kind.words
        words = bytes_at(target, addresses, sizes * (8 * count)).view(np.int64)
        length = target.total(sizes)
        item.of_words(target, words.reshape(length, count), 0, None, own)

    def _of_sizes(
        self, target: Target, words: Items, there: Items | None, written: Written
    ) -> None:
        """Gather the slots of texts or lists, whose words have their addresses and sizes."""
        addresses, sizes = words[:, 0].copy(), words[:, int(self.is_text)].copy()
        if self.item is not None:
            sizes = sizes * 0 + 16
        elif self.inside == k.TEXT:
            sizes >>= 1
        if there is not None:
            sizes *= there
        if self.item is not None:
            # A header has the address and the number of the items.
            headers = bytes_at(target, addresses, sizes).view(np.int64).reshape(-1, 2)
            known = sizes.nonzero()[0]
            addresses *= 0
            sizes *= 0
            addresses[known], sizes[known] = headers[:, 0], headers[:, 1]
        written[f"{self.name}_sizes"] = sizes
        self._gather(target, addresses, sizes, written)


def bytes_at(target: Target, addresses: Items, sizes: Items) -> Items:
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
    begin = [f"arena_begin = arena + {HEADER}", "set_word(arena + 8, arena + room)"]
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
    used = helpers_in(source.text + "".join(program.sources.values())) | program.bodies
    namespace = NAMES | {name: row_functions.body(body) for name, body in used.items()}
    for name, text in program.sources.items():
        namespace[name] = row_functions.generated(name, text, namespace, title)
    namespace |= {"__name__": __name__, "cuda": adapter.compiler()}
    return function_of_text("over_rows", source.text, namespace, title)
