"""The cases of docs/from_pandas_udf.md: what stands there before and after gives the same."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from documents import show_source

PAGE = Path(__file__).parents[2] / "docs" / "from_pandas_udf.md"


@cache
def page() -> dict[str, Any]:
    """The names that the page defines."""
    # Annotations are read when a function is compiled, not when the text is.
    namespace: dict[str, Any] = {"__name__": "from_pandas_udf"}
    text = PAGE.read_text()
    show_source(PAGE)
    for block in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
        # On the lines on which it stands, where Numba looks for the source.
        above = "\n" * text.count("\n", 0, block.start(1))
        exec(compile(above + block[1], str(PAGE), "exec", dont_inherit=True), namespace)
    return namespace


def before(name: str, *columns: Any) -> list[Any]:
    """The results of a function of pandas' columns."""
    results = page()[f"{name}_before"].func(*map(pd.Series, columns))
    return [None if pd.isna(value) else value for value in results]


def after(name: str, *columns: Any) -> list[Any]:
    """The results of a function of rows, in Spark's own wrapper."""
    actual: list[Any] = page()[name].func(*columns).to_pylist()
    return actual


def test_numbers_with_nulls() -> None:
    price = [100.0, -1.0, 50.0, None, 10.0]
    discount = [0.1, 0.2, None, 0.3, 0.9]
    columns = pa.array(price), pa.array(discount)
    assert after("due", *columns) == pytest.approx(before("due", price, discount))


def test_dates_text_and_tables() -> None:
    days = [datetime.date(2024, 2, 29), datetime.date(1999, 7, 1), None, datetime.date(2024, 10, 3)]
    shops = [" north ", "süd", "west", "x"]
    got = after("season", pa.array(days), pa.array(shops))
    assert got == before("season", days, shops)
    assert got[0] == "NORTH: winter 2024"


def test_regular_expressions() -> None:
    labels = ["tea 0.25 kg", "salt 500g", "2 pieces", None]
    assert after("grams", pa.array(labels)) == before("grams", labels) == [250.0, 500.0, None, None]


def test_text() -> None:
    codes = ["a1b2", None, "", "999", "größe 7"]
    assert after("checksum", pa.array(codes)) == before("checksum", codes)


def test_lists() -> None:
    readings = [[1.0, 4.0, 3.5], [], [2.0], [5.0, -5.0]]
    assert after("steepest", pa.array(readings)) == before(
        "steepest", list(map(np.array, readings))
    )


def test_money() -> None:
    amounts = [Decimal(text) for text in ("1.00", "1.02", "1.03", "0.07", "12.98")]
    column = pa.array(amounts, pa.decimal128(12, 2))
    assert after("rounded", column) == before("rounded", amounts)


def test_one_row_in_many_out() -> None:
    texts = ["two words", "", " spaced  out ", "ü ß"]
    assert page()["words"](pa.array(texts)).to_pylist() == list(
        page()["words_before"](pd.Series(texts))
    )


def test_many_rows_in_one_out() -> None:
    values, weights = [1.0, 2.0, 3.0], [1.0, 1.0, 2.0]
    expected = page()["weighted_before"](pd.Series(values), pd.Series(weights))
    assert page()["weighted"](pa.array(values), pa.array(weights)) == expected
    groups = page()["weighted"](pa.array(values), pa.array(weights), by=pa.array(["a", "b", "a"]))
    assert groups.to_pydict() == {"key": ["a", "b"], "weighted": [7 / 3, 2.0]}
