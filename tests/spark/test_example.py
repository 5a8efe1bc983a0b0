"""`examples/shop_orders.py`, submitted as its users do; its result, computed again from the same files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyspark
import pytest

from colkern.spark.java import find_java

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
ORDERS = 600
SUBMIT = [
    str(Path(pyspark.__file__).parent / "bin" / "spark-submit"),
    *("--master", "local[2]", "--conf", "spark.ui.enabled=false"),
    *("--conf", "spark.sql.shuffle.partitions=2"),
]


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that the job has written to, and what it has printed."""
    output = tmp_path_factory.mktemp("shop")
    arguments = ["examples/shop_orders.py", "--output", str(output), "--rows", str(ORDERS)]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "JAVA_HOME": str(find_java().home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    done = subprocess.run(
        [*SUBMIT, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-6000:]
    return output, done.stdout


@pytest.fixture(scope="module")
def expected(submitted: tuple[Path, str]) -> dict[str, Any]:
    """The rows after each stage, and the sales, in plain Python."""
    source = submitted[0] / "input"
    orders = ds.dataset(source / "orders", format="ipc").to_table().to_pylist()
    products = {row["sku"]: row for row in pq.read_table(source / "products").to_pylist()}
    clean = {
        order["order_id"]: order
        for order in orders
        if re.fullmatch(r" *[^ @]+@[^ ]*\.[^ ]* *", order["customer"] or "")
    }
    lines = [
        (order, *line.groups())
        for order in clean.values()
        for part in order["basket"].split(";")
        if (line := re.fullmatch(r"(.+)\*(\d{1,4})", part))
    ]
    priced = [
        (products[sku], order, int(quantity))
        for order, sku, quantity in lines
        if sku in products and products[sku]["price"] is not None
    ]
    sales: dict[tuple[Any, ...], list[Any]] = defaultdict(lambda: [0, 0.0, 0.0])
    for product, order, quantity in priced:
        discount = order["discount"]
        if discount is None:
            discount = 0.05 if quantity > 2 else 0.0
        amount = round(product["price"] * quantity * (1 - discount) * 100) / 100
        group = sales[product["category"], order["day"]]
        group[:] = group[0] + quantity, group[1] + amount, max(group[2], amount)
    return {
        "read": len(orders),
        "clean": len(clean),
        "lines": len(lines),
        "priced": len(priced),
        "sales": sales,
    }


def test_sales_lie_in_a_directory_for_each_category(
    submitted: tuple[Path, str], expected: dict[str, Any]
) -> None:
    dataset = ds.dataset(submitted[0] / "sales", format="ipc", partitioning="hive")
    names = ["day", "pieces", "revenue", "largest", "category"]
    assert dataset.schema.names == names
    assert dataset.schema.field("day").type == pa.date32()
    actual = {}
    for row in dataset.to_table().to_pylist():
        key = row["category"], row["day"]
        assert key not in actual
        actual[key] = [row["pieces"], pytest.approx(row["revenue"]), row["largest"]]
    assert actual == expected["sales"]
    assert {category for category, _ in actual} == {"books", "garden", "tools & parts"}


def test_the_report_counts_the_rows_of_each_stage(
    submitted: tuple[Path, str], expected: dict[str, Any]
) -> None:
    report = submitted[1].splitlines()[-5:]
    rows = [int(line.split()[-1].replace(",", "")) for line in report]
    assert [line.split()[0] for line in report] == ["read", "clean", "lines", "priced", "sales"]
    assert rows[:4] == [expected[name] for name in ("read", "clean", "lines", "priced")]
    assert rows[4] == len(expected["sales"])
    came = [int(line.split()[1].replace(",", "")) for line in report[1:]]
    assert came == rows[:4]


def test_the_job_deploys_itself(submitted: tuple[Path, str]) -> None:
    assert "ok       executors: 1 answered, on one host" in submitted[1]
    assert "problem" not in submitted[1]
