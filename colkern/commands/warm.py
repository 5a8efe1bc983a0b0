"""`colkern warm`: compiles kernels and functions in advance for this machine or for GPUs."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

from colkern.commands.output import counted, print_json, progress_line
from colkern.commands.parser import Commands, new_command, positive


def add_command(commands: Commands) -> None:
    parser = new_command(
        commands,
        "warm",
        _run,
        "compile all kernels ahead, for this machine or for a GPU",
        "Compile every kernel for every type that it takes, and the functions of columns for the most\n"
        "frequent types. Later processes load the machine code from the cache. Code that is in the cache\n"
        "already is not compiled again.\n\n"
        "With --cuda, compile all of them for GPUs instead. This needs no GPU, but the packages of\n"
        "colkern[cuda13] or colkern[cuda12]. Checks of columns still run on this machine: their kernels\n"
        "count as compiled or loaded, too.",
        """\
keys of the JSON document:
  kernels   the number of kernels
  variants  the number of compiled kernels, one for each choice of types
  functions the number of functions of columns
  compiled  the number of them that were compiled now
  loaded    the number that were in the cache
  cache     the directory of the cache
""",
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="the number of processes that compile at the same time; by default, one per core",
    )
    parser.add_argument(
        "--cuda",
        type=_capability,
        metavar="sm_90",
        help="compile for GPUs of this compute capability",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")


def _capability(text: str) -> tuple[int, int]:
    """A compute capability, written as `sm_90` or `9.0`."""
    match = re.fullmatch(r"(?:sm_)?(\d+)\.?(\d)", text)
    if match is None:
        raise argparse.ArgumentTypeError(
            f"expected a compute capability such as sm_90, got {text!r}"
        )
    return int(match[1]), int(match[2])


class _Work(NamedTuple):
    """A unit of compilation for one process."""

    name: str
    variants: int
    #: Compiles the functions of a name; returns the numbers compiled and loaded.
    warm: Callable[[str], dict[str, int]]


def _run(options: argparse.Namespace) -> None:
    from colkern.cache import cache_dir
    from colkern.kernels import KERNELS

    # First of all: without a directory, the work would be in vain.
    cache = cache_dir("kernels")
    kernels = _for_gpus(options.cuda) if options.cuda else _for_processor()
    functions = _functions(options.cuda)
    totals = {"compiled": 0, "loaded": 0}
    jobs = options.jobs or len(os.sched_getaffinity(0))
    # The largest first, so that none of them is left at the end for a single process.
    works = [*sorted(kernels, key=lambda work: -work.variants), *functions]
    with (
        progress_line("count", sum(work.variants for work in works)) as update,
        # Not forked, because this process has threads of its own.
        ProcessPoolExecutor(jobs, get_context("spawn")) as pool,
    ):
        for work, counts in zip(works, pool.map(_done, works), strict=True):
            totals = {key: total + counts[key] for key, total in totals.items()}
            update(description=f"{work.name:32}", advance=work.variants)
    numbers = {"kernels": len(KERNELS), "variants": sum(work.variants for work in kernels)}
    summary = {**numbers, "functions": len(functions), **totals}
    if options.json:
        print_json({**summary, "cache": str(cache)})
        return
    print(
        f"{counted(summary['kernels'], 'kernel')}, {counted(summary['variants'], 'variant')}, "
        f"{counted(summary['functions'], 'function')}: "
        f"{summary['compiled']:,} compiled, {summary['loaded']:,} found in {cache}"
    )


# Imported late, because these modules load Numba.


def _for_processor() -> list[_Work]:
    from colkern.cpu.compiler import warm
    from colkern.kernels import KERNELS

    return [_Work(name, len(list(kernel.variants())), warm) for name, kernel in KERNELS.items()]


def _for_gpus(capability: tuple[int, int]) -> list[_Work]:
    from colkern.cuda.warming import require_capability, warm, warmed
    from colkern.kernels import KERNELS

    require_capability(capability)
    compiling = partial(warm, capability=capability)
    return [_Work(name, variants, compiling) for name, variants in warmed(KERNELS).items()]


def _functions(capability: tuple[int, int] | None) -> list[_Work]:
    from colkern.functions.warming import functions_to_warm, warm

    return [_Work(name, 1, partial(warm, capability=capability)) for name in functions_to_warm()]


def _done(work: _Work) -> dict[str, int]:
    return work.warm(work.name)
