"""Tables of very many columns, and of very many chunks."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared
from benchmarks.timing import Work

COLUMNS, CHUNKS = 20_000, 10_000
ROWS = (1_000_000,)
OPERATIONS = ("filter", "select", "concat")


def works(table: pa.Table, operation: str) -> Case:
    """Every other row, every other column, or the table twice."""
    own = ck.table(table)
    frame = pl.from_arrow(table, rechunk=False)
    assert isinstance(frame, pl.DataFrame)
    names = table.column_names[::2]
    mask = np.arange(table.num_rows) % 2 == 0
    masks = ck.array(mask), pa.array(mask), pl.Series(mask)
    every: dict[str, dict[str, Work]] = {
        "filter": {
            # Columns are filtered when they are asked for. The others have no Python objects for them.
            "colkern": lambda: [batch.columns for batch in own.filter(masks[0]).batches],
            "pyarrow": lambda: table.filter(masks[1]),
            "polars": lambda: frame.filter(masks[2]),
        },
        "select": {
            "colkern": lambda: own.select(names),
            "pyarrow": lambda: table.select(names),
            "polars": lambda: frame.select(names),
        },
        "concat": {
            "colkern": lambda: ck.concat([own, own]),
            "pyarrow": lambda: pa.concat_tables([table, table]),
            "polars": lambda: pl.concat([frame, frame], rechunk=False),
        },
    }
    return Case(table.nbytes, every[operation])


@compared(target=1.0, rows=ROWS, operation=OPERATIONS)
def wide_table(rows: int, operation: str) -> Case:
    """A table of 20,000 columns; `rows` are its values."""
    values = data.numbers(rows // COLUMNS, "float64")
    return works(pa.table({f"c{i}": values for i in range(COLUMNS)}), operation)


@compared(target=1.0, rows=ROWS, operation=OPERATIONS)
def chunked_table(rows: int, operation: str) -> Case:
    """A table of two columns in 10,000 chunks."""
    batch = pa.record_batch(
        {name: data.numbers(rows // CHUNKS, name) for name in ("float64", "int64")}
    )
    return works(pa.Table.from_batches([batch] * CHUNKS), operation)
