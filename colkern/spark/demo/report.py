"""The results of the demo: a table, a bar chart, and all figures as JSON."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from colkern.machine import machine, versions
from colkern.spark.demo.cases import NATIVE, WAYS
from colkern.spark.demo.job import FLOOR, Outcome, Run
from colkern.spark.java import Java

AGREEMENT = "All ways agree in every row, where -0.0 counts as 0.0 and a NaN as any other."
"""The sentence for a run, which raises an error if results differ."""

LITTLE = 0.8
"""Above this share of the arrow_udf's time, a gain counts as little."""


def table(run: Run) -> Table:
    """Returns a table of each function and spelling: its rows per second, colkern's speed-up over it, and
    its time relative to the floor. The function that gains most comes first."""
    rounds = max(len(times) for outcome in run.outcomes for times in outcome.seconds.values())
    result = Table(
        title=f"{run.rows:,} rows, median of {'up to ' * (rounds > 2)}{rounds}",
        caption=f"speed-up: colkern's over this one. floor: {FLOOR} over the same columns.",
        title_justify="left",
        caption_justify="left",
    )
    result.add_column("function", no_wrap=True)
    result.add_column("computed by", no_wrap=True)
    for heading in ("seconds", "rows/s", "speed-up", "time/floor"):
        result.add_column(heading, justify="right", no_wrap=True)
    for outcome in sorted(run.outcomes, key=_gain, reverse=True):
        ways = (FLOOR, *outcome.case.ways)
        labels = (outcome.case.name, outcome.case.kind, *[""] * len(ways))
        for label, way in zip(labels, ways, strict=False):
            seconds, ours = outcome.median(way), outcome.median(outcome.case.ours)
            result.add_row(
                label,
                "floor" if way == FLOOR else way,
                f"{seconds:.2f}",
                f"{run.rows / seconds:,.0f}",
                f"{seconds / ours:.2f}" if way in outcome.case.ways else "",
                f"{seconds / outcome.median(FLOOR):.2f}",
                style="bold" if way == outcome.case.ours else None,
                end_section=way == ways[-1],
            )
    return result


def _gain(outcome: Outcome) -> float:
    """Returns the speed of colkern relative to the `pandas_udf`."""
    return outcome.median("pandas_udf") / outcome.median(outcome.case.ours)


def gains(run: Run) -> str:
    """Returns one sentence about the functions that gain, and those that gain little."""
    ranked = sorted(((_gain(each), each) for each in run.outcomes), key=lambda pair: -pair[0])
    clauses = []
    for gain, outcome in ranked:
        shown = f"{outcome.case.name} is {gain:.1f}× as fast as its pandas_udf"
        if outcome.median(outcome.case.ours) > LITTLE * outcome.median("arrow_udf"):
            shown += ", and gains little over its arrow_udf"
        if outcome.case.ours == NATIVE:
            shown += ", without a Python worker"
        clauses.append(shown)
    return f"{'; '.join(clauses)}."


def chart(run: Run, path: Path) -> None:
    """Write a bar chart of rows per second as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
    width = 0.16
    colours = ("#b8b8b8", "#7f9fc6", "#4f78b0", "#d1603d", "#8c2d19")
    for place, (way, colour) in enumerate(zip((FLOOR, *WAYS, NATIVE), colours, strict=True)):
        having = [(x, each) for x, each in enumerate(run.outcomes) if way in each.seconds]
        rates = [run.rows / outcome.median(way) / 1e6 for _, outcome in having]
        positions = [x + (place - 2) * width for x, _ in having]
        bars = axes.bar(positions, rates, width, label=way, color=colour)
        axes.bar_label(bars, fmt="%.1f", fontsize=8)
    axes.set_xticks(
        range(len(run.outcomes)), [f"{o.case.name}\n{o.case.kind}" for o in run.outcomes]
    )
    axes.set_ylabel("million rows a second")
    axes.set_title(f"{run.rows:,} rows through Spark and back, {run.settings.get('spark.master')}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def figures(run: Run, java: Java) -> dict[str, object]:
    """Returns all figures, the machine and the versions, in types that JSON has."""
    return {
        "rows": run.rows,
        "functions": [_function(run, outcome) for outcome in run.outcomes],
        "result": {"files": [str(path) for path in run.files], "rows": run.rows},
        "spark": run.settings,
        "machine": machine(),
        "versions": {**versions(), "java": f"{java.version} ({java.source})"},
    }


def _function(run: Run, outcome: Outcome) -> dict[str, object]:
    floor, ours = outcome.median(FLOOR), outcome.median(outcome.case.ours)
    return {
        "name": outcome.case.name,
        "kind": outcome.case.kind,
        "inputs": list(outcome.case.inputs),
        "seconds": outcome.seconds,
        "median_seconds": {way: outcome.median(way) for way in outcome.seconds},
        "rows_per_second": {way: run.rows / outcome.median(way) for way in outcome.seconds},
        "colkern_times_as_fast": {way: outcome.median(way) / ours for way in WAYS[:2]},
        "colkern_of_floor": ours / floor,
        "aggregates": {
            name: value if isinstance(value, int | float) else str(value)
            for name, value in outcome.aggregates.items()
        },
    }
