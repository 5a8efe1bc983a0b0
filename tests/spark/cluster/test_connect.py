"""Spark Connect: a client that has colkern, and a server and executors that get it from there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spark_cluster import Cluster, steps

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

CONNECTED = Path(__file__).parent / "jobs" / "connected.py"


@pytest.fixture(scope="module")
def folder(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("connected")
    cache = str(folder / "cache")
    with (
        cluster.connect_server(spark__executorEnv__COLKERN_CACHE_DIR=cache) as address,
        cluster.connected(CONNECTED, address, folder) as job,
    ):
        job.end()
    return folder


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_install_ships_what_is_needed(folder: Path) -> None:
    report = read(folder / "report")
    assert report["works"], report["text"]
    lines = report["text"].splitlines()
    assert lines[0].startswith("ok       package: colkern-")
    assert lines[1].startswith("ok       compiled functions: colkern-kernels-")
    assert lines[2] == 'ok       data source: format("colkern") is registered'


def test_functions_run_in_sql(folder: Path) -> None:
    assert read(folder / "rows")["in_sql"] == steps(27) == 111


def test_native_plans_give_what_python_gives(folder: Path) -> None:
    expected = [n // 7 + 2**60 for n in range(100)]
    assert read(folder / "native") == expected


def test_files_are_written_read_with_filters_and_grouped(folder: Path) -> None:
    expected = [[d, max(steps(n) for n in range(d, 50, 10))] for d in range(10)]
    assert sorted(read(folder / "rows")["rows"]) == expected
