"""Columns of pyarrow's as colkern's and back, as workers make them, against the values of pyarrow."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import colkern as ck
from colkern.spark.functions.worker_columns import from_pyarrow, to_pyarrow

DAY = datetime.date(2024, 2, 29)

COLUMNS = [
    pa.array([True, None, False, True] * 5),
    pa.array([1, None, -3], pa.int8()),
    pa.array([1, None, 2**63], pa.uint64()),
    pa.array([1.5, None, float("inf")], pa.float32()),
    pa.array(["", None, "Ärger", "b"]),
    pa.array([b"", None, b"\xff"], pa.large_binary()),
    pa.array([b"ab", None, b"cd"], pa.binary(2)),
    pa.array([DAY, None, DAY]),
    pa.array([0, None, 1], pa.timestamp("us", "Europe/Berlin")),
    pa.array([Decimal("1.25"), None, Decimal(-3)], pa.decimal128(38, 2)),
    pa.array([None, None]),
    pa.array([[1, None], None, []]),
    pa.array([{"a": 1, "b": "x"}, None]),
    pa.array(["a", None, "a"]).dictionary_encode(),
    pa.array(["a", None, "more than twelve bytes"], pa.string_view()),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_columns_stay_what_they_are(column: pa.Array) -> None:
    for part in (column, column[1:], column[1:2], column[:0], column[:1]):
        own = from_pyarrow(part)
        own.validate(full=True)
        assert own.to_pylist() == part.to_pylist()
        back = to_pyarrow(own)
        back.validate(full=True)
        assert back.equals(part)


def test_the_buffers_are_the_same() -> None:
    column = pa.array([1.0, 2.0])
    own = from_pyarrow(column)
    back = to_pyarrow(own)
    assert back.buffers()[1].address == column.buffers()[1].address
    del column, own
    assert back.to_pylist() == [1.0, 2.0]


def test_results_of_kernels_go_to_pyarrow() -> None:
    result = ck.add(ck.array([1, None, 3]), ck.array([1, 2, 3]))
    assert to_pyarrow(result).to_pylist() == [2, None, 6]
