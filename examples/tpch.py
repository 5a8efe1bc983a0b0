"""Queries 1, 3, 6, 12, 14 and 19 of TPC-H on tables: `python examples/tpch.py FOLDER`.

FOLDER has `lineitem.parquet` and so on, as `tpchgen-cli parquet -s 1 --output-dir FOLDER` writes them. The
program prints how long each query takes: the best of three runs over tables in memory. Decimals are read as
64-bit floats.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import colkern as ck

COLUMNS = {
    "lineitem": [
        "l_orderkey",
        "l_partkey",
        "l_quantity",
        "l_extendedprice",
        "l_discount",
        "l_tax",
        "l_returnflag",
        "l_linestatus",
        "l_shipdate",
        "l_commitdate",
        "l_receiptdate",
        "l_shipinstruct",
        "l_shipmode",
    ],
    "orders": ["o_orderkey", "o_custkey", "o_orderdate", "o_shippriority", "o_orderpriority"],
    "customer": ["c_custkey", "c_mktsegment"],
    "part": ["p_partkey", "p_brand", "p_type", "p_size", "p_container"],
}
"""The columns of each table that a query looks at."""

Tables = dict[str, ck.Table]


def read(folder: Path, device: str = "cpu") -> Tables:
    """The tables, in the memory of the host or of a device."""
    tables = {}
    for name, columns in COLUMNS.items():
        table = ck.read_parquet(folder / f"{name}.parquet", columns=columns, device=device)
        for field in table.schema.fields:
            if str(field.type).startswith("decimal"):
                table = table.with_column(field.name, table[field.name].cast("float64"))
        tables[name] = table
    return tables


@ck.udf
def discounted(l_extendedprice: float, l_discount: float) -> float:
    """The price of a line, less the discount."""
    return l_extendedprice * (1 - l_discount)


@ck.udf
def charge(l_extendedprice: float, l_discount: float, l_tax: float) -> float:
    """The price of a line, less the discount, with tax."""
    return l_extendedprice * (1 - l_discount) * (1 + l_tax)


def pricing_summary(tables: Tables) -> ck.Table:
    """Query 1."""
    lines = tables["lineitem"].select(
        [
            "l_returnflag",
            "l_linestatus",
            "l_quantity",
            "l_extendedprice",
            "l_discount",
            "l_tax",
            "l_shipdate",
        ]
    )
    lines = lines[lines["l_shipdate"] <= date(1998, 9, 2)]
    lines = lines.with_column("disc_price", discounted).with_column("charge", charge)
    groups = lines.group_by(["l_returnflag", "l_linestatus"]).aggregate(
        [
            ("l_quantity", "sum"),
            ("l_extendedprice", "sum"),
            ("disc_price", "sum"),
            ("charge", "sum"),
            ("l_quantity", "mean"),
            ("l_extendedprice", "mean"),
            ("l_discount", "mean"),
            ("l_quantity", "count"),
        ]
    )
    return groups.sort_by(["l_returnflag", "l_linestatus"])


def shipping_priority(tables: Tables) -> ck.Table:
    """Query 3."""
    day = date(1995, 3, 15)
    customer, orders, lines = tables["customer"], tables["orders"], tables["lineitem"]
    customer = customer[customer["c_mktsegment"] == "BUILDING"].select(["c_custkey"])
    orders = orders[orders["o_orderdate"] < day]
    orders = orders.join(customer, "o_custkey", "c_custkey", how="semi")
    shipped = lines["l_shipdate"] > day
    lines = lines.select(["l_orderkey", "l_extendedprice", "l_discount"])[shipped]
    rows = lines.join(orders, "l_orderkey", "o_orderkey").with_column("revenue", discounted)
    groups = rows.group_by(["l_orderkey", "o_orderdate", "o_shippriority"])
    found = groups.aggregate([("revenue", "sum")])
    return found.sort_by([("revenue_sum", "descending"), ("o_orderdate", "ascending")]).head(10)


@ck.udf
def is_forecast(l_shipdate: date, l_discount: float, l_quantity: float) -> bool:
    """Whether query 6 counts a line."""
    return (
        date(1994, 1, 1) <= l_shipdate < date(1995, 1, 1)
        and 0.0499 < l_discount < 0.0701
        and l_quantity < 24
    )


def forecast_revenue(tables: Tables) -> ck.Table:
    """Query 6."""
    lines = tables["lineitem"].select(["l_shipdate", "l_discount", "l_quantity", "l_extendedprice"])
    lines = lines.filter(is_forecast)
    return ck.table({"revenue": [(lines["l_extendedprice"] * lines["l_discount"]).sum()]})


@ck.udf
def is_late(l_shipmode: str, l_shipdate: date, l_commitdate: date, l_receiptdate: date) -> bool:
    """Whether query 12 counts a line."""
    return (
        l_shipmode in ("MAIL", "SHIP")
        and l_shipdate < l_commitdate < l_receiptdate
        and date(1994, 1, 1) <= l_receiptdate < date(1995, 1, 1)
    )


@ck.udf
def high_line(o_orderpriority: str) -> int:
    """1 for an order that is urgent, else 0."""
    return int(o_orderpriority in ("1-URGENT", "2-HIGH"))


@ck.udf
def low_line(o_orderpriority: str) -> int:
    """1 for an order that is not urgent, else 0."""
    return int(o_orderpriority not in ("1-URGENT", "2-HIGH"))


def shipping_modes(tables: Tables) -> ck.Table:
    """Query 12."""
    lines = tables["lineitem"].select(
        ["l_orderkey", "l_shipmode", "l_shipdate", "l_commitdate", "l_receiptdate"]
    )
    lines = lines.filter(is_late).select(["l_orderkey", "l_shipmode"])
    orders = tables["orders"].select(["o_orderkey", "o_orderpriority"])
    rows = lines.join(orders, "l_orderkey", "o_orderkey")
    rows = rows.with_column("high_line", high_line).with_column("low_line", low_line)
    groups = rows.group_by("l_shipmode").aggregate([("high_line", "sum"), ("low_line", "sum")])
    return groups.sort_by("l_shipmode")


def promotion_effect(tables: Tables) -> ck.Table:
    """Query 14."""
    lines, day = tables["lineitem"], tables["lineitem"]["l_shipdate"]
    lines = lines.select(["l_partkey", "l_extendedprice", "l_discount"])
    lines = lines[(day >= date(1995, 9, 1)) & (day < date(1995, 10, 1))]
    rows = lines.join(tables["part"].select(["p_partkey", "p_type"]), "l_partkey", "p_partkey")
    revenue = discounted(rows["l_extendedprice"], rows["l_discount"])
    promotion = revenue[ck.starts_with(rows["p_type"], "PROMO")]
    return ck.table({"promo_revenue": [100 * promotion.sum() / revenue.sum()]})


@ck.udf
def is_delivered(l_shipmode: str, l_shipinstruct: str, l_quantity: float) -> bool:
    """The conditions that all lines of query 19 meet."""
    return (
        l_shipmode in ("AIR", "AIR REG")
        and l_shipinstruct == "DELIVER IN PERSON"
        and l_quantity <= 30
    )


@ck.udf
def is_asked_for(p_brand: str, p_container: str, p_size: int, l_quantity: float) -> bool:
    """Whether query 19 counts a line and its part."""
    if p_brand == "Brand#12":
        boxes = p_container in ("SM CASE", "SM BOX", "SM PACK", "SM PKG")
        return boxes and 1 <= l_quantity <= 11 and 1 <= p_size <= 5
    if p_brand == "Brand#23":
        boxes = p_container in ("MED BAG", "MED BOX", "MED PKG", "MED PACK")
        return boxes and 10 <= l_quantity <= 20 and 1 <= p_size <= 10
    boxes = p_container in ("LG CASE", "LG BOX", "LG PACK", "LG PKG")
    return p_brand == "Brand#34" and boxes and 20 <= l_quantity <= 30 and 1 <= p_size <= 15


def discounted_revenue(tables: Tables) -> ck.Table:
    """Query 19."""
    lines = tables["lineitem"].select(
        [
            "l_partkey",
            "l_quantity",
            "l_extendedprice",
            "l_discount",
            "l_shipmode",
            "l_shipinstruct",
        ]
    )
    lines = lines.filter(is_delivered)
    rows = lines.join(tables["part"], "l_partkey", "p_partkey").filter(is_asked_for)
    return ck.table({"revenue": [discounted(rows["l_extendedprice"], rows["l_discount"]).sum()]})


QUERIES: dict[int, Callable[[Tables], ck.Table]] = {
    1: pricing_summary,
    3: shipping_priority,
    6: forecast_revenue,
    12: shipping_modes,
    14: promotion_effect,
    19: discounted_revenue,
}


def main() -> None:
    """Run the queries, and print how long each takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    tables = read(options.folder, options.device)
    for number, query in QUERIES.items():
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            found = query(tables)
            seconds.append(time.perf_counter() - start)
        print(f"query {number}: {min(seconds):.3f} s\n{found}")


if __name__ == "__main__":
    main()
