"""`colkern doctor`: what this machine has, what one gets from it, and what is broken."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from colkern.commands.output import counted, print_json, printable

if TYPE_CHECKING:
    from colkern.commands.checks.finding import Finding

BROKEN = 1
"""The exit status where a finding is a problem."""

_AT_A_TIME = 4
"""How many sections are looked at together: they wait for processes most of the time."""

_Section = Callable[[], Iterable["Finding"]]


def add_command(commands: Any) -> None:
    """Add the subcommand to an argparse parser's subparsers."""
    parser = commands.add_parser(
        "doctor",
        help="what this machine has, what it enables, and what is broken",
        description="Look at packages, processor, cache, GPU and Spark: a line for each says "
        "whether it is there, what it is good for, and what to do where it is not. The exit status "
        "is 1 if something is a problem; what is missing is none.",
        epilog="""\
keys of the JSON document:
  works      whether nothing is a problem
  findings   one object a line, with
    section  the title that it stands under
    name     what was looked at
    mark     ok, missing (colkern works without it), problem
    found    what is there, or what is wrong
    enables  what it is good for
    remedy   what to install or to set
""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from colkern.commands.checks.finding import Mark

    report = []
    for title, findings in _examined(_sections()):
        report += [(title, finding) for finding in findings]
        if not options.json:
            _print_section(title, findings)
    marks = [finding.mark for _, finding in report]
    problems, missing = marks.count(Mark.PROBLEM), marks.count(Mark.MISSING)
    if options.json:
        found = [{"section": title, **dataclasses.asdict(finding)} for title, finding in report]
        print_json({"works": not problems, "findings": found})
    else:
        verdict = counted(problems, "problem") if problems else "colkern works here"
        print(f"{verdict}; {counted(missing, 'option is', 'options are')} missing")
    return BROKEN if problems else 0


def _sections() -> dict[str, _Section]:
    """What is looked at, by title, in the order of the report."""
    from colkern.commands.checks import gpu, kernel_cache, packages, processor, settings, spark

    return {
        "Python and packages": packages.core,
        "CPU": processor.findings,
        "Cache of kernels": kernel_cache.findings,
        "Compressed IPC": packages.codecs,
        "GPU": gpu.findings,
        "Spark": spark.findings,
        "Environment": settings.findings,
    }


def _examined(sections: dict[str, _Section]) -> Iterator[tuple[str, list[Finding]]]:
    """The sections with what was found, in order, each as soon as it is there."""
    from colkern.commands.checks.finding import checked

    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        yield from zip(sections, pool.map(checked, sections, sections.values()), strict=True)


def _print_section(title: str, findings: list[Finding]) -> None:
    """Print a section. Not a table: a path that somebody wants to copy must not be cut."""
    width = max((len(finding.name) for finding in findings), default=0)
    print(title)
    for finding in findings:
        print(f"  {finding.mark:<7}  {finding.name:<{width}}  {printable(_text(finding))}")
    print()


def _text(finding: Finding) -> str:
    parts = [finding.found]
    if finding.remedy:
        parts.append(f"to do: {finding.remedy}")
    if finding.enables:
        parts.append(f"for {finding.enables}")
    return "; ".join(parts)
