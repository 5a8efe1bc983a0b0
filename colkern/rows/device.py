"""Runs a row function over columns on a CUDA device, and leaves rows to Python on the host."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.cuda import memory, plans
from colkern.cuda.device_code import KernelSource
from colkern.cuda.target import Grid, grid_of
from colkern.memory import EMPTY, HOST, Device, Items
from colkern.operations import nulls
from colkern.rows.arenas import pool_words, write_pool
from colkern.rows.device_loop import NO_ROOM, device_source, kernel_function
from colkern.rows.loop import digest
from colkern.rows.plan import Plan
from colkern.rows.program import Site
from colkern.rows.python_rows import is_usual_context
from colkern.targets import Target, target_of

LEAST_ROW_BYTES = 1024
"""The number of bytes for a row's values on a device at first."""

MOST_ROW_BYTES = 65536
"""The largest number, used if many rows need it; a row that needs more is left to Python."""

GROWTH = 8


class OnDevice:
    """A plan's function over columns on a device.

    Elementary functions (`math.exp` and others) are the device's; their last digit may differ.

    Args:
        plan: The plan for columns of these types in host memory.

    Raises:
        UnsupportedError: If kernels do not support a column or the results.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._source = device_source(plan)
        self._row_bytes = LEAST_ROW_BYTES if self._source.uses_arena else 0
        make = partial(kernel_function, plan, self._source)
        self.kernel = KernelSource(plan.function.__name__, make, self._key)
        self._pools: dict[Device, Items] = {}
        self._with_nulls: OnDevice | None = None

    @property
    def returns(self) -> s.DataType:
        """The type of the results."""
        return self.plan.returns

    def _key(self) -> str:
        program = self.plan.program
        return repr((self._source.text, *program.sources.values(), digest(program)))

    def compile(self) -> None:
        """Does nothing: the first launch compiles."""

    def run(self, arrays: Sequence[Array], length: int) -> tuple[Array, Counter[Site | None]]:
        """Returns the results on the device, and the number of rows left to Python, by place in the source.

        Args:
            arrays: Columns of the plan's types, on one device.

        Raises:
            CompileError: If the function does not compile for a device.
        """
        plan = self.plan.for_arrays(arrays)
        if plan is not self.plan:
            self._with_nulls = self._with_nulls or OnDevice(plan)
            return self._with_nulls.run(arrays, length)
        device = next(array.device for array in arrays if array.device != HOST)
        target = target_of(device)
        if not length:
            return nulls(0, self.returns, device), Counter()
        if plan.computes_decimals and not is_usual_context():
            with memory.current(device):
                return plan.left(target, arrays, length)
        grid = grid_of(device, length)

        def launch(blocks: int, *arguments: Any) -> None:
            plans.launch(self.kernel, blocks, grid.threads, device.ordinal, arguments)

        with memory.current(device):
            return self._run(arrays, length, target, grid, launch)

    def _run(
        self,
        arrays: Sequence[Array],
        length: int,
        target: Target,
        grid: Grid,
        launch: Callable[..., None],
    ) -> tuple[Array, Counter[Site | None]]:
        """As `run`; `launch` takes the number of blocks and the kernel's arguments."""
        plan, output = self.plan, self._source.output
        validity, null_count = plan.inputs.called(arrays)
        values = plan.inputs.passed(arrays)
        passed = [self._argument(target, value) for value in values]
        bits = self._argument(target, (validity or EMPTY).array)
        marks = target.allocate(length, np.uint8)
        written = {slots.name: target.allocate(length, slots.dtype) for slots in output.row_slots()}
        pool = target.address(self._pool(target))
        pieces: dict[str, list[Items]] = {}
        first = 0
        while first < length:
            row_bytes, blocks = self._row_bytes, grid.blocks
            if row_bytes:
                blocks = max(blocks * LEAST_ROW_BYTES // row_bytes, 1)
            threads = blocks * grid.threads
            arenas = target.output(threads * row_bytes // 8, np.int64)
            # Texts stay in the arenas until they are gathered, so a thread has only one row until then.
            step = threads if row_bytes and output.is_elsewhere else length
            part = slice(first, min(first + step, length))
            words = part.start, part.stop, target.address(arenas), row_bytes, pool
            begin, end, *memory_ = map(np.int64, words)
            launch(blocks, begin, end, bits, *memory_, marks, *passed, *written.values())
            if self._needs_more(marks[part], row_bytes):
                marks[part] = 0
                continue
            for name, items in output.gathered(target, written, part).items():
                pieces.setdefault(name, []).append(items)
            first = part.stop
        for name, parts in pieces.items():
            written[name] = _joined(target, parts)
        outer = validity if null_count else None
        results = output.array(target, written, length, plan.natural, outer, null_count)
        rows = marks.nonzero()[0]
        return plan.completed(target, results, arrays, rows, marks[rows].astype(np.int64))

    def _needs_more(self, marks: Items, row_bytes: int) -> bool:
        """Whether many rows had no room in arenas of some size; if so, later arenas are larger."""
        if row_bytes in (0, MOST_ROW_BYTES) or int((marks == NO_ROOM).sum()) * 64 <= len(marks):
            return False
        self._row_bytes = max(self._row_bytes, row_bytes * GROWTH)
        return True

    @staticmethod
    def _argument(target: Target, value: Any) -> Any:
        """Returns an argument as kernels take it; an empty array gets an address on the device."""
        if isinstance(value, int):
            return np.int64(value)
        if isinstance(value, np.ndarray) and not len(value):
            return target.table([], value.dtype)
        return value

    def _pool(self, target: Target) -> Items:
        """Returns the constants on a device."""
        device = target.device
        if device not in self._pools:
            program = self.plan.program
            words = np.zeros(pool_words(program), np.int64)
            placed = target.output(len(words), np.int64)
            write_pool(program, words, target.address(placed))
            placed[:] = target.table(words, np.int64)
            # Later launches may use it on any stream.
            memory.finish(device)
            self._pools[device] = placed
        return self._pools[device]


class CompiledAhead(OnDevice):
    """Compiles a plan's kernel for a compute capability instead of running it; needs no GPU.

    Args:
        plan: As for `OnDevice`.
        capability: The compute capability, such as (9, 0).
    """

    def __init__(self, plan: Plan, capability: tuple[int, int]) -> None:
        super().__init__(plan)
        self._capability = capability

    def run(self, arrays: Sequence[Array], length: int) -> tuple[Array, Counter[Site | None]]:
        """Compiles and keeps the kernel for columns in host memory of any length; returns nulls."""

        def compile_(blocks: int, *arguments: Any) -> None:
            types = [(np.asarray(a).dtype.str[1:], isinstance(a, np.ndarray)) for a in arguments]
            self.kernel.code(types, self._capability)
            raise _Compiled

        with contextlib.suppress(_Compiled):
            self._run(arrays, 1, target_of(HOST), Grid(1, 1), compile_)
        return nulls(length, self.returns), Counter()


class _Compiled(Exception):
    """Raised when a kernel is compiled, to skip the work on results."""


def _joined(target: Target, pieces: Sequence[Items]) -> Items:
    """Returns the items of all pieces as one array."""
    if len(pieces) == 1:
        return pieces[0]
    joined = target.output(sum(map(len, pieces)), pieces[0].dtype)
    at = 0
    for piece in pieces:
        joined[at : at + len(piece)] = piece
        at += len(piece)
    return joined
