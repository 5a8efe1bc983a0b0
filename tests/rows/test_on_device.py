"""Row functions over columns on a device: in the simulator, and as the PTX that they compile to."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cuda.ptx_machine import Kernel as Machine
from jit.ptx_kernels import memory_of, parameters
from jit.simulated_kernels import report_of
from rows.device_cases import CASES, parts, scaled, tidy, values_of
from tiers import selected_cases

import colkern as ck
from colkern.cuda import adapter
from colkern.memory import HOST
from colkern.rows.device import MAX_ROW_BYTES, OnDevice
from colkern.rows.plan import Plan
from colkern.targets import target_of

CAPABILITY = (9, 0)
BLOCKS, THREADS = 1, 2


@pytest.fixture(scope="module")
def simulated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What failed in the simulator, by case."""
    output = tmp_path_factory.mktemp("rows") / "report.json"
    return report_of("rows.device_cases", selected_cases(request, "case"), output)


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_in_the_simulator(case: str, simulated: dict[str, str]) -> None:
    assert simulated[case] == ""


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_on_a_gpu(case: Callable[[], None]) -> None:
    case()


# What the compiler makes of it


@pytest.fixture
def without_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers the compiler's question for the device that functions are compiled for."""
    adapter.compiler()
    device = types.SimpleNamespace(compute_capability=CAPABILITY)
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)


def by_ptx(function: Any, *columns: ck.Array) -> tuple[list[Any], int]:
    """What the PTX of a function gives for columns in host memory, and how many rows it leaves."""
    plan = Plan(function, [column.type for column in columns], [False] * len(columns))
    on_device = OnDevice(plan)
    machines: list[Machine] = []

    def start(*given: Any) -> None:
        arrays = [value for value in given if isinstance(value, np.ndarray)]
        if not machines:
            signature = [(v.dtype.str[1:], isinstance(v, np.ndarray)) for v in given]
            machines.append(Machine(adapter.ptx(on_device.function, signature, CAPABILITY)))
        values = []
        for value in given:
            is_array = isinstance(value, np.ndarray)
            values += parameters(value) if is_array else [int(value) % (1 << 64)]
        arrays += [*on_device._pools.values(), *(a for c in columns for a in memory_of(c))]
        memory = [(a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays if a.nbytes]
        arenas = int(given[3])
        memory.append((arenas, arenas + BLOCKS * THREADS * MAX_ROW_BYTES))
        machines[0].launch(BLOCKS, THREADS, values, memory)

    length = columns[0].length
    made, left = on_device._run(columns, length, target_of(HOST), BLOCKS * THREADS, start)
    made.validate(full=True)
    return values_of(made), sum(left.values())


def by_python(function: Any, *columns: ck.Array) -> list[Any]:
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return [None if None in row else function(*row) for row in rows]


@pytest.mark.usefixtures("without_driver")
def test_compiled_integers_are_checked() -> None:
    columns = ck.array([1, 2**62, None, -(2**63), 7]), ck.array([0, 9, 3, 2, -2])
    assert by_ptx(scaled, *columns) == (by_python(scaled, *columns), 2)


def fused(x: float, y: float, z: float) -> float:
    return x * y + z


@pytest.mark.usefixtures("without_driver")
def test_compiled_products_are_rounded_before_they_are_added_to() -> None:
    third = 1 / 3
    columns = ck.array([third, 0.1]), ck.array([3.0, 0.1]), ck.array([-1.0, -0.01])
    assert by_ptx(fused, *columns) == (by_python(fused, *columns), 0)


@pytest.mark.usefixtures("without_driver")
def test_compiled_texts_are_gathered_before_their_arenas_are_used_again() -> None:
    texts = ck.array(["a,b", " hello ", None, "", "more than twelve bytes"])
    numbers = ck.array([1, 2, 3, 4, 5])
    assert by_ptx(tidy, texts, numbers) == (by_python(tidy, texts, numbers), 0)


@pytest.mark.usefixtures("without_driver")
def test_compiled_parts_of_views_are_where_they_were() -> None:
    texts = ck.array(["a,b", "é,ü,x", None, "more, than twelve bytes"], ck.utf8_view())
    assert by_ptx(parts, texts) == (by_python(parts, texts), 0)
