"""`colkern doctor`: reports what this machine has, what that enables, and what is broken."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from colkern.commands.output import counted, print_json, printable
from colkern.commands.parser import Commands, new_command

if TYPE_CHECKING:
    from colkern.commands.checks.finding import Finding

BROKEN = 1
"""The exit status if a finding is a problem."""

_AT_A_TIME = 4
"""The number of sections checked at a time: they mostly wait for processes."""

_Section = Callable[[], Iterable["Finding"]]


def add_command(commands: Commands) -> None:
    parser = new_command(
        commands,
        "doctor",
        _run,
        "check this machine: packages, processor, cache, GPU and Spark",
        "Check packages, processor, cache, GPU and Spark. Each line says whether the item works, what it\n"
        "enables, and what to do if it is missing or broken. Exit status: 1 if something is broken, else\n"
        "0, also if optional parts are missing.",
        """\
keys of the JSON document:
  works      true if nothing is broken
  findings   one object for each line:
    section  the title above the line
    name     the checked item
    mark     ok, missing (optional: colkern works without it), or problem
    found    its version or location, or the error
    enables  its use
    remedy   the package to install, or the variable to set
""",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")


def _run(options: argparse.Namespace) -> int:
    from colkern.commands.checks.finding import Mark, checked

    report = []
    sections = _sections()
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        # In order, each as soon as it is available.
        for title, findings in zip(
            sections, pool.map(checked, sections, sections.values()), strict=True
        ):
            report += [(title, finding) for finding in findings]
            if not options.json:
                _print_section(title, findings)
    marks = [finding.mark for _, finding in report]
    problems, missing = marks.count(Mark.PROBLEM), marks.count(Mark.MISSING)
    if options.json:
        entries = [{"section": title, **dataclasses.asdict(finding)} for title, finding in report]
        print_json({"works": not problems, "findings": entries})
    else:
        verdict = counted(problems, "problem") if problems else "colkern works here"
        print(f"{verdict}; {counted(missing, 'option is', 'options are')} missing")
    return BROKEN if problems else 0


def _sections() -> dict[str, _Section]:
    """Title → check, in the order of the report."""
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


def _print_section(title: str, findings: list[Finding]) -> None:
    """Print a section; not as a table, which would cut paths, so that paths can be copied."""
    width = max((len(finding.name) for finding in findings), default=0)
    print(title)
    for finding in findings:
        todo = f"; to do: {finding.remedy}" if finding.remedy else ""
        use = f"; for {finding.enables}" if finding.enables else ""
        text = f"{finding.found}{todo}{use}"
        print(f"  {finding.mark:<7}  {finding.name:<{width}}  {printable(text)}")
    print()
