"""The kernel around a user's function of rows: its first launch measures the rows, its second writes them.

A thread processes rows that are a grid's width apart. `starts` has a line of rows for each counter of
the tree. The count of a row is stored one position further on, so that the running sums of a line are
the starts of its rows. At its end, a thread stores its results in `partials`, which has a line of
threads for each: the first failure, then the number of nulls of each node.
"""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Callable, Sequence
from functools import reduce
from weakref import WeakKeyDictionary

import numpy as np

from colkern import schema as s
from colkern.cuda.device_code import KernelSource
from colkern.errors import CompileError, LimitExceededError
from colkern.generated import function_of_text
from colkern.jit.building.arrays import Part
from colkern.jit.building.builder_type import BuilderType
from colkern.jit.building.nodes import ROW, NodeKind, State, counters, node_of, wholes
from colkern.jit.device.assignments import variables
from colkern.jit.device.emitter import CONSTANTS, Need, Program, Shared, name_of
from colkern.jit.device.functions import EMPTY_ARENA, prelude_of, specialised
from colkern.jit.device.kernels import Specialisation, Types, content_key, kind_of
from colkern.jit.device.kinds import PLAIN, Kind, Number
from colkern.jit.device.nodes import Builder
from colkern.targets import Items

_BYTE = np.dtype(np.uint8)


class Tree:
    """The nodes of a data type.

    Args:
        name: The function's name, for messages.

    Attributes:
        parts: The nodes, each before its children.

    Raises:
        UnsupportedError: If builders do not have the type.
    """

    def __init__(self, data_type: s.DataType, name: str) -> None:
        self.name = name
        self.parts: list[Part] = []
        *self._counter_of, self.counters = counters(data_type)
        self._add(data_type)

    def _add(self, data_type: s.DataType) -> Part:
        part = Part(data_type)
        self.parts.append(part)
        part.children = [self._add(child.type) for child in node_of(data_type).children]
        return part

    def require_complete(self, counts: Items) -> None:
        """ValueError for a row whose values are not all part of a slot.

        Args:
            counts: int64[counters, rows]
        """
        pairs = [
            (counts[self._counter(length)], counts[self._counter(number)] * times, what)
            for length, number, times, _, what in wholes(self.parts[0].type)
        ]
        differ = [(appended != wanted).any() for appended, wanted, _ in pairs]
        # A device is waited for once.
        if not reduce(operator.or_, differ, False):
            return
        for appended, wanted, what in pairs:
            wrong = np.flatnonzero(appended != wanted)
            if wrong.size:
                row = int(wrong[0])
                more = int(appended[row] - wanted[row])
                raise ValueError(f"{self.name}: row {row} has {more} values of {what}")

    def _counter(self, place: int) -> int:
        """The counter of a number of a builder's state."""
        row, what = divmod(place, ROW)
        return self._counter_of[row] + (what == State.USED)

    def allocate(
        self,
        totals: Items,
        null_counts: Items | Sequence[int],
        make: Callable[[int, np.dtype[np.generic]], Items],
    ) -> None:
        """Allocate memory for the measured counts.

        Args:
            totals: int64[counters], on the host.
            null_counts: int64[nodes], on the host.
            make: A zeroed array of that many items of a type.

        Raises:
            LimitExceededError: If offsets do not reach that far.
        """
        for part, counter, null_count in zip(
            self.parts, self._counter_of, null_counts, strict=True
        ):
            node = node_of(part.type)
            part.length = int(totals[counter])
            part.null_count = int(null_count)
            if node.has_offsets:
                used = int(totals[counter + 1])
                if used > node.most_used:
                    raise LimitExceededError(
                        f"{self.name}: {used} bytes or values; {part.type} holds {node.most_used} in "
                        f"one array: return the large type"
                    )
                if node.kind is NodeKind.BINARY:
                    part.data = make(used, _BYTE)
            if node.item is not None:
                part.items = make(part.length * node.per_slot + node.has_offsets, node.item)
            if part.null_count:
                part.nulls = make(part.length, _BYTE)
            if node.kind is NodeKind.NULL:
                part.null_count = part.length


PLACE_BITS = 20
"""An error is `row << PLACE_BITS | place`, the place being one of the program's."""

NOTHING_RAISED = (1 << 63) - 1

ROW_BYTES = 1024
"""The bytes of values that methods can make for a row."""

CHANGED = (
    "called twice for one row, a function appended different values; "
    "it must depend on its arguments alone"
)
"""The error where rows that are written are not those that were measured."""

_KERNEL = """
def {name}({parameters}):
    {prelude}
    _ck_counts = _ck_cuda.local.array({counters}, _ck_i8)
    _ck_ends = _ck_cuda.local.array({counters}, _ck_i8)
    _ck_nulls = _ck_cuda.local.array({nodes}, _ck_i8)
    _ck_stride = _ck_u8(_ck_count) + _ck_one
    {no_nulls}
    _ck_errors[0] = 0
    _ck_raised = _ck_i8({nothing})
    _ck_row = _ck_i8(_ck_cuda.grid(1))
    _ck_width = _ck_i8(_ck_cuda.gridsize(1))
    _ck_place = _ck_u8(_ck_row)
    while _ck_row < _ck_count:
        {no_counts}
        _ck_at = _ck_u8(_ck_row)
        if _ck_writes != 0:
            {load}
        {call}
        _ck_at = _ck_u8(_ck_row) + _ck_one
        if _ck_writes == 0:
            {save}
        elif _ck_errors[0] == 0 and ({differ}):
            _ck_errors[0] = {changed}
        if _ck_errors[0] != 0:
            _ck_raised = _ck_row << {bits} | _ck_errors[0]
            break
        _ck_row += _ck_width
    _ck_partials[_ck_place] = _ck_raised
    {after}
"""
"""With a statement for each counter or node, as the indices of local arrays must be constants for these to
be registers. While rows are measured, they end where they begin."""

_kernels_of: WeakKeyDictionary[types.FunctionType, dict[object, Specialisation]] = (
    WeakKeyDictionary()
)


def row_kernel(
    function: types.FunctionType,
    column_types: Types,
    tree: Tree,
    checked: bool,
    error_model: str = "numpy",
) -> Specialisation:
    """The kernel of a function for arguments of those types; made once.

    It takes the number of rows, whether it writes (int64), the arguments that are no columns, `starts` and
    `partials` (both int64[]), and its needs.

    Args:
        function: The user's function, of a row's number, the arguments, and a builder.
        column_types: The types of the arguments that are columns; None for others.
        tree: The nodes of the rows.
        error_model: Numba's, as `Program` has it.

    Raises:
        CompileError: If the function takes another number of arguments, or does not compile.
    """
    kernels = _kernels_of.setdefault(function, {})
    key = column_types, tree.parts[0].type, checked, error_model
    if key not in kernels:
        program = Program(checked, ROW_BYTES, by_row=True, error_model=error_model)
        kernels[key] = _row_kernel(function, column_types, tree, program)
    return kernels[key]


def names_of(function: types.FunctionType, count: int) -> tuple[str, ...]:
    """The names of the parameters between the row and the builder.

    Raises:
        CompileError: If it takes another number of them.
    """
    names = tuple(inspect.signature(function).parameters)
    if len(names) != count + 2:
        raise CompileError(
            f"{function.__name__} does not compile: it takes {len(names)} arguments, and gets "
            f"{count + 2}: the row's number, {count} of the call's, and the builder"
        )
    return names[1:-1]


def _row_kernel(
    function: types.FunctionType, column_types: Types, tree: Tree, program: Program
) -> Specialisation:
    names = names_of(function, len(column_types))
    kinds = {name: kind_of(name, kind) for name, kind in zip(names, column_types, strict=True)}
    row, *_, out = inspect.signature(function).parameters
    built: dict[str, Kind] = {out: Builder(BuilderType(tree.parts[0].type))}
    inner = specialised(program, function, {row: Number("i8"), **kinds, **built})
    needs: dict[Need, str] = {need: name_of(need) for need in (*inner.needs, Shared("errors"))}
    columns = [name for name, kind in kinds.items() for name in variables(name, kind)]
    arguments = ["_ck_row", *columns, "_ck_counts", "_ck_ends", "_ck_nulls"]
    call = inner.invocation("_ck_function", arguments, [needs[need] for need in inner.needs])
    namespace = {**CONSTANTS, "__name__": function.__module__, "_ck_function": inner.compiled}
    prelude, taken = prelude_of(program, kinds, set(columns), needs, namespace)
    parameters = ["_ck_count", "_ck_writes"]
    parameters += [name for name, kind in kinds.items() if kind == PLAIN]
    parameters += ["_ck_starts", "_ck_partials", *taken.values()]
    counters, nodes = range(tree.counters), range(len(tree.parts))
    empty = [EMPTY_ARENA] if Shared("arena") in needs else []
    following = "_ck_at += _ck_stride"

    def each(numbers: range, depth: int, *lines: str) -> str:
        """Statements for each of some numbers."""
        return f"\n{' ' * depth}".join(line.format(k) for k in numbers for line in lines)

    name = f"rows_of_{function.__name__}"
    source = _KERNEL.format(
        name=name,
        parameters=", ".join(parameters),
        prelude="\n    ".join(prelude),
        counters=tree.counters,
        nodes=len(tree.parts),
        nothing=NOTHING_RAISED,
        no_nulls=each(nodes, 4, "_ck_nulls[{}] = 0"),
        no_counts="\n        ".join(
            [*empty, each(counters, 8, "_ck_counts[{0}] = _ck_ends[{0}] = 0")]
        ),
        load=each(
            counters,
            12,
            "_ck_counts[{}] = _ck_starts[_ck_at]",
            "_ck_ends[{}] = _ck_starts[_ck_at + _ck_one]",
            following,
        ),
        call=call,
        save=each(counters, 12, "_ck_starts[_ck_at] = _ck_counts[{}]", following),
        differ=" or ".join(f"_ck_counts[{k}] != _ck_ends[{k}]" for k in counters),
        changed=program.place((ValueError, f"{tree.name}: {CHANGED}")),
        bits=PLACE_BITS,
        after=each(
            nodes, 4, "_ck_place += _ck_u8(_ck_width)", "_ck_partials[_ck_place] = _ck_nulls[{}]"
        ),
    )
    kernel = function_of_text(name, source, namespace, f"rows of {function.__name__}")
    key = content_key(function, kinds, program, list(taken), tree.parts[0].type)
    return Specialisation(KernelSource(tree.name, lambda: kernel, key), list(taken), program)
