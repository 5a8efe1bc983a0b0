"""Orders and products to try `shop_orders.py` with: the same rows each time, with flaws."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

CATEGORIES = ("books", "garden", "tools & parts")
PRODUCTS = 60
FILES = 4
ORDER = pa.schema(
    {
        "order_id": pa.int64(),
        "customer": pa.string(),
        "day": pa.date32(),
        "basket": pa.string(),
        "discount": pa.float64(),
    }
)


def write(folder: Path, rows: int) -> None:
    """Write `orders/` as Arrow files and `products/` as Parquet, both by pyarrow.

    Some customers are missing or no e-mail addresses, some lines of baskets are damaged or of unknown
    products, some products have no price, and each fortieth order is there twice.

    Args:
        folder: Where to write.
        rows: How many orders.
    """
    (folder / "orders").mkdir(parents=True, exist_ok=True)
    (folder / "products").mkdir(exist_ok=True)
    for n in range(FILES):
        orders = [order for number in range(n, rows, FILES) for order in _orders(number)]
        table = pa.Table.from_pylist(orders, schema=ORDER)
        with pa.ipc.new_file(str(folder / "orders" / f"{n}.arrow"), ORDER) as writer:
            writer.write_table(table, max_chunksize=50_000)
    pq.write_table(pa.Table.from_pylist(list(_products())), folder / "products" / "0.parquet")


def _orders(number: int) -> list[dict[str, Any]]:
    customer: str | None = f" Buyer{number % 997}@Example.org "
    if number % 29 == 0:
        customer = None
    elif number % 31 == 0:
        customer = "by phone"
    lines = [
        "??" if k % 23 == 0 else f"p{(7 * k) % (PRODUCTS + 1)}*{1 + k % 4}"
        for k in range(number, number + 1 + number % 4)
    ]
    order = {
        "order_id": number,
        "customer": customer,
        "day": datetime.date(2026, 1, 1) + datetime.timedelta(number % 30),
        "basket": ";".join(lines),
        "discount": number % 30 / 100 if number % 3 == 0 else None,
    }
    return [order] * (2 if number % 40 == 0 else 1)


def _products() -> Iterator[dict[str, Any]]:
    for number in range(PRODUCTS):
        price = None if number % 17 == 5 else 0.99 + 1.25 * number
        category = CATEGORIES[number % len(CATEGORIES)]
        yield {"sku": f"p{number}", "category": category, "price": price}
