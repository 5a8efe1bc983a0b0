"""A case of each function over device memory: for the simulator, or a GPU."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from functions.function_cases import OF_FLOATS, Case, all_cases, called, require_alike

from colkern.operations.moving import to_host


def on_device(case: Case) -> Callable[[], None]:
    """A function that ends with an assertion, and has the name of the function of a case."""

    def check() -> None:
        actual = called(case, moved=True)
        assert actual.device.kind == "cuda"
        require_alike(to_host(actual), case.result())

    check.__name__ = case.name
    return check


FIRST = {case.name: case for case in reversed(all_cases().values())}
"""The first case of each function."""

# In plain Python, as which the simulator runs kernels, what has no result raises.
FIRST |= {name: Case(name, (pa.array([0.5, None, 0.25]),)) for name in OF_FLOATS}
FIRST["acosh"] = Case("acosh", (pa.array([1.5, None, 1.25]),))
FIRST["logb"] = Case("logb", (pa.array([0.5, None, 0.25]), 10))
FIRST["power"] = Case("power", (pa.array([0.5, None, 0.25]), 2.0))

CASES = [on_device(case) for case in FIRST.values()]
