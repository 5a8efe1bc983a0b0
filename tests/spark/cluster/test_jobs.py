"""A job on a cluster, by `spark-submit`: colkern comes with it, and processes are killed on its way."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from spark_cluster import Cluster, steps

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

SURVIVOR = Path(__file__).parent / "jobs" / "survivor.py"
ROWS = 4000
VICTIMS = ("worker", "executor")


@pytest.fixture(scope="module")
def written(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the job, after its end; one driver for all, since each takes long to start."""
    folder = tmp_path_factory.mktemp("survivor")
    cache = str(folder / "cache")
    with cluster.submitted(SURVIVOR, folder, spark__executorEnv__COLKERN_CACHE_DIR=cache) as job:
        for victim in VICTIMS:
            running = json.loads(job.wait_for(folder / victim / "running"))
            os.kill(running[victim], signal.SIGKILL)
            (folder / victim / "go").touch()
        job.end()
    return folder


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_install_ships_colkern_and_compiled_functions(written: Path) -> None:
    report = read(written / "report")
    assert report["works"], report["text"]
    lines = report["text"].splitlines()
    assert re.match(r"ok       package: colkern-\w+\.zip", lines[0])
    assert re.match(r"ok       compiled functions: colkern-kernels-\w+\.zip", lines[1])
    assert lines[3] == "ok       executors: 2 answered, on one host"
    assert lines[-1].endswith(str(written / "cache" / "kernels"))


def test_workers_import_what_was_shipped_and_compile_nothing(
    written: Path, cluster: Cluster
) -> None:
    workers = read(written / "workers")
    assert workers
    for package, counts in workers:
        # In an executor's own directory.
        assert Path(package).is_relative_to(cluster.folder)
        assert Path(package).parents[1].match("colkern-*.zip")
        assert counts.get("compiled", 0) == 0
        assert counts["loaded"] > 0


@pytest.mark.parametrize("killed", ["undisturbed", *VICTIMS])
def test_files_hold_each_row_once_whoever_is_killed(written: Path, killed: str) -> None:
    actual = [path for path in (written / killed / "files").iterdir() if path.name != "_SUCCESS"]
    rows = {}
    for path in actual:
        # A file that was cut short has no footer.
        with pa.ipc.open_file(path) as reader:
            table = reader.read_all().to_pydict()
        for n, taken in zip(table["id"], table["steps"], strict=True):
            assert n not in rows
            rows[n] = taken
    assert rows == {n: steps(n) for n in range(ROWS)}
