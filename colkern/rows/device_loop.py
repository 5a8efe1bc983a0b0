"""The kernel that calls a row function on CUDA: a thread for a row, and then for the next ones.

A thread has an arena of its own, used anew for each of its rows. Where texts go to results, only their
addresses and sizes are written: they are gathered before the arenas are used again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern.arrays import Array
from colkern.bitmaps import bit_words, bitmap_of
from colkern.cuda import adapter, row_functions
from colkern.errors import UnsupportedError
from colkern.generated import function_of_text
from colkern.kernels import bitmaps, row_values, selection
from colkern.memory import Buffer, Items
from colkern.rows import kinds as k
from colkern.rows.columns import type_of
from colkern.rows.compiling import BODIES, NAMES, PRIMITIVES
from colkern.rows.loop import before_call, calls_with_arena, indented, zeros_of
from colkern.rows.plan import Plan
from colkern.rows.results import Memory, Output, Slots, require_reach
from colkern.rows.values import Value, inner, of_parts, zeros
from colkern.targets import Target

NO_ROOM = 1
"""What marks a row that needs a larger arena: no number of a place in the source."""

_SOURCE = """\
def over_rows(start, stop, valid, arenas, room, pool, marks, {parameters}):
    thread = u8(cuda.grid(1))
    arena = arenas + i8(thread) * room
    i = u8(start) + thread
    while i < u8(stop):
        if is_valid(valid, u8(0), i):
{slot}
        i += u8(cuda.gridsize(1))
"""


class DeviceOutput(Output):
    """How a kernel writes results of a kind, and the column on a device that they become."""

    def _memory_of_bytes(self) -> list[Memory]:
        names = f"{self.name}_addresses", f"{self.name}_sizes"
        return [Slots(name, np.int64) for name in names]

    def lines(self, value: Value) -> Iterator[str]:
        """The lines that write a value as row `i`."""
        if not isinstance(self.kind, k.Optional):
            yield from self._inside(value)
            return
        yield f"if not {value.none}:"
        yield f"    {self.name}_valid[i] = 1"
        yield from ("    " + line for line in self._inside(inner(value)))

    def _inside(self, value: Value) -> Iterator[str]:
        if self.inside in (k.TEXT, k.BYTES):
            yield f"{self.name}_addresses[i] = {value.code}.address"
            yield f"{self.name}_sizes[i] = {value.code}.size"
        else:
            yield from super()._inside(value)

    def slots(self) -> list[Slots]:
        """All its memory.

        Raises:
            UnsupportedError: If there is other memory than slots.
        """
        memory = list(self.all_memory())
        slots = [each for each in memory if isinstance(each, Slots)]
        if not slots or len(slots) < len(memory):
            raise UnsupportedError(f"results that are {self.kind} on a device")
        return slots

    def texts(self) -> Iterator[str]:
        """The names of the results that are texts or byte strings, here and below."""
        if self.inside in (k.TEXT, k.BYTES):
            yield self.name
        for part in self.parts:
            assert isinstance(part, DeviceOutput)
            yield from part.texts()

    def column(self, target: Target, written: dict[str, Items], length: int, large: bool) -> Array:
        """What was written, as an array on the device, which is current.

        Args:
            target: The device's.
            written: By name, the items of slots, and the bytes of texts.
            length: How many rows there are.
            large: Whether offsets have 64 bits.

        Raises:
            LimitExceededError: If there is more than offsets reach.
        """
        validity, nulls = None, 0
        if isinstance(self.kind, k.Optional):
            valid = written[f"{self.name}_valid"]
            nulls = length - target.total(valid.astype(np.int64))
            validity = _packed(target, valid) if nulls else None
        type_ = type_of(self.inside, large)
        children: list[Array] = []
        if self.parts:
            buffers: list[Buffer | None] = [validity]
            for part in self.parts:
                assert isinstance(part, DeviceOutput)
                children.append(part.column(target, written, length, large))
        elif self.inside in (k.TEXT, k.BYTES):
            item = np.int64 if large else np.int32
            offsets, total = target.running_sum(written[f"{self.name}_sizes"], item)
            if not large:
                require_reach(total, type_)
            buffers = [validity, target.buffer(offsets), target.buffer(written[self.name])]
        elif self.inside == k.BOOL:
            buffers = [validity, _packed(target, written[self.name])]
        else:
            buffers = [validity, target.buffer(written[self.name])]
        return Array(type_, length, buffers, children, null_count=nulls)


def _packed(target: Target, flags: Items) -> Buffer:
    """A bitmap of bytes that are 0 or 1."""
    words = bit_words(target, len(flags))
    target.map(bitmaps.pack_bits, len(words), flags, len(flags), words)
    return bitmap_of(target, words, len(flags))


def gathered(target: Target, addresses: Items, sizes: Items) -> Items:
    """The bytes at addresses, one after the other."""
    offsets, total = target.running_sum(sizes, np.int64)
    data = target.output(total, np.uint8)
    target.map(selection.gather_bytes, len(sizes), addresses.view(np.uint64), offsets, data)
    return data


@dataclass(frozen=True)
class DeviceSource:
    """A kernel over rows, as text.

    Args:
        text: The kernel.
        output: How results are written.
        uses_arena: Whether a row makes values in an arena.
    """

    text: str
    output: DeviceOutput
    uses_arena: bool


def device_source(plan: Plan) -> DeviceSource:
    """The kernel for the function of a plan.

    Raises:
        UnsupportedError: If it has a column or results that kernels do not cover.
    """
    output = DeviceOutput(plan.kind)
    slots = output.slots()
    program = plan.source.program
    uses_arena = calls_with_arena(program)
    codes = [part for argument in plan.arguments for part in argument.value.parts]
    result = of_parts(plan.kind, tuple(f"x_{n}" for n in range(len(zeros(plan.kind)))))
    slot = []
    if uses_arena:
        slot += ["set_word(arena, arena + 16)", "set_word(arena + 8, arena + room)"]
    call = f"{plan.name}({', '.join(['arena', 'pool', *codes])})"
    line = f"{', '.join(('status', *result.parts))} = {call}"
    slot += [each for argument in plan.arguments for each in argument.lines]
    left, status = before_call(program, plan.arguments, plan.site)
    if left:
        # A loop of the user's may never end for a value that is none.
        slot.append(f"status = {status}")
        slot += [*zeros_of(result), "if status == 0:", f"    {line}"]
    else:
        slot.append(line)
    slot += ["if status == 0:", *("    " + line for line in output.lines(result))]
    slot += [f"elif status & 255 == {row_values.NO_ROOM}:", f"    marks[i] = u1({NO_ROOM})"]
    slot += ["else:", "    marks[i] = u1(status >> 8)"]
    parameters = [name for argument in plan.arguments for name in argument.parameters]
    parameters += [each.name for each in slots]
    text = _SOURCE.format(parameters=", ".join(parameters), slot=indented(slot, 12))
    return DeviceSource(text, output, uses_arena)


def kernel_function(plan: Plan, source: DeviceSource) -> Any:
    """The function of one thread, in terms of compiled functions.

    Raises:
        UnsupportedError: If the chosen compiler does not take row functions.
    """
    row_functions.require_compiler()
    program, title = plan.source.program, f"row function {plan.function.__name__} on a device"
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
