"""Tables of groups become record batches: the same values, not copied, whatever their types."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pyarrow as pa
import pytest

import colkern as ck
from colkern.spark.functions.worker_columns import GroupTables

DAY = datetime.date(2024, 2, 29)
COLUMNS: dict[pa.DataType, list[Any]] = {
    pa.null(): [None, None, None],
    pa.bool_(): [True, None, False],
    pa.int8(): [1, None, -1],
    pa.float64(): [0.5, None, 1.5],
    pa.decimal128(38, 2): [decimal.Decimal("1.25"), None, decimal.Decimal(-1)],
    pa.string(): ["a", None, "ü"],
    pa.large_string(): ["a", None, ""],
    pa.string_view(): ["longer than a view holds", None, "b"],
    pa.binary(): [b"", None, b"\0"],
    pa.binary(2): [b"ab", None, b"cd"],
    pa.date32(): [DAY, None, DAY],
    pa.list_(pa.int32()): [[1], None, []],
    pa.struct([("a", pa.string())]): [{"a": "x"}, None, {"a": None}],
    pa.map_(pa.string(), pa.int64()): [[("k", 1)], None, []],
    pa.dictionary(pa.int8(), pa.string()): ["a", None, "a"],
}


@pytest.mark.parametrize(("type_", "values"), COLUMNS.items(), ids=str)
def test_values_of_each_type_and_of_slices(type_: pa.DataType, values: list[Any]) -> None:
    field = pa.field("a", type_, metadata={"k": "v"})
    table = pa.table([pa.array(values, type_)], schema=pa.schema([field]))
    tables = GroupTables("f")
    for part in (table, table.slice(1), table.slice(2, 0), table):
        batch = tables.batch(part)
        batch.validate(full=True)
        assert batch.schema.field("a").metadata == {b"k": b"v"}
        assert pa.record_batch(batch).to_pydict() == part.to_pydict()


def test_columns_are_sparks_unless_it_sends_several_pieces() -> None:
    table = pa.table({"n": [1, 2], "t": ["a", "b"]})
    tables = GroupTables("f")
    actual = tables.batch(table)["n"].buffers[1]
    assert actual is not None
    assert actual.address == table["n"].chunk(0).buffers()[1].address
    two = pa.concat_tables([table, table])
    assert tables.batch(two).to_pydict() == {"n": [1, 2, 1, 2], "t": ["a", "b", "a", "b"]}


def test_a_group_may_have_another_schema_than_the_one_before() -> None:
    tables = GroupTables("f")
    for table in (pa.table({"n": [1]}), pa.table({"m": ["a"]}), pa.table({"m": [[1]]})):
        assert tables.batch(table).to_pydict() == table.to_pydict()
        assert tables.batch(table.schema.empty_table()).num_rows == 0


def test_memory_of_a_group_lives_as_long_as_its_columns() -> None:
    column = GroupTables("f").batch(pa.table({"n": [2**40 + n for n in range(1000)]}))["n"]
    pa.array(range(1000))
    assert column[999] == 2**40 + 999


def test_a_group_that_is_too_large_for_a_batch_is_refused() -> None:
    class Table:
        def to_batches(self) -> list[pa.RecordBatch]:
            return [pa.record_batch({"n": [1]})] * 2

        def combine_chunks(self) -> Table:
            return self

    with pytest.raises(ck.LimitExceededError, match="f: the group has too many bytes"):
        GroupTables("f").batch(Table())
