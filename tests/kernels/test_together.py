"""Kernels of one launch: each computes what it does alone, by the PTX of their grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cuda.ptx_machine import Kernel as Machine
from cuda.ptx_running import LANES, THREADS, TILE, grid_values
from cuda.races import Races
from kernels.cases import Case, arguments, cases, fetched, variants
from kernels.machine_code import MOST_REGISTERS, assembled, assembler, ptx_together
from kernels.running import Plain

from colkern.cuda import compiler
from colkern.cuda.compiler import grid_name
from colkern.kernels import Kernel
from colkern.kernels.together import TOGETHER

CAPABILITY = (8, 0)

GRIDS = {grid_name([(k, 1) for k in kernels]): kernels for kernels in TOGETHER}


def variants_of(kernel: Kernel) -> list[str]:
    return [name for name, (each, _) in variants().items() if each is kernel]


def longest(name: str) -> Case:
    """The case of a variant that has the most items: of several blocks, if it can be."""
    return max(cases(name), key=lambda case: case.count)


@pytest.mark.parametrize("name", sorted(GRIDS))
def test_kernels_of_one_launch_compute_what_they_do_alone(name: str) -> None:
    names = [variants_of(kernel)[-1] for kernel in GRIDS[name]]
    text = ptx_together([variants()[each] for each in names], THREADS, LANES, CAPABILITY)
    values: list[Any] = []
    checked, kept, end = [], [], 0
    for each in names:
        kernel, variant = variants()[each]
        case = longest(each)
        given, alive = arguments(case, variant, Plain())
        tile = TILE // LANES if kernel.grouped else TILE
        end += max(-(-case.count // tile), 1)
        own, arrays = grid_values(kernel, case.count, tile, given, 1)
        # Nobody asks for partial results, which stand behind the arguments.
        own = own[:-7] if kernel.returns else own
        values += [*own[:2], end, *own[2:]]
        kept += [*arrays, *alive]
        items = case.expected[1] if kernel.returns else case.expected
        checked.append((given[-1], np.array(items, given[-1].dtype).tolist()))
    whole = [a.base if isinstance(a.base, np.ndarray) else a for a in kept if a is not None]
    memory = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in whole if a.nbytes]
    races = Races()
    Machine(text).launch(end, THREADS, values, memory, races)
    assert not races.reports
    for out, expected in checked:
        assert repr(fetched(out)) == repr(expected)


@pytest.mark.skipif(assembler() is None, reason="ptxas is not installed")
@pytest.mark.parametrize("name", sorted(GRIDS))
def test_they_need_no_more_registers(name: str) -> None:
    names = [variants_of(kernel)[-1] for kernel in GRIDS[name]]
    chosen = [variants()[each] for each in names]
    code = assembled(ptx_together(chosen, compiler.THREADS, 8, CAPABILITY), CAPABILITY)
    assert code.registers <= MOST_REGISTERS
    assert code.stack == code.spilled == 0
