"""`colkern warm`: compiles every kernel for this machine, so that no later process has to."""

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
        "Compile every kernel for every type it is made for, and keep the machine code in the cache,\n"
        "where later processes find it. Kernels in the cache are not compiled again.",
        """\
keys of the JSON document:
  kernels   the number of kernels
  variants  the number of functions, one for each choice of types
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
    from colkern.kernels import KERNELS

    # Before the work: without a directory it would be in vain.
    cache = cache_dir("kernels")
    variants = {name: sum(1 for _ in kernel.variants()) for name, kernel in KERNELS.items()}
    totals = {"compiled": 0, "loaded": 0}
    jobs = options.jobs or len(os.sched_getaffinity(0))
    with progress_line("count", sum(variants.values())) as update:
        for name, counts in _warmed(variants, jobs):
            totals = {key: total + counts[key] for key, total in totals.items()}
            update(description=f"{name:32}", advance=variants[name])
    summary = {"kernels": len(variants), "variants": sum(variants.values()), **totals}
    if options.json:
        print_json({**summary, "cache": str(cache)})
        return
    print(
        f"{counted(summary['kernels'], 'kernel')}, {counted(summary['variants'], 'variant')}: "
        f"{summary['compiled']:,} compiled, {summary['loaded']:,} found in {cache}"
    )


def _warmed(variants: dict[str, int], jobs: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Each kernel when it is ready, with the numbers of its variants that were compiled and loaded."""
    # Imported late: it loads Numba.
    from colkern.cpu.warming import warm

    # The largest first, so that no process is left with one of them at the end.
    names = sorted(variants, key=variants.__getitem__, reverse=True)
    # Not forked: this process has threads of its own.
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from zip(names, pool.map(warm, names), strict=True)
