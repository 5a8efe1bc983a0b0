"""Kernels on the GPU against its own memory: `python -m benchmarks.gpu --json FILE`.

Every kernel works on about a gigabyte. Its rate stands beside that of a device-to-device copy of as
many bytes, measured in the same process. Times are between CUDA events; the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from colkern.cuda import adapter, memory
from colkern.cuda.target import CudaTarget
from colkern.kernels import bitmaps, offsets, runs, unions, views
from colkern.memory import Device

Work = Callable[[], object]
Case = tuple[str, int, Work]


def cases(target: CudaTarget, size: int) -> Iterator[Case]:
    """Name, bytes read and written, and work, for about `size` bytes each."""
    library = memory.array_library()
    yield from _bitmaps(target, library, size)
    yield from _offsets(target, library, size)
    yield from _runs(target, library, size)
    yield from _unions(target, library, size)
    yield from _views(target, library, size)


def _bitmaps(target: CudaTarget, library: Any, size: int) -> Iterator[Case]:
    bits = library.full(size + 8, 0x5A, np.uint8)
    for offset in (0, 3):
        end = offset + 8 * size
        words = bitmaps.whole_words(offset, end)
        yield (
            f"count_set_bits, bit offset {offset}",
            size,
            lambda offset=offset, end=end, words=words: target.reduce(  # type: ignore[misc]
                bitmaps.count_set_bits, add, words, bits, offset, end
            ),
        )


def _offsets(target: CudaTarget, library: Any, size: int) -> Iterator[Case]:
    for dtype in (np.int32, np.int64):
        count = size // np.dtype(dtype).itemsize - 1
        items = library.arange(count + 1, dtype=dtype)
        yield (
            f"count_descents, {np.dtype(dtype)}",
            size,
            lambda count=count, items=items: target.reduce(  # type: ignore[misc]
                offsets.count_descents, add, count, items
            ),
        )


def _runs(target: CudaTarget, library: Any, size: int) -> Iterator[Case]:
    count = size // 8
    for run in (10, 1000):
        ends = library.arange(1, count // run + 1, dtype=np.int32) * np.int32(run)
        values = library.arange(len(ends), dtype=np.uint64)
        out = target.allocate(len(ends) * run, np.uint64)
        yield (
            f"decode_runs, int64, runs of {run}",
            out.nbytes + ends.nbytes + values.nbytes,
            lambda ends=ends, values=values, out=out: target.map(  # type: ignore[misc]
                runs.decode_runs, len(out), ends, values, 0, out
            ),
        )
        positions = library.arange(len(ends), dtype=np.int64) * run
        found = target.allocate(len(ends), np.int64)
        yield (
            f"find_runs, {len(ends):,} in {len(ends):,} runs",
            positions.nbytes + found.nbytes,
            lambda ends=ends, positions=positions, found=found: target.map(  # type: ignore[misc]
                runs.find_runs, len(found), ends, positions, 0, found
            ),
        )


def _unions(target: CudaTarget, library: Any, size: int) -> Iterator[Case]:
    count = size // 17
    type_ids = (library.arange(count, dtype=np.int64) & 1).astype(np.int8)
    children = [library.arange(count, dtype=np.uint64) for _ in range(2)]
    numbers = target.table([0, 1, *[-1] * 126], np.int64)
    none = target.table([], np.int32)
    addresses = target.table([target.address(child) for child in children], np.uint64)
    out = target.allocate(count, np.uint64)
    yield (
        "gather_union, sparse, int64",
        count * 17,
        lambda: target.map(unions.gather_union, count, type_ids, numbers, none, addresses, 1, out),
    )
    words = target.allocate((count + 63) // 64, np.uint64)
    ids = type_ids.view(np.uint8)
    yield (
        "mark_slots",
        count + words.nbytes,
        lambda: target.map(unions.mark_slots, len(words), ids, 1, count, words),
    )


def _views(target: CudaTarget, library: Any, size: int) -> Iterator[Case]:
    length = 24
    count = size // (16 + 4 + 2 * length)
    data = library.full(count * length, 97, np.uint8)
    starts = library.arange(count + 1, dtype=np.int32) * np.int32(length)
    none = target.table([], np.uint8)
    words = target.output(4 * count, np.int32)
    masks = target.table(views.inline_masks(), np.uint64)
    encode: Work = lambda: target.map(  # noqa: E731
        views.encode_views, count, starts, data, none, 0, masks, words.view(np.uint64)
    )
    encode()
    out = target.allocate(count * length, np.uint8)
    sizes = target.table([data.nbytes, words.nbytes], np.int64)
    addresses = target.table([target.address(data), target.address(words)], np.uint64)
    yield f"encode_views, {length} bytes each", count * (16 + 4 + 4), encode
    yield (
        "first_view_out_of_bounds",
        words.nbytes,
        lambda: target.reduce(views.first_view_out_of_bounds, count, words, none, 0, sizes),
    )
    yield (
        f"decode_views, {length} bytes each",
        count * (16 + 4 + 2 * length),
        lambda: target.map(views.decode_views, count, words, addresses, sizes, starts, out),
    )


def seconds(work: Work, rounds: int) -> float:
    """The median seconds of one call on the device."""
    import cupy

    work()
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    spent = []
    for _ in range(rounds):
        begin.record()
        work()
        end.record()
        end.synchronize()
        spent.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3)
    return statistics.median(spent)


def copy_bandwidth(size: int, rounds: int) -> float:
    """Bytes a second of a device-to-device copy, reads and writes counted."""
    import cupy

    source, target = cupy.zeros(size // 8, np.uint64), cupy.zeros(size // 8, np.uint64)
    return 2 * size / seconds(lambda: cupy.copyto(target, source), rounds)


def main() -> None:
    """Run the cases, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes a case works on")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    adapter.require_device()
    import cupy

    bandwidth = copy_bandwidth(options.size, options.rounds)
    rows = []
    for name, nbytes, work in cases(CudaTarget(Device("cuda", 0)), options.size):
        spent = seconds(work, options.rounds)
        rate = nbytes / spent
        rows.append(
            {
                "case": name,
                "seconds": spent,
                "bytes_per_second": rate,
                "bandwidth_share": rate / bandwidth,
            }
        )
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    _print(device, bandwidth, rows)
    if options.json:
        head = {"device": device, **machine.facts(threads=1), "copy_bytes_per_second": bandwidth}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


def _print(device: str, bandwidth: float, rows: list[dict[str, Any]]) -> None:
    """Plain text: a stock CUDA image of Python has no terminal library."""
    print(f"{device}: memory copied at {bandwidth / 1e9:,.0f} GB/s")
    print(f"{'case':40}{'ms':>10}{'GB/s':>10}{'share of bandwidth':>20}")
    for row in rows:
        print(
            f"{row['case']:40}{row['seconds'] * 1e3:10.3f}{row['bytes_per_second'] / 1e9:10,.0f}"
            f"{row['bandwidth_share']:20.0%}"
        )


if __name__ == "__main__":
    main()
