"""`colkern warm`: compile every kernel for this machine, so that no later process has to."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from colkern.commands.output import counted, print_json
from colkern.commands.parser import positive


def add_command(commands: Any) -> None:
    """Add the subcommand to an argparse parser's subparsers."""
    parser = commands.add_parser(
        "warm",
        help="compile all kernels for this machine, and keep them",
        description="Compile every kernel for every type it is made for, and keep the machine code "
        "in the cache, where later processes find it. What is there already is not compiled again.",
        epilog="""\
keys of the JSON document:
  kernels   how many there are
  variants  how many functions that is, one for each choice of types
  compiled  how many of them were compiled now
  loaded    how many had been before
  cache     the directory
""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="processes that compile at a time; else one for each core",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from colkern.cache import cache_dir
    from colkern.kernels import KERNELS

    # Asked for at once: without a directory to keep it in, the work would be in vain.
    cache = cache_dir("kernels")
    variants = {name: sum(1 for _ in kernel.variants()) for name, kernel in KERNELS.items()}
    totals = {"compiled": 0, "loaded": 0}
    jobs = options.jobs or len(os.sched_getaffinity(0))
    with _progress(sum(variants.values())) as advance:
        for name, found in _warmed(variants, jobs):
            totals = {what: total + found[what] for what, total in totals.items()}
            advance(name, variants[name])
    summary = {"kernels": len(variants), "variants": sum(variants.values()), **totals}
    if options.json:
        print_json({**summary, "cache": str(cache)})
        return
    print(
        f"{counted(summary['kernels'], 'kernel')}, {counted(summary['variants'], 'variant')}: "
        f"{summary['compiled']:,} compiled, {summary['loaded']:,} found in {cache}"
    )


def _warmed(variants: dict[str, int], jobs: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Each kernel when it is ready, with how many of its variants were compiled and loaded."""
    # Imported late: it loads Numba.
    from colkern.cpu.warming import warm

    # The largest first, so that none is left over for one process at the end.
    names = sorted(variants, key=variants.__getitem__, reverse=True)
    # Not forked: this process has threads of its own.
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from zip(names, pool.map(warm, names), strict=True)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str, int], None]]:
    """On a terminal a bar; elsewhere nothing. Yields what is told of each kernel that is ready."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda name, variants: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:32}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("compiling", total=total)
        yield lambda name, variants: bar.update(task, description=name, advance=variants)
