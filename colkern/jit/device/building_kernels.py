"""The kernels around a user's function of rows: one that measures, one that writes.

A thread goes over rows that are a grid's width apart. `starts` has a line of rows for each counter of the
tree: a row's count stands one further on, so that sums over a line are where its rows start. What a
thread has found in all of its rows it leaves in `partials`, a line of threads for each: what was raised
first, then how many nulls each node has.
"""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from colkern.cuda.device_code import KernelSource
from colkern.errors import CompileError
from colkern.generated import function_of_text
from colkern.jit.building.builder_type import BuilderType
from colkern.jit.device.assignments import variables
from colkern.jit.device.builder_kinds import Builder, Mode
from colkern.jit.device.emitter import CONSTANTS, Need, Program, Shared, name_of
from colkern.jit.device.functions import EMPTY_ARENA, prelude_of, specialised
from colkern.jit.device.kernels import Specialisation, Types, content_key, kind_of
from colkern.jit.device.kinds import PLAIN, Kind, Number
from colkern.jit.device.tree import CHANGED, Tree

PLACE_BITS = 20
"""An error is `row << PLACE_BITS | place`, the place being one of the program's."""

NOTHING_RAISED = (1 << 63) - 1

ROW_BYTES = 1024
"""The bytes of values that methods can make for a row."""

_KERNEL = """
def {name}({parameters}):
    {prelude}
    _ck_counts = _ck_cuda.local.array({counters}, _ck_i8)
    _ck_others = _ck_cuda.local.array({others}, _ck_i8)
    {before}
    _ck_errors[0] = 0
    _ck_raised = _ck_i8({nothing})
    _ck_row = _ck_i8(_ck_cuda.grid(1))
    _ck_width = _ck_i8(_ck_cuda.gridsize(1))
    _ck_place = _ck_u8(_ck_row)
    while _ck_row < _ck_count:
        {load}
        {call}
        {save}
        if _ck_errors[0] != 0:
            _ck_raised = _ck_row << {bits} | _ck_errors[0]
            break
        _ck_row += _ck_width
    _ck_partials[_ck_place] = _ck_raised
    {after}
"""


@dataclass(frozen=True)
class RowKernels:
    """Both kernels.

    They take the number of rows, the arguments that are no columns, `starts` and `partials` (both
    int64[]), and what they need.

    Args:
        names: What the function calls its arguments, those between the row and the builder.
        measure: The kernel that measures.
        write: The kernel that writes.
    """

    names: tuple[str, ...]
    measure: Specialisation
    write: Specialisation


_kernels_of: WeakKeyDictionary[types.FunctionType, dict[Any, RowKernels]] = WeakKeyDictionary()


def row_kernels(
    function: types.FunctionType,
    given: Types,
    tree: Tree,
    checked: bool,
    error_model: str = "numpy",
) -> RowKernels:
    """The kernels of a function for arguments of those types; made once.

    Args:
        function: The user's function, of a row's number, the arguments, and a builder.
        given: The types of the arguments that are columns; None for others.
        tree: What is built.
        checked: Whether indices are checked.
        error_model: Numba's, as `Program` has it.

    Raises:
        CompileError: If the function takes another number of arguments, or does not compile.
    """
    kernels = _kernels_of.setdefault(function, {})
    key = given, tree.parts[0].type, checked, error_model
    if key not in kernels:
        names = _names_of(function, len(given))
        kinds = {name: kind_of(name, kind) for name, kind in zip(names[1:-1], given, strict=True)}
        program = partial(Program, checked, ROW_BYTES, by_row=True, error_model=error_model)
        kernels[key] = RowKernels(
            names[1:-1],
            _row_kernel(function, names, kinds, tree, program(), "measure"),
            _row_kernel(function, names, kinds, tree, program(), "write"),
        )
    return kernels[key]


def _names_of(function: types.FunctionType, count: int) -> tuple[str, ...]:
    names = tuple(inspect.signature(function).parameters)
    if len(names) != count + 2:
        raise CompileError(
            f"{function.__name__} does not compile: it takes {len(names)} arguments, and gets "
            f"{count + 2}: the row's number, {count} of the call's, and the builder"
        )
    return names


def _row_kernel(
    function: types.FunctionType,
    names: tuple[str, ...],
    kinds: dict[str, Kind],
    tree: Tree,
    program: Program,
    mode: Mode,
) -> Specialisation:
    built = Builder(BuilderType(tree.parts[0].type), mode)
    inner = specialised(program, function, {names[0]: Number("i8"), **kinds, names[-1]: built})
    needs: dict[Need, str] = {need: name_of(need) for need in (*inner.needs, Shared("errors"))}
    columns = [name for name, kind in kinds.items() for name in variables(name, kind)]
    arguments = ["_ck_row", *columns, "_ck_counts", "_ck_others"]
    call = inner.call("_ck_function", arguments, [needs[need] for need in inner.needs])
    namespace = {
        **CONSTANTS,
        "__name__": function.__module__,
        "_ck_function": inner.function,
    }
    prelude, taken = prelude_of(program, kinds, set(columns), needs, namespace)
    parameters = ["_ck_count", *(name for name, kind in kinds.items() if kind == PLAIN)]
    parameters += ["_ck_starts", "_ck_partials", *taken.values()]
    lines = (_measuring if mode == "measure" else _writing)(tree, program)
    if Shared("arena") in needs:
        lines["load"] += f"\n        {EMPTY_ARENA}"
    name = f"{mode}_rows_of_{function.__name__}"
    source = _KERNEL.format(
        name=name,
        parameters=", ".join(parameters),
        prelude="\n    ".join(prelude),
        counters=tree.counters,
        others=max(tree.counters, len(tree.parts)),
        nothing=NOTHING_RAISED,
        call=call,
        bits=PLACE_BITS,
        **lines,
    )
    kernel = function_of_text(name, source, namespace, f"rows of {function.__name__}")
    key = content_key(function, kinds, program, list(taken), tree.parts[0].type, mode)
    return Specialisation(KernelSource(name, lambda: kernel, key), list(taken), program)


# What stands in the gaps of `_KERNEL`: statements, one for each counter or node, as the indices of local
# arrays must be constants for these to be registers.

_STRIDE = "_ck_stride = _ck_u8(_ck_count) + _ck_one"
_NEXT = "_ck_at += _ck_stride"


def _measuring(tree: Tree, program: Program) -> dict[str, str]:
    """Counts begin with nothing, and are kept; nulls are counted over all rows of a thread."""
    save = ["_ck_at = _ck_u8(_ck_row) + _ck_one"]
    after = []
    for k in range(tree.counters):
        save += [f"_ck_starts[_ck_at] = _ck_counts[{k}]", _NEXT]
    for k in range(len(tree.parts)):
        after += ["_ck_place += _ck_u8(_ck_width)", f"_ck_partials[_ck_place] = _ck_others[{k}]"]
    nulls = [f"_ck_others[{k}] = 0" for k in range(len(tree.parts))]
    return {
        "before": "\n    ".join([_STRIDE, *nulls]),
        "load": "\n        ".join(f"_ck_counts[{k}] = 0" for k in range(tree.counters)),
        "save": "\n        ".join(save),
        "after": "\n    ".join(after),
    }


def _writing(tree: Tree, program: Program) -> dict[str, str]:
    """Counts begin where the row does, and must end where the next one does."""
    changed = program.place((ValueError, f"{tree.name}: {CHANGED}"))
    load = ["_ck_at = _ck_u8(_ck_row)"]
    save = []
    for k in range(tree.counters):
        load += [
            f"_ck_counts[{k}] = _ck_starts[_ck_at]",
            f"_ck_others[{k}] = _ck_starts[_ck_at + _ck_one]",
            _NEXT,
        ]
        save += [
            f"if _ck_counts[{k}] != _ck_others[{k}] and _ck_errors[0] == 0:",
            f"    _ck_errors[0] = {changed}",
        ]
    return {
        "before": _STRIDE,
        "load": "\n        ".join(load),
        "save": "\n        ".join(save),
        "after": "",
    }
