"""A job on a cluster, by `spark-submit`, while its processes are killed: the result is the same."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from spark_cluster import Cluster

pytestmark = pytest.mark.spark

SURVIVOR = Path(__file__).parent / "jobs" / "survivor.py"
ROWS = 4000
VICTIMS = ("worker", "executor")


@pytest.fixture(scope="module")
def outcomes(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """What each run of the query gave; one driver for all, since each takes long to start."""
    folder = tmp_path_factory.mktemp("survivor")
    with cluster.submitted(SURVIVOR, str(folder), **cluster.shared) as job:
        for victim in VICTIMS:
            running = json.loads(job.wait_for(folder / victim / "running"))
            os.kill(running[victim], signal.SIGKILL)
            (folder / victim / "go").touch()
        job.end()
    return {found.parent.name: json.loads(found.read_text()) for found in folder.glob("*/result")}


def steps(n: int) -> int:
    taken = 0
    while n > 1:
        n = 3 * n + 1 if n % 2 else n // 2
        taken += 1
    return taken


@pytest.mark.parametrize("killed", ["undisturbed", *VICTIMS])
def test_the_result_is_the_same_whoever_is_killed(
    outcomes: dict[str, list[int]], killed: str
) -> None:
    assert outcomes[killed] == [ROWS, sum(range(ROWS)), sum(map(steps, range(ROWS)))]
