"""The machine code of kernels, by `ptxas`, which needs no GPU: registers, and memory in their place.

    PYTHONPATH=tests python -m kernels.machine_code --json benchmarks/results/machine_code.json

measures the first and the last variant of each kernel, and the last ones of kernels in one launch; what is
in the file already stays as it is.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from kernels.architectures import Capability, capabilities, ptx_of_each
from kernels.cases import variants

from benchmarks import machine
from colkern.cuda import adapter
from colkern.cuda.compiler import THREADS, grid_function, grid_name, parameters
from colkern.kernels import Argument, Kernel
from colkern.kernels.together import TOGETHER

LANES = 8
"""The threads that share an item of a `grouped` kernel."""

MOST_REGISTERS = 96
"""With as many, two blocks of 256 threads run beside each other on a multiprocessor."""


class MachineCode(NamedTuple):
    """The report of `ptxas` on a kernel.

    Args:
        registers: Those of a thread.
        stack: The bytes of a thread's memory.
        spilled: The bytes that registers are stored to and loaded from.
    """

    registers: int
    stack: int
    spilled: int


@cache
def assembler() -> str | None:
    """The path of `ptxas`; None where it is not installed."""
    from cuda.pathfinder import find_nvidia_binary_utility  # type: ignore[import-untyped]

    result: str | None = find_nvidia_binary_utility("ptxas")
    return result


def assembled(text: str, capability: Capability) -> MachineCode:
    """The machine code of PTX with one kernel."""
    path = assembler()
    assert path is not None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.ptx"
        source.write_text(text)
        architecture = f"-arch=sm_{capability[0]}{capability[1]}"
        done = subprocess.run(
            [path, "-v", architecture, source, "-o", source.with_suffix(".cubin")],
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    (registers,) = re.findall(r"Used (\d+) registers", done.stderr)
    ((stack, stores, loads),) = re.findall(
        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr
    )
    return MachineCode(int(registers), int(stack), int(stores) + int(loads))


def check_machine_code(kernel: Kernel, texts: dict[Capability, str]) -> None:
    """Make sure that nothing is spilled, and that enough threads run beside each other.

    Nothing is known where there is no `ptxas`.
    """
    if assembler() is None:
        return
    for capability, text in texts.items():
        code = assembled(text, capability)
        assert code.registers <= MOST_REGISTERS, (kernel.name, capability, code)
        assert code.stack == code.spilled == 0, (kernel.name, capability, code)


def ptx_together(
    chosen: Sequence[tuple[Kernel, tuple[Argument, ...]]],
    threads: int,
    lanes: int,
    capability: Capability,
) -> str:
    """The PTX of kernels of one launch, each with one of its variants."""
    kernels = [kernel for kernel, _ in chosen]
    members = [(kernel, lanes if kernel.grouped else 1) for kernel in kernels]
    types = parameters(kernels, [variant for _, variant in chosen])
    return adapter.ptx(grid_function(members, threads), types, capability, apart=True)


def measured() -> Iterator[tuple[str, str, Callable[[list[Capability]], dict[Capability, str]]]]:
    """Of each row: the variant, the kernel, and a function that gives the PTX for each GPU."""
    for name, (kernel, variant) in variants().items():
        first, *others = kernel.variants()
        if variant in (first, *others[-1:]):
            yield name, kernel.name, partial(ptx_of_each, kernel, variant)
    for kernels in sorted(TOGETHER, key=lambda pair: grid_name([(k, 1) for k in pair])):
        chosen = [(kernel, [*kernel.variants()][-1]) for kernel in kernels]
        name = grid_name([(kernel, 1) for kernel in kernels])

        def texts_of(wanted: list[Capability], chosen: Any = chosen) -> dict[Capability, str]:
            return {each: ptx_together(chosen, THREADS, LANES, each) for each in wanted}

        yield name, name, texts_of


def main() -> None:
    """Measure what is not in the file yet, for so many seconds at most."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="then stop")
    options = parser.parse_args()
    begin = time.monotonic()
    result = json.loads(options.json.read_text()) if options.json.exists() else {"rows": []}
    result = machine.facts(threads=1) | result
    known = {row["variant"] for row in result["rows"]}
    wanted = [c for c in capabilities() if c in ((8, 0), (9, 0), (10, 0))]
    for name, kernel, texts_of in measured():
        if name in known:
            continue
        if time.monotonic() - begin > options.seconds:
            break
        row: dict[str, Any] = {"variant": name, "kernel": kernel}
        for capability, text in texts_of(wanted).items():
            row[f"sm_{capability[0]}{capability[1]}"] = assembled(text, capability)._asdict()
        result["rows"].append(row)
        machine.write_json(options.json, result)
        print(row, flush=True)
    left = len({kernel for _, kernel, _ in measured()} - {row["kernel"] for row in result["rows"]})
    print(f"{left} kernels are left")


if __name__ == "__main__":
    main()
