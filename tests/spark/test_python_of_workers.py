"""A virtual environment that is not activated: workers run the Python of the driver all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from colkern.spark.java import find_java

SCRIPT = """
import sys
from pyspark.sql import SparkSession
from colkern.spark import install, udf

@udf
def doubled(n: int) -> int:
    return 2 * n

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print([row[0] for row in spark.range(3).select(doubled("id")).collect()])
print(spark.range(1).mapInArrow(lambda batches: batches, "id long").count())
print(install(spark).works)
"""


def run(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The script, where the first python3 of the path is one without any package."""
    other = tmp_path / "bin" / "python3"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho 'another Python, without pyarrow' >&2\nexit 1\n")
    other.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_")}
    environment = kept | {
        "PATH": f"{other.parent}{os.pathsep}{os.environ['PATH']}",
        "JAVA_HOME": str(find_java().home),
        **variables,
    }
    script = tmp_path / "job.py"
    script.write_text(SCRIPT)
    return subprocess.run(
        [sys.executable, script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=250,
        cwd=tmp_path,
    )


@pytest.mark.spark
def test_a_session_of_the_users_own_runs_this_python(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:3] == ["[0, 2, 4]", "1", "True"]
