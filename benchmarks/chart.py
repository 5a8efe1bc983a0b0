"""The chart of a comparison: all ratios, sorted, and those of each operation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

LARGE = 10_000_000
SMALL, BIG = "#7fb2e5", "#1f4e79"


def draw(result: dict[str, Any], path: Path) -> None:
    """Write the chart of what `benchmarks.compare` wrote; the suffix says in which format."""
    ratios = _ratios(result)
    height = 1.2 + 0.24 * len(ratios)
    figure = Figure(figsize=(8, 2.4 + height), layout="constrained")
    every, axes = figure.subplots(2, height_ratios=(2.4, height))
    _draw_all(every, sorted(row["ratio"] for row in result["rows"] if row["ratio"]))
    for place, sizes in enumerate(ratios.values()):
        axes.hlines(place, min(1, *sizes.values()), max(1, *sizes.values()), color="0.85", zorder=1)
        for size, ratio in sizes.items():
            axes.scatter(ratio, place, color=BIG if size >= LARGE else SMALL, s=28, zorder=2)
    axes.set_yticks(range(len(ratios)), list(ratios), fontsize=8)
    axes.invert_yaxis()
    _scale(axes)
    every.set_title(f"colkern beside the fastest peer, threads: {result['threads']}", fontsize=10)
    figure.savefig(path)


def _ratios(result: dict[str, Any]) -> dict[str, dict[int, float]]:
    """Operation -> rows -> ratio in the usual shape, the operation with the least first."""
    ratios: dict[str, dict[int, float]] = {}
    for row in result["rows"]:
        if row["ratio"]:
            # The usual shape of a size comes first.
            ratios.setdefault(row["comparison"], {}).setdefault(row["shape"]["rows"], row["ratio"])
    return dict(sorted(ratios.items(), key=lambda item: min(item[1].values())))


def _draw_all(axes: Axes, ratios: list[float]) -> None:
    """All cases, the slowest first."""
    axes.plot(ratios, color=BIG, linewidth=1)
    axes.axhline(1, color="0.4", linewidth=1)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axes.set_xlabel(f"all {len(ratios)} cases, sorted", fontsize=9)
    axes.grid(axis="y", color="0.93")
    axes.tick_params(axis="both", length=0)


def _scale(axes: Axes) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axes.axvline(1, color="0.4", linewidth=1)
    axes.scatter([], [], color=SMALL, s=28, label=f"fewer than {LARGE:,} rows")
    axes.scatter([], [], color=BIG, s=28, label="more")
    axes.legend(fontsize=8)
    axes.set_xlabel("times as fast as the fastest peer (medians, same process)", fontsize=9)
    axes.grid(axis="x", color="0.93")
    axes.tick_params(axis="both", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
