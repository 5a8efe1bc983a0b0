"""Bodies of messages to a device and back: `python -m benchmarks.bodies --json FILE`.

In each round each contestant has its turn, in one process over the same data; a figure is the median of
the rounds, by the wall clock, until the device has done its work. Files are in the page cache.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.bodies.compressed import COMPRESSED
from benchmarks.bodies.contestant import Place
from benchmarks.bodies.head import head
from benchmarks.bodies.measure import rows_of
from benchmarks.bodies.report import HEAD, failed, line, summary
from benchmarks.bodies.sharing import SHARING
from benchmarks.bodies.transfers import TRANSFERS
from benchmarks.bodies.validation import VALIDATION
from benchmarks.machine import write_json
from colkern.cuda import memory, stand_in
from colkern.cuda.cupy_library import cupy_library
from colkern.errors import DeviceUnavailableError
from colkern.memory import Device

GROUPS = [TRANSFERS, *COMPRESSED, *VALIDATION, SHARING]


def main() -> int:
    """Measure all groups, print the table, write the JSON; 1 if a case failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes of the large tables")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--group", default="", help="only groups whose name contains this")
    parser.add_argument("--folder", type=Path, help="where files are written while it runs")
    parser.add_argument(
        "--stand-in",
        action="store_true",
        help="over host memory instead of a device: for what the host does, and no figure of a GPU",
    )
    options = parser.parse_args()
    if options.stand_in:
        with _stand_in():
            return _measured(options)
    try:
        memory.require_device()
    except DeviceUnavailableError as error:
        print(f"no figures: {error}")
        return 1
    return _measured(options)


@contextmanager
def _stand_in() -> Iterator[None]:
    """Its slots are those of a GPU, not the small ones that tests want."""
    real = cupy_library()
    with stand_in.installed() as device:
        device.slot_bytes, device.most_slots = real.slot_bytes, real.most_slots
        device.core_decompresses = real.core_decompresses
        yield


def _measured(options: argparse.Namespace) -> int:
    device = Device("cuda", 0)
    result = head(device, options.size, options.rounds, stand_in=options.stand_in) | {"rows": []}

    def save() -> None:
        """Whoever stops this has what was found so far."""
        if options.json:
            write_json(options.json, result)

    save()
    print(f"{result['device']}\n{HEAD}")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        place = Place(device, options.size, Path(folder))
        for group in GROUPS:
            if options.group in group.name:
                for row in rows_of(group, place, options.rounds):
                    result["rows"].append(row)
                    print(line(row), flush=True)
                save()
    for text in summary(result):
        print(text)
    if options.json:
        print(f"written: {options.json}")
    return int(failed(result))


if __name__ == "__main__":
    raise SystemExit(main())
