"""The directive `figures`: a table made from one of the committed files of benchmark results."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"

sys.path.insert(0, str(ROOT))
from benchmarks.bodies.report import summary as bodies_summary  # noqa: E402
from benchmarks.case import label  # noqa: E402
from benchmarks.chart import draw  # noqa: E402
from benchmarks.compare import front, share, summary  # noqa: E402
from benchmarks.gpu.model import ranking  # noqa: E402
from benchmarks.gpu.model import summary as model_summary  # noqa: E402
from benchmarks.gpu.reading import summary as gpu_summary  # noqa: E402
from benchmarks.gpu.requests import reasons  # noqa: E402

Rows = list[list[str]]


def compare(result: dict[str, Any]) -> Rows:
    """Kernels beside their peers."""
    rows = [["case", "colkern", "fastest peer", "ratio", "target", "GB/s", "share of bandwidth"]]
    for row in result["rows"]:
        ours, peer = row["seconds"]["colkern"], row["best_peer"]
        rows.append(
            [
                f"{row['comparison']}, {label(row['shape'])}",
                _time(ours),
                f"{_time(row['seconds'][peer])} {peer}" if peer else "",
                f"{row['ratio']:.2f}×" if peer else "",
                f"{row['target']:.1f}×" if peer else "",
                f"{row['bytes_per_second'] / 1e9:.1f}",
                share(row),
            ]
        )
    return rows


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:,.1f} ms"


def startup(result: dict[str, Any]) -> Rows:
    """The time of a process before its first result."""
    imports, kernels = result["import"], result["cached_kernels"]
    return [
        ["what", "measured"],
        ["import numpy", f"{imports['numpy'] * 1e3:.0f} ms"],
        ["import colkern", f"{imports['colkern'] * 1e3:.0f} ms ({imports['ratio']:.2f}×)"],
        [
            f"cold: {kernels['cold_compiled']} kernels compiled",
            f"{kernels['cold_seconds']:.1f} s",
        ],
        ["second process: kernels compiled", str(kernels["compiled"])],
        ["second process: import numba", f"{kernels['import_numba'] * 1e3:.0f} ms"],
        ["second process: first kernel", f"{kernels['first_kernel'] * 1e3:.0f} ms"],
        ["second process: each further kernel", f"{kernels['further_kernel'] * 1e3:.1f} ms"],
    ]


def row_compiling(result: dict[str, Any]) -> Rows:
    """Definitions of row functions."""
    first, second = result["cold"], result["second process"]
    rows = [["what", "fresh cache", "second process"]]
    rows.append(["functions compiled", f"{first['compiled']:,}", f"{second['compiled']:,}"])
    for name, key in (("median", "median_ms"), ("slowest", "most_ms")):
        rows.append([f"a function, {name}", f"{first[key]:,.0f} ms", f"{second[key]:,.1f} ms"])
    rows.append(["all of them", f"{first['total_s']:.0f} s", f"{second['total_s']:.0f} s"])
    return rows


def row_speeds(result: dict[str, Any]) -> Rows:
    """Row functions beside CPython."""
    rows = [["values", "functions", "median", "slowest"]]
    for values in ("all values", "ordinary values"):
        found = result[values]
        slowest = ", ".join(f"{name} {ratio:.2f}×" for name, ratio in found["slowest"].items())
        rows.append([values, f"{found['functions']:,}", f"{found['median']:.1f}×", slowest])
    return rows


def demo(result: dict[str, Any]) -> Rows:
    """The Spark job."""
    rows = [["function", "kind", "computed by", "seconds", "rows/s", "colkern is"]]
    for function in result["functions"]:
        for way, seconds in function["median_seconds"].items():
            faster = function["colkern_times_as_fast"].get(way)
            rows.append(
                [
                    function["name"],
                    function["kind"],
                    way,
                    f"{seconds:.2f}",
                    f"{function['rows_per_second'][way]:,.0f}",
                    "" if faster is None else f"{faster:.2f}× as fast",
                ]
            )
        rows.append(
            [function["name"], "", "colkern / floor", f"{function['colkern_of_floor']:.2f}", "", ""]
        )
    return rows


def spark(result: dict[str, Any]) -> Rows:
    """Functions in Spark, the data source, and the first batch of a process."""
    rows = [["case", "rows", "way", "first run", "seconds", "of colkern's"]]
    for case in result["cases"]:
        groups = f", {case['groups']:,} groups" if "groups" in case else ""
        for way, seconds in case["seconds"].items():
            first = case["first_seconds"].get(way)
            rows.append(
                [
                    case["name"],
                    f"{case['rows']:,}{groups}",
                    way,
                    "" if first is None else f"{first:.2f}",
                    f"{seconds:.2f}",
                    f"{case['ratios'][way]:.2f}×",
                ]
            )
    for each in result.get("natives", []):
        for way, seconds in each["seconds"].items():
            rows.append(
                [
                    f"native plan: {each['name']}",
                    f"{each['rows']:,}",
                    way,
                    "",
                    f"{seconds:.3f}",
                    f"{seconds / each['seconds']['colkern']:.2f}×",
                ]
            )
    for way, seconds in result.get("cold", {"seconds": {}})["seconds"].items():
        more = result["cold"]["more_seconds"][way]
        rows.append(
            ["first batch in a fresh process", "1", way, "", f"{seconds:.2f}", f"{more:+.2f} s"]
        )
    return rows


def scaling(result: dict[str, Any]) -> Rows:
    """Time and memory over sizes."""
    rows = [["operation", "slots", "ms", "ns a slot", "memory beside the input"]]
    for row in result["rows"]:
        rows.append(
            [
                row["operation"],
                f"{row['slots']:,}",
                f"{row['seconds'] * 1e3:,.3f}",
                f"{row['seconds'] / row['slots'] * 1e9:.3f}",
                f"{row['peak_bytes'] / 2**20:.1f} MiB",
            ]
        )
    return rows


def threads(result: dict[str, Any]) -> Rows:
    """One thread and two."""
    rows = [["operation", "one thread", "two threads", "times as fast"]]
    for row in result["rows"]:
        one, two = row["seconds"]["1"], row["seconds"]["2"]
        rows.append([row["operation"], _time(one), _time(two), f"{one / two:.2f}×"])
    return rows


def primitives(result: dict[str, Any]) -> Rows:
    """The gain of each primitive, helper or kernel over what would do in its place."""
    gains = result["plain / primitive"]
    return [
        ["primitive, helper or kernel", "times as fast as what would do in its place"],
        *([name, _gains(by_type)] for name, by_type in gains.items()),
    ]


def _gains(by_type: dict[str, float]) -> str:
    return ", ".join(f"{dtype} {gain:.2f}" for dtype, gain in by_type.items())


def launches(result: dict[str, Any]) -> Rows:
    """The time that launches and operations on a device take in Python."""
    rows = [["case", "µs", "launches", "waits for the device"]]
    for row in result["rows"]:
        counts = [str(row["launches"]), str(row["waits"])]
        rows.append([row["case"], f"{row['microseconds']:.1f}", *counts])
    return rows


def machine_code(result: dict[str, Any]) -> Rows:
    """The registers and memory that kernels need on GPUs: the most of their variants."""
    names = [name for name in result["rows"][0] if name.startswith("sm_")]
    most: dict[str, list[int]] = {}
    for row in result["rows"]:
        found = [row[name]["registers"] for name in names]
        found.append(max(row[name]["stack"] + row[name]["spilled"] for name in names))
        most[row["kernel"]] = list(map(max, found, most.get(row["kernel"], found)))
    head = ["kernel", *(f"registers, {name}" for name in names), "bytes of stack and spills"]
    return [head, *([kernel, *map(str, found)] for kernel, found in sorted(most.items()))]


def memory_requests(result: dict[str, Any]) -> Rows:
    """The sectors of kernels that ask for more than they need, the most of those needed first."""
    rows = [["case", "kind", "sectors of those needed", "why"]]
    why = reasons(result["rows"])
    for row in sorted(result["rows"], key=lambda row: -row["sectors"] / row["sectors_needed"]):
        share = f"{row['sectors'] / row['sectors_needed']:.2f}×"
        if row["sectors"] > row["sectors_needed"]:
            rows.append([row["case"], row["kind"], share, why.get(row["case"], "")])
    return rows


def gpu_model(result: dict[str, Any]) -> Rows:
    """Predictions for GPUs, beside measurements."""
    return list(ranking(result, RESULTS))


def gpu(result: dict[str, Any]) -> Rows:
    """Kernels on a GPU."""
    rows = [["case", "kind", "ms", "GB/s", "share of a copy's bandwidth", "target"]]
    for row in result["rows"]:
        if "error" in row:
            rows.append([row["case"], row["kind"], "failed", "", "", ""])
            continue
        target = "" if row["target"] is None else f"{row['target']:.0%}"
        rows.append(
            [
                row["case"],
                row["kind"],
                f"{row['seconds'] * 1e3:.3f}",
                f"{row['bytes_per_second'] / 1e9:,.0f}",
                f"{row['bandwidth_share']:.0%}",
                f"{target}, missed" if row["meets_target"] is False else target,
            ]
        )
    return rows


def bodies(result: dict[str, Any]) -> Rows:
    """Bodies of messages to a GPU and back."""
    rows = [["case", "ms", "GB/s", "GB over the bus", "held against", "ratio", "target"]]
    for row in result["rows"]:
        if "seconds" not in row:
            rows.append([row["case"], "skipped" if "skipped" in row else "failed", *[""] * 5])
            continue
        rows.append(
            [
                row["case"],
                f"{row['seconds'] * 1e3:,.2f}",
                f"{row['bytes_per_second'] / 1e9:,.1f}",
                f"{(row['bytes_to_device'] + row['bytes_to_host']) / 1e9:.3f}",
                f"{row['kind']} {row['against']}" if "ratio" in row else "",
                f"{row['ratio']:.2f}" if "ratio" in row else "",
                _target_of(row),
            ]
        )
    return rows


def gpu_rows(result: dict[str, Any]) -> Rows:
    """Row functions on a GPU beside one thread of the CPU."""
    rows = [["function", "rows", "GPU", "one thread", "times as fast", "first call"]]
    for row in sorted(result["rows"], key=lambda each: each.get("ratio", 0)):
        if "error" in row:
            rows.append([row["case"], "", row["error"], "", "", ""])
            continue
        seconds = [_time(row["device"]), _time(row["host"])]
        head = [row["case"], f"{row['rows']:,}", *seconds]
        rows.append([*head, f"{row['ratio']:.1f}×", f"{row['first call']:.1f} s"])
    return rows


def _target_of(row: dict[str, Any]) -> str:
    if row.get("target") is None:
        return ""
    text = f"{row['target']:.2f}"
    return f"{text}, missed" if row.get("meets_target") is False else text


GPU_TABLES: dict[str, Callable[[dict[str, Any]], Rows]] = {
    "gpu": gpu,
    "bodies": bodies,
    "rows": gpu_rows,
}
"""Of files that are named after a GPU; those of bodies end in `-bodies`, of row functions in `-rows`."""

_FRONT = ("compare.json", "compare-large.json")
"""The files of the front table."""

SUMMARIES = {"gpu": gpu_summary, "bodies": bodies_summary, "gpu_model": model_summary}

TABLES: dict[str, Callable[[dict[str, Any]], Rows]] = {
    "compare": compare,
    "compare-large": compare,
    "compare-two-threads": compare,
    "compare-rows": compare,
    "compare-tables": compare,
    "row_compiling": row_compiling,
    "row_speeds": row_speeds,
    "scaling": scaling,
    "threads": threads,
    "startup": startup,
    "demo": demo,
    "spark": spark,
    "spark-natives": spark,
    "spark-pipelines": spark,
    "primitives": primitives,
    "launches": launches,
    "machine_code": machine_code,
    "memory_requests": memory_requests,
    "gpu_model": gpu_model,
}


class Figures(SphinxDirective):
    """A file's table under a line that says where it was measured.

    `gpu`, `bodies` and `rows` stand for the files of all GPUs, `front` for ten numbers of two files.
    """

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The tables, or one line that says that nothing was measured."""
        # The tables depend on the files, not on this page's text.
        self.env.note_reread()
        name = self.arguments[0]
        if name == "front":
            return [_table(front(json.loads((RESULTS / each).read_text()) for each in _FRONT))]
        if name in GPU_TABLES:
            paths = sorted(path for path in RESULTS.glob("*.json") if _gpu_table(path) == name)
        else:
            paths = [path for path in [RESULTS / name] if path.exists()]
        found: list[nodes.Node] = []
        for path in paths:
            result = json.loads(path.read_text())
            if "machine" in result:
                found.append(nodes.paragraph(text=_where(result)))
            if path.stem.startswith("compare"):
                found.append(nodes.paragraph(text=f"{summary(result['rows'])}."))
                found.append(nodes.raw("", _chart(result), format="html"))
            table = name if name in GPU_TABLES else path.stem
            if table in SUMMARIES:
                said = "; ".join(SUMMARIES[table](result))
                found.append(nodes.paragraph(text=f"{said}."))
            make = {**TABLES, **GPU_TABLES}[table]
            found.append(_table(make(result)))
        return found or [nodes.paragraph(text="Not measured yet.")]


def _gpu_table(path: Path) -> str | None:
    """Which of `GPU_TABLES` shows a file; None if none does."""
    if path.stem in TABLES:
        return None
    kind = path.stem.rpartition("-")[2]
    return kind if kind in GPU_TABLES else "gpu"


def _chart(result: dict[str, Any]) -> str:
    """The chart as an element of the page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chart.svg"
        draw(result, path)
        text = path.read_text()
    return text[text.index("<svg") :]


def _where(result: dict[str, Any]) -> str:
    machine = result["machine"]
    place = result.get("device") or machine["processor"]
    vectors = f" with {machine['vectors']}" if machine.get("vectors") else ""
    threads = f", {result['threads']} thread" if "threads" in result else ""
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    bandwidth = result.get("copy_bytes_per_second")
    copied = f", memory copied at {bandwidth / 1e9:,.1f} GB/s" if bandwidth else ""
    return f"{place}{vectors}, {machine['cores']} cores{threads}{copied}; {versions}."


def _table(rows: Rows) -> nodes.table:
    group = nodes.tgroup(cols=len(rows[0]))
    group += [nodes.colspec(colwidth=1) for _ in rows[0]]
    group += nodes.thead("", _row(rows[0]))
    group += nodes.tbody("", *[_row(row) for row in rows[1:]])
    return nodes.table("", group)


def _row(cells: list[str]) -> nodes.row:
    return nodes.row("", *[nodes.entry("", nodes.paragraph(text=cell)) for cell in cells])


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this."""
    app.add_directive("figures", Figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
