"""Operations over `silent_driver.c`: prints what was compiled and launched, and the compilers in use."""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

from cuda.silent_device import SilentArray, install

import colkern as ck
from colkern.cache import compilations
from colkern.memory import Buffer, Device


def column(values: list[float | None]) -> ck.Array:
    """A column of the device."""
    result = ck.array(values)
    arrays: list[Any] = [b if b is None else SilentArray(b.array) for b in result.buffers]
    there = [a if a is None else Buffer(a, Device("cuda")) for a in arrays]
    return ck.Array(result.type, result.length, there, null_count=result.null_count)


def main() -> None:
    driver = install()
    numbers = column([1.0, None, 3.0])
    ck.multiply(numbers, numbers)
    ck.equal(numbers, numbers)
    calls = [
        ctypes.c_ulong.in_dll(driver, f"calls_cuLaunchKernel{end}").value for end in ("", "Ex")
    ]
    compilers = [name for name in ("numba", "numba.cuda", "llvmlite") if name in sys.modules]
    print(json.dumps({"counts": compilations(), "launches": sum(calls), "compilers": compilers}))


if __name__ == "__main__":
    main()
