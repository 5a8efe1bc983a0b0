"""Row functions on a device beside one thread of the CPU: `python -m benchmarks.gpu.rows --json FILE`.

Each function of `tests/corpus` that a device takes runs over its ordinary values, again and again up to a
number of rows, in the memory of each: by the wall clock, until the device has done its work. The rows that
are left to Python count on both sides.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

import colkern as ck
from benchmarks import machine
from benchmarks.gpu import turns
from benchmarks.row_speeds import called_rows
from benchmarks.timing import medians
from colkern.cpu.threads import set_num_threads
from colkern.operations.moving import to_device
from tests.corpus.cases import CASES, Case

ROUNDS = 3


def main() -> int:
    """Measure, print, and write the figures as JSON if a file is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    turns.add_options(parser)
    parser.add_argument("--rows", type=int, default=1_000_000, help="how many rows there are")
    parser.add_argument("--pattern", default="", help="only functions whose name contains this")
    options = parser.parse_args()
    if not turns.has_device():
        return 1
    set_num_threads(1)
    result: dict[str, Any] = {
        "device": _device_name(),
        **machine.facts(threads=1),
        "size": options.rows,
        "rows": [],
    }
    for rows in _rows(options):
        result["rows"] = rows
        if options.json:
            machine.write_json(options.json, result)
    for row in result["rows"]:
        print(f"{row['case']:50}", row.get("error") or f"{row['ratio']:8.1f}x")
    ratios = [row["ratio"] for row in result["rows"] if "ratio" in row]
    print(
        f"{len(ratios)} of {len(result['rows'])} functions; median {statistics.median(ratios or [0]):.1f}x"
    )
    return 0


def _rows(options: argparse.Namespace) -> Iterator[list[dict[str, Any]]]:
    """All rows so far, again and again."""
    if options.jobs > 1:
        yield from turns.rows_of_jobs("benchmarks.gpu.rows", options)
        return
    rows: list[dict[str, Any]] = []
    for case in [case for name, case in CASES.items() if options.pattern in name][options.part]:
        try:
            rows.append({"case": case.name, **_figures(case.ascii_only(), options)})
        except Exception as error:  # noqa: BLE001 (whatever it is, the other rows are worth having)
            rows.append({"case": case.name, "error": f"{type(error).__name__}: {error}"})
        yield rows


def _figures(case: Case, options: argparse.Namespace) -> dict[str, Any]:
    called = called_rows(case)
    columns = case.taking(called).columns
    few = [ck.array(column.values, column.type) for column in columns]
    udf = ck.udf(case.function)
    udf(*few)
    begin = time.perf_counter()
    udf(*map(to_device, few))
    compiled = time.perf_counter() - begin
    arrays = [ck.concat([array] * max(options.rows // len(called), 1)) for array in few]
    with turns.device_alone(options.turn):
        placed = [to_device(array) for array in arrays]
        seconds = medians(
            {"device": lambda: _awaited(udf, placed), "host": lambda: udf(*arrays)}, ROUNDS
        )
    return {
        "rows": len(arrays[0]),
        "first call": compiled,
        **seconds,
        "ratio": seconds["host"] / seconds["device"],
    }


def _awaited(udf: Any, placed: list[ck.Array]) -> None:
    import cupy

    udf(*placed)
    cupy.cuda.Device().synchronize()


def _device_name() -> str:
    import cupy

    name: str = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return name


if __name__ == "__main__":
    raise SystemExit(main())
