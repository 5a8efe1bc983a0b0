"""asv's figures of ten cases beside an earlier commit: `python -m benchmarks.regressions`.

The exit status is 1 if one of them takes more than a tenth longer. `make track` ends with it.
"""

from __future__ import annotations

import argparse
import itertools
import math
import subprocess
from collections.abc import Iterator
from pathlib import Path

from asv.results import Results, iter_results

from benchmarks.case import CHOSEN

MOST = 1.1
"""A case that takes so many times as long as before is a regression."""


def measured(results: Results) -> Iterator[tuple[str, float]]:
    """The seconds of the chosen cases, each in the usual shape of each size."""
    for name in CHOSEN:
        key = f"suite.{name}.time_colkern"
        if key not in results.get_all_result_keys():
            continue
        params = results.get_result_params(key)
        seconds = results.get_result_value(key, params)
        usual = tuple(values[0] for values in params[1:])
        for shape, value in zip(itertools.product(*params), seconds, strict=True):
            # Nothing was measured where it is NaN, or None.
            if shape[1:] == usual and value is not None and not math.isnan(value):
                yield f"{name}, {int(shape[0]):,} rows", value


def compared(before: dict[str, float], now: dict[str, float]) -> tuple[list[str], bool]:
    """A line for each case that both have, and whether one of them is a regression."""
    shared = {case: now[case] / before[case] for case in now if case in before}
    lines = [
        f"{'SLOWER ' if ratio > MOST else ''}{case}: {before[case] * 1e6:,.1f} µs before, "
        f"{now[case] * 1e6:,.1f} µs now, {ratio:.2f}×"
        for case, ratio in shared.items()
    ]
    return lines, any(ratio > MOST for ratio in shared.values())


def main() -> None:
    """Print the lines for this commit and the last one before it that was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="the folder of asv's results")
    options = parser.parse_args()
    commits = subprocess.run(
        ["git", "rev-list", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.split()
    found: dict[str, dict[str, float]] = {}
    for results in iter_results(str(options.results)):
        found.setdefault(results.commit_hash, {}).update(measured(results))
    now = found.get(commits[0], {})
    before = next((found[commit] for commit in commits[1:] if commit in found), {})
    lines, is_slower = compared(before, now)
    print("\n".join(lines) or "No earlier commit was measured.")
    parser.exit(int(is_slower))


if __name__ == "__main__":
    main()
