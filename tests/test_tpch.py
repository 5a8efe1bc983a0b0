"""`examples/tpch.py`: the answers of DuckDB, at a small scale."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

ROOT = Path(__file__).parent.parent

NET = "l_extendedprice * (1 - l_discount)"

SQL = {
    1: f"""
        select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum({NET}),
            sum({NET} * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
        from lineitem where l_shipdate <= date '1998-09-02' group by 1, 2 order by 1, 2""",
    3: f"""
        select l_orderkey, o_orderdate, o_shippriority, sum({NET}) as revenue
        from customer, orders, lineitem
        where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
            and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
        group by 1, 2, 3 order by revenue desc, o_orderdate limit 10""",
    6: """
        select sum(l_extendedprice * l_discount) from lineitem
        where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01'
            and l_discount between 0.05 and 0.07 and l_quantity < 24""",
    12: """
        select l_shipmode,
            count(*) filter (o_orderpriority in ('1-URGENT', '2-HIGH')),
            count(*) filter (o_orderpriority not in ('1-URGENT', '2-HIGH'))
        from orders, lineitem
        where o_orderkey = l_orderkey and l_shipmode in ('MAIL', 'SHIP')
            and l_commitdate < l_receiptdate and l_shipdate < l_commitdate
            and l_receiptdate >= date '1994-01-01' and l_receiptdate < date '1995-01-01'
        group by 1 order by 1""",
    14: f"""
        select 100 * sum({NET}) filter (p_type like 'PROMO%') / sum({NET}) from lineitem, part
        where l_partkey = p_partkey
            and l_shipdate >= date '1995-09-01' and l_shipdate < date '1995-10-01'""",
    19: f"""
        select sum({NET}) from lineitem, part
        where p_partkey = l_partkey and l_shipmode in ('AIR', 'AIR REG')
            and l_shipinstruct = 'DELIVER IN PERSON' and (
            p_brand = 'Brand#12' and p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
                and l_quantity between 1 and 11 and p_size between 1 and 5
            or p_brand = 'Brand#23' and p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
                and l_quantity between 10 and 20 and p_size between 1 and 10
            or p_brand = 'Brand#34' and p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
                and l_quantity between 20 and 30 and p_size between 1 and 15)""",
}


def example() -> Any:
    spec = importlib.util.spec_from_file_location("tpch", ROOT / "examples" / "tpch.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tpch"] = module
    spec.loader.exec_module(module)
    return module


TPCH = example()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = Path(sys.executable).with_name("tpchgen-cli")
    if not program.exists():
        pytest.skip("tpchgen-cli is not installed: pip install 'colkern[demo]'")
    result = tmp_path_factory.mktemp("tpch")
    tables = f"--tables={','.join(TPCH.COLUMNS)}"
    subprocess.run(
        [program, "parquet", "-s", "0.01", tables, "--output-dir", result], check=True, timeout=60
    )
    return result


@pytest.fixture(scope="module")
def tables(folder: Path) -> Any:
    return TPCH.read(folder)


@pytest.fixture(scope="module")
def connection(folder: Path) -> Iterator[Any]:
    with duckdb.connect() as opened:
        for name in TPCH.COLUMNS:
            opened.execute(f"create view {name} as from '{folder / name}.parquet'")
        yield opened


@pytest.mark.parametrize("number", SQL)
def test_a_query_has_the_answer_of_duckdb(number: int, tables: Any, connection: Any) -> None:
    result = [list(row.values()) for row in TPCH.QUERIES[number](tables).to_pylist()]
    wanted = connection.sql(SQL[number]).fetchall()
    assert len(result) == len(wanted) > 0
    for ours, theirs in zip(result, wanted, strict=True):
        for own, other in zip(ours, theirs, strict=True):
            assert (
                own == other if isinstance(own, str) else np.isclose(_number(own), _number(other))
            )


def _number(value: Any) -> float:
    return float(value.toordinal() if hasattr(value, "toordinal") else value)
