"""A file of results in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

HEAD = f"{'case':44}{'ms':>11}{'GB/s':>8}{'GB over':>9}{'ratio':>8}{'target':>8}"


def line(row: dict[str, Any]) -> str:
    """A row as text; GB over are what crosses the bus, both ways."""
    start = f"{row['case']:44}"
    for reason in ("error", "skipped"):
        if reason in row:
            return f"{start} {reason}: {row[reason]}"
    crossed = row["bytes_to_device"] + row["bytes_to_host"]
    text = f"{start}{row['seconds'] * 1e3:11.2f}{row['bytes_per_second'] / 1e9:8.2f}"
    text += f"{crossed / 1e9:9.3f}"
    if "ratio" not in row:
        return text
    verdict = {None: "", True: "met", False: "missed"}[row["meets_target"]]
    return f"{text}{row['ratio']:8.2f}{verdict:>8} {row['kind']} {row['against']}"


def summary(result: dict[str, Any]) -> Iterable[str]:
    """The results in a few lines."""
    if result["stand_in"]:
        yield "over host memory that stands in for a device: no figures of a GPU"
    held = [row for row in result["rows"] if row.get("meets_target") is not None]
    met = sum(row["meets_target"] for row in held)
    yield f"{met} of {len(held)} targets met"
    for reason in ("error", "skipped"):
        cases = [row["case"] for row in result["rows"] if reason in row]
        if cases:
            yield f"{reason}: {'; '.join(cases)}"


def failed(result: dict[str, Any]) -> bool:
    """Whether a case failed; a target that is missed is a figure, not a failure."""
    return any("error" in row for row in result["rows"])
