"""The arguments that launches hand to the driver: runs over `silent_driver.c`, and prints them as JSON."""

from __future__ import annotations

import ctypes
import json
import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cuda.silent_device import SilentArray, install
from cuda.silent_operations import column
from test_calls import python_calls

import colkern as ck
from colkern.cuda import adapter, memory, plans
from colkern.cuda.compiler import THREADS, compile_grid
from colkern.cuda.device_code import KernelSource
from colkern.cuda.plans import _through_dispatcher
from colkern.cuda.target import CudaTarget
from colkern.kernels import Kernel
from colkern.kernels.arguments import Argument, In, Out
from colkern.memory import Device


def written(start, stop, step, a: In[np.uint32], n, b: In[np.int64], i, x, k, out: Out[np.uint8]):  # type: ignore[no-untyped-def]
    for place in range(start, stop, step):
        out[place] = np.uint8(a[place]) + np.uint8(n) + np.uint8(k)


def counts(start, stop, step, a: In[np.uint8]):  # type: ignore[no-untyped-def]
    return np.uint64(stop)


def array(name: str, item: str, written: bool = False) -> Argument:
    return Argument(name, item, True, written)


def number(name: str, item: str) -> Argument:
    return Argument(name, item, False, False)


WRITES = Kernel(
    written,
    (
        array("a", "u4"),
        number("n", "u8"),
        array("b", "i8"),
        number("i", "i8"),
        number("x", "f8"),
        number("k", "i1"),
        array("out", "u1", written=True),
    ),
    {},
)
RETURNS = Kernel(counts, (array("a", "T"),), {"T": ("u1", "u4")}, returns="u8", combine="add")

WORDS = 2 + 7 * 3 + 4


def of_user(out, n, x, a):  # type: ignore[no-untyped-def]
    out[0] = a[0] + n + np.int64(x)


class Driver:
    """The silent driver's notes."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        source = Path(__file__).with_name("silent_driver.c").read_text()
        names = re.findall(r"^(?:FUNCTION|SUCCEEDS|GIVES0?)\((\w+)", source, re.MULTILINE)
        self._calls = {n: ctypes.c_ulong.in_dll(library, f"calls_{n}") for n in names}
        self._words = (ctypes.c_uint64 * 264).in_dll(library, "launched")

    def calls(self) -> dict[str, int]:
        return {name: count.value for name, count in self._calls.items() if count.value}

    def since(self, before: dict[str, int]) -> dict[str, int]:
        now = self.calls()
        return {n: c - before.get(n, 0) for n, c in now.items() if c != before.get(n, 0)}

    def launched(self, parameters: int) -> list[int]:
        return list(self._words[: 8 + parameters])

    def expect(self, parameters: int) -> None:
        ctypes.c_uint.in_dll(self._library, "parameters").value = parameters


def calls_of(work: Callable[[], object]) -> int:
    """The calls of Python functions below `work`, once there are plans; those of the stand-ins are none."""
    work()
    return python_calls(work)


def main() -> dict[str, Any]:
    driver = Driver(install())
    driver.expect(WORDS)
    target: Any = CudaTarget(Device("cuda"))
    u4, i8, u1 = (SilentArray(np.zeros(n, c)) for n, c in ((1000, "u4"), (3, "i8"), (1000, "u1")))
    given = (u4, (1 << 64) - 3, i8, -7, 2.5, 11, u1)
    results: dict[str, Any] = {}
    target.map(WRITES, 1000, *given)
    results["plan"] = driver.launched(WORDS)
    # As launches were before there were plans: by the compiler's dispatcher.
    cut = target._cut_of(WRITES, 1000, 0)
    through = _through_dispatcher(compile_grid(((WRITES, 1),), THREADS), THREADS, 0)
    through(0, cut.blocks, 1000, cut.tile, *given)
    results["dispatcher"] = driver.launched(WORDS)
    before = driver.calls()
    target.map(WRITES, 1000, *given)
    results["calls of a launch"] = driver.since(before)
    failures: list[str] = []

    def elsewhere() -> None:
        try:
            target.map(WRITES, 1000, *given)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is what the test is about)
            failures.append(repr(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    results["failures of another thread"] = failures
    driver.expect(2 + 7 * 2)
    partials = target.partials(RETURNS, 1000, u4)
    words = driver.launched(2 + 7 * 2)
    results["partials"] = [words[-3] == partials.data.ptr, words[-2:], words[0]]
    kernel = KernelSource("of_user", lambda: of_user, lambda: None)
    theirs = (u1, 7, 2.5, u4)
    driver.expect(2 * 7 + 2)
    adapter.launch(kernel.dispatcher, 3, 64, adapter.stream(0, 0), theirs, 32)
    results["dispatcher of a user's kernel"] = driver.launched(2 * 7 + 2)
    plans.launch(kernel, 3, 64, 0, theirs, 32)
    results["plan of a user's kernel"] = driver.launched(2 * 7 + 2)
    library = memory.library()
    library.current_stream = lambda: 0x70  # type: ignore[method-assign]
    target.partials(RETURNS, 1000, u1)
    results["stream"] = driver.launched(0)[7]
    left, right = column([1.0, None, 3.0]), column([None, 2.0, 3.0])
    results["calls of Python"] = {
        what: calls_of(call)
        for what, call in {
            "a launch": lambda: target.map(WRITES, 1000, *given),
            "a launch with partial results": lambda: target.partials(RETURNS, 1000, u4),
            "add": lambda: ck.add(left, left),
            "add, two bitmaps": lambda: ck.add(left, right),
            "less, two bitmaps": lambda: ck.less(left, right),
        }.items()
    }
    try:
        target.partials(RETURNS, 1000, i8)
    except TypeError as error:
        results["refused"] = str(error)
    return results


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main()))
