"""The costs of the first batch on a fresh executor.

One executor of Spark's local-cluster, a process of its own, gets colkern by `colkern.spark.install`. Each
round starts fresh Python processes there, and times a job of one row: an identity with `mapInArrow`, which
imports nothing of colkern; functions of pandas and of pyarrow; and a function of colkern whose machine
code the executor has not, or has got with the package.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.spark.case import IDENTITY, Way
from benchmarks.spark.rows import net
from colkern.spark import install, start_session

FRAME = "id + 0.5D price", "id / 10D discount"
PYTHON = (IDENTITY, "arrow_udf", "pandas_udf, NumPy")
WITHOUT, SHIPPED = "colkern, to be compiled", "colkern, shipped"


def measured(rounds: int) -> dict[str, Any]:
    """Seconds of the first batch, by way, and how much more they are than those of the identity.

    Args:
        rounds: How many fresh Python processes each way gets.
    """
    session = start_session("local-cluster[1,1,1024]", name="cold start")
    with tempfile.TemporaryDirectory() as name:
        folders = (Path(name) / str(n) for n in count())
        try:
            install(session, kernels=False)
            names = {way: way for way in PYTHON} | {WITHOUT: "colkern"}
            seconds = _rounds(session, names, rounds, folders)
            print(install(session, package=False))
            later = _rounds(session, {IDENTITY: IDENTITY, SHIPPED: "colkern"}, rounds, folders)
        finally:
            session.stop()
    seconds[IDENTITY] += later[IDENTITY]
    seconds[SHIPPED] = later[SHIPPED]
    medians = {way: statistics.median(runs) for way, runs in seconds.items()}
    more = {way: median - medians[IDENTITY] for way, median in medians.items()}
    return {"rounds": rounds, "seconds": medians, "more_seconds": more}


def _rounds(
    session: SparkSession, names: dict[str, str], rounds: int, folders: Iterator[Path]
) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, way in names.items():
            # Made anew: Spark keeps the environment that a function of its own was first used in.
            seconds[name].append(first_batch(session, net()[way], next(folders)))
    return seconds


def first_batch(session: SparkSession, way: Way, folder: Path) -> float:
    """Seconds of a job on one row, in Python processes that did nothing before.

    Args:
        session: The session.
        way: What is done with a price and a discount.
        folder: An empty one, where the executor keeps machine code.
    """
    # Another environment is another daemon.
    session.sparkContext.environment["COLKERN_CACHE_DIR"] = str(folder)
    frame = way(session.range(1).selectExpr(*FRAME))
    begin = time.perf_counter()
    frame.collect()
    return time.perf_counter() - begin
