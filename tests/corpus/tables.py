"""Row functions with global tables whose entries have parts: plans, products, regions, forms of codes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import values
from .case import case

PLANS: dict[str, dict[str, Any]] = {
    "DE": {"rate": 0.19, "reduced": 0.07, "name": "MwSt"},
    "FR": {"rate": 0.2, "name": "TVA", "free": 30},
    "GB": {"rate": 0.2, "reduced": 0.05},
    "US": {"name": "sales tax"},
}
REGIONS = {"DACH": ("DE", "AT", "CH"), "UK": ("GB",), "BENELUX": ("BE", "NL", "LU"), "none": ()}
POSTAL = {
    "DE": re.compile(r"\d{5}"),
    "GB": re.compile(r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"),
    "US": re.compile(r"\d{5}(-\d{4})?"),
}
WEIGHTS = {"DE": 1, "FR": 2.5, "GB": -3, "US": 0}
NESTED = {
    "eu": {"DE": {"vat": 0.19, "since": 2007}, "FR": {"vat": 0.2}},
    "other": {"US": {"vat": 0.0}},
}


@dataclass(frozen=True)
class Product:
    name: str
    price: float
    tags: tuple[str, ...] = ()

    def gross(self, rate: float) -> float:
        return self.price * (1 + rate)


class Band(NamedTuple):
    low: float
    label: str | None = None


PRODUCTS = {"DE": Product("bread", 2.5, ("fresh", "dark")), "FR": Product("wine", 9.0)}
BANDS = {"DE": Band(0.5), "FR": Band(1.5, "wide"), "US": Band(2.5, "long")}


@case(rows=[values.countries(1), values.amounts(2)], covers="get of keys that some lack")
def tax(country: str, amount: float) -> float:
    plan = PLANS.get(country, {})
    return amount * plan.get("reduced", plan.get("rate", 0.0))


@case(rows=[values.countries(2)], covers="in, None, a display after `or`")
def name_of_tax(country: str) -> str:
    plan = PLANS.get(country.strip().upper()) or {"name": "?"}
    return plan["name"] if "name" in plan else "unnamed"


@case(rows=[values.countries(3)], covers="tuples of several lengths, a loop over items")
def region(country: str) -> str | None:
    for name, members in REGIONS.items():
        if country in members:
            return f"{name}/{len(REGIONS[name])}"
    return None


@case(rows=[values.countries(4), values.amounts(5)], covers="data classes as entries, a method")
def sold(country: str, rate: float) -> float:
    product = PRODUCTS.get(country)
    if product is None:
        return -1.0
    return product.gross(rate) + len(product.tags)


@case(rows=[values.countries(5)], covers="named tuples as entries, a field that may be None")
def band(country: str) -> tuple[float, str]:
    if country not in BANDS:
        return 0.0, "none"
    return BANDS[country].low * 2, BANDS[country].label or "plain"


@case(rows=[values.countries(6), values.digit_texts(7)], covers="a table of patterns")
def is_postal(country: str, text: str) -> bool:
    return country in POSTAL and POSTAL[country].fullmatch(text) is not None


@case(rows=[values.countries(8)], covers="integers beside floats in a table")
def weighted(country: str) -> float:
    return WEIGHTS.get(country, 0) + 0.5


@case(rows=[values.countries(9)], covers="dictionaries in dictionaries, KeyError in a try")
def vat(country: str) -> float:
    try:
        return NESTED["eu"][country]["vat"]
    except KeyError:
        return NESTED["other"].get(country, {}).get("vat", -1.0)


@case(rows=[values.emails(10)], covers="md5 updated, a bucket by its number")
def split_of(address: str) -> int:
    digest = hashlib.md5(b"2024")
    digest.update(address.strip().lower().encode())
    return int(digest.hexdigest(), 16) % 100
