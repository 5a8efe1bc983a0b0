"""`colkern demo`: its data, its functions against plain Python, its comparison, and the whole of it."""

from __future__ import annotations

import calendar
import datetime
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import colkern as ck
from colkern.spark.demo import columns, data, rows
from colkern.spark.demo.cases import Case
from colkern.spark.demo.job import (
    DisagreementError,
    Outcome,
    _require_agreement,
    differing_rows,
    fingerprint,
)

# The functions

AMOUNTS = st.none() | st.integers(1, 11_000_000).map(lambda cents: cents / 100)
RATES = st.none() | st.integers(0, 10).map(lambda percent: percent / 100)
LINES = st.lists(
    st.tuples(st.none() | st.integers(0, 50).map(float), AMOUNTS, RATES, RATES), min_size=1
)
DATES = st.none() | st.dates(datetime.date(1904, 1, 1), datetime.date(2099, 12, 31))
TEXTS = st.none() | st.text(st.sampled_from("aeiouyAEIOUYbtT .!?é1_\n"), max_size=12)


def three_ways(name: str, inputs: list[pa.Array], **options: Any) -> list[Any]:
    """A function's results for columns, with colkern; pandas and pyarrow must agree to the last bit."""
    ours = pa.array(ck.udf(getattr(rows, name), **options)(*inputs))
    arrow = getattr(columns, f"{name}_arrow")(*inputs)
    series = [column.to_pandas(date_as_object=True) for column in inputs]
    pandas = pa.Array.from_pandas(getattr(columns, f"{name}_pandas")(*series)).cast(ours.type)
    assert ours.equals(arrow)
    assert ours.equals(pandas)
    return ours.to_pylist()


@given(LINES)
def test_amount_due(lines: list[tuple[Any, ...]]) -> None:
    inputs = [pa.array(column, pa.float64()) for column in zip(*lines, strict=True)]
    actual = three_ways("amount_due", inputs, nulls="pass")
    for (quantity, price, _, _), due in zip(lines, actual, strict=True):
        assert (due is None) == (not quantity or price is None)


def test_amount_due_by_hand() -> None:
    # 10 * 100 at 4 % off: 960, freight 12.5 + 9, no rebate, 8 % tax, at once.
    assert rows.amount_due(10.0, 1000.0, 0.04, 0.08) == 1060.02
    # No discount of its own: 2 % for 10 pieces. No tax rate: exempt.
    assert rows.amount_due(10.0, 1000.0, None, None) == 1001.5
    # 4 payments: 10,000 and 3.5 freight; three months' interest on what is left of it.
    gross, part = 10003.5, 2500.87
    balance = due = gross
    for _ in range(3):
        balance -= part
        interest = math.floor(balance * 0.6 + 0.5) / 100
        balance += interest
        due += interest
    assert rows.amount_due(10.0, 10000.0, 0.0, 0.0) == due


@given(st.lists(TEXTS, min_size=1))
def test_reading_grade(texts: list[str | None]) -> None:
    actual = three_ways("reading_grade", [pa.array(texts, pa.string())])
    assert actual == [None if text is None else plain_reading_grade(text) for text in texts]


def plain_reading_grade(text: str) -> float | None:
    words = re.findall("[A-Za-z]+", text)
    if not words:
        return None
    runs = [len(re.findall("[aeiouy]+", word, re.IGNORECASE)) for word in words]
    silent = [bool(re.search("[^aeiouy]e$", word, re.IGNORECASE)) for word in words]
    sentences = len(re.findall("[.!?]+", text)) or 1
    length = len(words) / sentences
    kincaid = 0.39 * length + 11.8 * ((sum(runs) - sum(silent)) / len(words)) - 15.59
    fog = 0.4 * (length + 100 * (sum(n >= 3 for n in runs) / len(words)))
    return (kincaid + fog) / 2


@given(st.lists(st.tuples(DATES, DATES), min_size=1))
def test_payment_day(pairs: list[tuple[Any, Any]]) -> None:
    inputs = [pa.array(column, pa.date32()) for column in zip(*pairs, strict=True)]
    actual = three_ways("payment_day", inputs)
    assert actual == [None if None in pair else plain_payment_day(*pair) for pair in pairs]


def plain_payment_day(committed: datetime.date, received: datetime.date) -> datetime.date:
    day = max(committed, received) + datetime.timedelta(days=30)
    day = day.replace(day=calendar.monthrange(day.year, day.month)[1])
    return day + datetime.timedelta(days={5: 2, 6: 1}.get(day.weekday(), 0))


# The comparison


@pytest.mark.spark
def test_rows_that_differ_are_counted_for_each_way(spark: SparkSession) -> None:
    values = [1.0, None, 3.0, math.nan, -0.0]
    frame = spark.createDataFrame([(value,) for value in values], "x double")
    x = f.col("x")
    ways = {
        "ours": x,
        "theirs, equal": x + 0.0,
        "next": f.when(x == 3.0, np.nextafter(3.0, 4.0).item()).otherwise(x),
        "filled": f.coalesce(f.nanvl(x, f.lit(2.0)), f.lit(0.0)),
    }
    assert differing_rows(frame, ways, "ours") == {"next": 1, "filled": 2}


@pytest.mark.spark
def test_results_that_differ_are_an_error(spark: SparkSession) -> None:
    ways = {"colkern": lambda x: f.col(x), "pandas_udf": lambda x: f.col(x) + 1}
    case = Case("one_more", "numeric", ("id",), "bigint", ways)
    same = Outcome(case, fingerprints={"colkern": 7, "pandas_udf": 7})
    _require_agreement(spark.range(3), same)
    with pytest.raises(
        DisagreementError, match=r"one_more: other .* colkern: pandas_udf in 3 rows"
    ):
        _require_agreement(
            spark.range(3), replace(same, fingerprints={"colkern": 7, "pandas_udf": 8})
        )


@pytest.mark.spark
def test_fingerprints_are_equal_in_any_order_and_differ_by_a_row(spark: SparkSession) -> None:
    def of(*rows: tuple[int, float | None]) -> Any:
        frame = spark.createDataFrame(rows, "n long, result double")
        return tuple(*frame.agg(*fingerprint(["n"], "result")).collect())

    first = (1, 1.0), (2, None), (2, 3.0)
    assert of(*first) == of(*first[::-1])
    others = [((1, np.nextafter(1.0, 2.0).item()), *first[1:]), ((1, None), *first[1:]), first[:2]]
    # Rows that stand twice.
    others += [(*first, (7, 1.0), (7, 1.0)), (*first, (7, 2.0), (7, 2.0))]
    assert len({of(*rows) for rows in (first, *others)}) == 6


# The data


@pytest.fixture(scope="module")
def lineitem(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLKERN_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        told: list[float] = []
        folder = data.lineitem(1.0, 2500, told.append)
        assert told == [0.5, 1.0]
        assert data.lineitem(1.0, 2500, told.append) == folder
        assert told == [0.5, 1.0], "generated twice"
        return pa.concat_tables(pq.read_table(file) for file in sorted(folder.glob("*.parquet")))


def test_lineitem_has_the_rows_and_the_types_that_were_asked_for(lineitem: pa.Table) -> None:
    assert lineitem.schema.equals(pa.schema(list(data.COLUMNS.items())))
    assert lineitem.num_rows == 2500


def test_lineitem_lacks_values_where_the_order_key_says_so(lineitem: pa.Table) -> None:
    for order, discount in zip(
        lineitem["l_orderkey"].to_pylist(), lineitem["l_discount"].to_pylist(), strict=True
    ):
        assert (discount is None) == (order % 50 == 7)


def test_own_arrow_files_become_parquet(lineitem: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "own.arrow"
    text = lineitem["l_comment"].cast(pa.large_string())
    quantity = lineitem["l_quantity"].cast(pa.decimal128(12, 2))
    own = lineitem.set_column(8, "l_comment", text).set_column(2, "l_quantity", quantity)
    with pa.ipc.new_file(path, own.schema) as writer:
        writer.write_table(own)
    (actual,) = data.own_files([tmp_path], tmp_path)
    assert pq.read_table(actual).equals(lineitem)


def test_own_files_must_have_the_columns(lineitem: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "own.parquet"
    pq.write_table(lineitem.drop_columns(["l_tax"]), path)
    with pytest.raises(ck.InvalidArrowError, match=r"own\.parquet: no column l_tax"):
        data.own_files([path], tmp_path)
    wrong = lineitem.set_column(2, "l_quantity", pa.array([DAY] * 2500))
    pq.write_table(wrong, path)
    with pytest.raises(ck.InvalidArrowError, match="l_quantity: expected double"):
        data.own_files([path], tmp_path)


DAY = datetime.date(2000, 1, 1)


# The whole


@pytest.mark.spark
def test_the_demo_from_end_to_end(lineitem: pa.Table, tmp_path: Path) -> None:
    source = tmp_path / "own.arrows"
    with pa.ipc.new_stream(source, lineitem.schema) as writer:
        writer.write_table(lineitem, max_chunksize=700)
    command = ["demo", "--input", str(source), "--repeat", "1", "--master", "local[2]"]
    done = subprocess.run(
        [sys.executable, "-m", "colkern.cli", *command, "--json", "figures.json"],
        capture_output=True,
        text=True,
        timeout=280,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "All ways agree in every row, where -0.0 counts as 0.0" in done.stdout
    assert (tmp_path / "output" / "demo.png").read_bytes().startswith(b"\x89PNG")

    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["rows"] == figures["result"]["rows"] == 2500
    assert [case["name"] for case in figures["functions"]] == [
        "reading_grade",
        "amount_due",
        "payment_day",
    ]
    for case in figures["functions"]:
        others = ["arrow_udf", "pandas_udf"]
        if case["name"] == "payment_day":
            others.append("colkern, native")
        assert case["seconds"].keys() == {"mapInArrow identity", "colkern", *others}

    files = sorted((tmp_path / "output" / "result").glob("*.arrow"))
    result = pa.concat_tables(pa.ipc.open_file(file).read_all() for file in files)
    expected = pa.array(ck.udf(rows.reading_grade)(lineitem["l_comment"].combine_chunks()))
    keys = [("l_orderkey", "ascending"), ("l_linenumber", "ascending")]
    assert result.sort_by(keys)["reading_grade"].combine_chunks().equals(expected)
