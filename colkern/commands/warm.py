"""`colkern warm`: compiles kernels and functions for this machine, so that no later process has to."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from colkern.commands.output import counted, print_json
from colkern.commands.parser import Commands, new_command, positive
from colkern.commands.progress import progress_line


def add_command(commands: Commands) -> None:
    """Add the subcommand."""
    parser = new_command(
        commands,
        "warm",
        _run,
        "compile all kernels for this machine, and keep them",
        "Compile every kernel for every type it is made for, and the functions of columns for the most\n"
        "frequent types, and keep the machine code in the cache, where later processes find it. What is\n"
        "in the cache is not compiled again.",
        """\
keys of the JSON document:
  kernels   the number of kernels
  variants  the number of compiled kernels, one for each choice of types
  functions the number of functions of columns
  compiled  how many of them were compiled now
  loaded    how many were in the cache
  cache     the directory
""",
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="processes that compile at a time; one for each core by default",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")


def _run(options: argparse.Namespace) -> None:
    from colkern.cache import cache_dir
    from colkern.functions.warming import functions_to_warm
    from colkern.kernels import KERNELS

    # Before the work: without a directory it would be in vain.
    cache = cache_dir("kernels")
    variants = {name: sum(1 for _ in kernel.variants()) for name, kernel in KERNELS.items()}
    totals = {"compiled": 0, "loaded": 0}
    functions = functions_to_warm()
    jobs = options.jobs or len(os.sched_getaffinity(0))
    with progress_line("count", sum(variants.values()) + len(functions)) as update:
        for name, counts in _warmed(variants, functions, jobs):
            totals = {key: total + counts[key] for key, total in totals.items()}
            update(description=f"{name:32}", advance=variants.get(name, 1))
    numbers = {"kernels": len(variants), "variants": sum(variants.values())}
    summary = {**numbers, "functions": len(functions), **totals}
    if options.json:
        print_json({**summary, "cache": str(cache)})
        return
    print(
        f"{counted(summary['kernels'], 'kernel')}, {counted(summary['variants'], 'variant')}, "
        f"{counted(summary['functions'], 'function')}: "
        f"{summary['compiled']:,} compiled, {summary['loaded']:,} found in {cache}"
    )


def _warmed(
    variants: dict[str, int], functions: list[str], jobs: int
) -> Iterator[tuple[str, dict[str, int]]]:
    """Each kernel and function when it is ready, with how much of it was compiled and loaded."""
    # Imported late: they load Numba.
    from colkern.cpu.warming import warm
    from colkern.functions.warming import warm as warm_function

    # The largest first, so that no process is left with one of them at the end.
    names = sorted(variants, key=variants.__getitem__, reverse=True)
    # Not forked: this process has threads of its own.
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from zip(names, pool.map(warm, names), strict=True)
        yield from zip(functions, pool.map(warm_function, functions), strict=True)
