"""Listings of houses, as a website shows them, become a clean table: text to numbers, and filters.

spark-submit --py-files examples/pipelines/common.py examples/pipelines/listings.py
python examples/pipelines/listings.py --master 'local[4]' --output clean
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import common
import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession

import colkern.spark

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
KINDS = {
    "townhouse": "townhouse",
    "house": "house",
    "condo": "condo",
    "apartment": "condo",
    "lot": "lot",
}
OFFERS = {"foreclos": "foreclosure", "sold": "sold", "rent": "rent", "sale": "sale"}


class Facts(NamedTuple):
    """The numbers of `3 bds , 2 ba , 1,560 sqft`; None for what is left open."""

    bedrooms: int | None
    bathrooms: float | None
    area: int | None


def facts(facts_text: str) -> Facts:
    """The numbers of a line of facts; a studio has no bedroom."""
    bedrooms = bathrooms = area = None
    for part in facts_text.split(" , "):
        value, _, unit = part.strip().partition(" ")
        digits = value.replace(",", "")
        if value == "Studio":
            bedrooms = 0
        elif unit.startswith("bd") and digits.isdecimal():
            bedrooms = int(digits)
        elif unit == "ba" and NUMBER.fullmatch(value):
            bathrooms = float(digits)
        elif unit == "sqft" and digits.isdecimal():
            area = int(digits)
    return Facts(bedrooms, bathrooms, area)


def kind(title: str) -> str:
    """The kind of building that a title names."""
    lowered = title.lower()
    for word, name in KINDS.items():
        if word in lowered:
            return name
    return "unknown"


def offer(title: str) -> str:
    """The kind of offer that a title names."""
    lowered = title.lower()
    for word, name in OFFERS.items():
        if word in lowered:
            return name
    return "unknown"


def price(price_text: str) -> int | None:
    """Dollars of `$389,000`, `$1.2M`, `From $450K` or `$1,500/mo`; None if there is no number."""
    found = NUMBER.search(price_text)
    if found is None:
        return None
    value = float(found[0].replace(",", ""))
    unit = price_text[found.end() : found.end() + 1].upper()
    if unit == "M":
        value *= 1_000_000
    elif unit == "K":
        value *= 1_000
    return round(value)


def city(city_text: str) -> str:
    """The name of a city, with capitals where they belong and single spaces."""
    return " ".join([word[:1].upper() + word[1:].lower() for word in city_text.split()])


def zip_code(zip_text: str) -> str | None:
    """Five digits, of texts such as `2139.0` that a spreadsheet has cut."""
    digits = zip_text.strip().removesuffix(".0").split("-")[0]
    return digits.zfill(5) if digits.isdecimal() and len(digits) <= 5 else None


def facts_by_pandas(texts: pd.Series) -> pd.DataFrame:
    """The same as `facts`."""
    plain = texts.str.replace(",(?=[0-9])", "", regex=True)
    bedrooms = plain.str.extract(r"(\d+) bds?\b", expand=False).astype("Float64")
    return pd.DataFrame(
        {
            "bedrooms": bedrooms.mask(plain.str.startswith("Studio"), 0.0).astype("Int64"),
            "bathrooms": plain.str.extract(r"(\d+(?:\.\d+)?) ba\b", expand=False).astype("Float64"),
            "area": plain.str.extract(r"(\d+) sqft\b", expand=False)
            .astype("Float64")
            .astype("Int64"),
        }
    )


def first_word(titles: pd.Series, names: dict[str, str]) -> pd.Series:
    """The name of the first of some words that is in each title."""
    lowered = titles.str.lower()
    conditions = [lowered.str.contains(word, regex=False) for word in names]
    return pd.Series(np.select(conditions, list(names.values()), "unknown"))


def kind_by_pandas(titles: pd.Series) -> pd.Series:
    """The same as `kind`."""
    return first_word(titles, KINDS)


def offer_by_pandas(titles: pd.Series) -> pd.Series:
    """The same as `offer`."""
    return first_word(titles, OFFERS)


def price_by_pandas(texts: pd.Series) -> pd.Series:
    """The same as `price`."""
    parts = texts.str.extract(r"(\d[\d,]*(?:\.\d+)?)(.?)")
    values = parts[0].str.replace(",", "").astype("Float64")
    units = parts[1].str.upper().map({"M": 1_000_000, "K": 1_000}).fillna(1)
    return (values * units).round().astype("Int64")


def city_by_pandas(texts: pd.Series) -> pd.Series:
    """The same as `city`."""
    return texts.str.split().map(lambda words: " ".join(map(str.capitalize, words)))


def zip_code_by_pandas(texts: pd.Series) -> pd.Series:
    """The same as `zip_code`."""
    digits = texts.str.strip().str.removesuffix(".0").str.split("-").str[0]
    good = digits.str.isdecimal() & (digits.str.len() <= 5)
    return digits.str.zfill(5).where(good, None)


def job(listings: DataFrame, functions: SimpleNamespace) -> DataFrame:
    """Houses for sale, with numbers in the place of texts."""
    # All in one select: Spark sends the columns to Python and back once.
    clean = listings.select(
        "url",
        functions.kind("title").alias("kind"),
        functions.offer("title").alias("offer"),
        functions.price("price_text").alias("price"),
        functions.facts("facts_text").alias("facts"),
        functions.city("city_text").alias("city"),
        functions.zip_code("zip_text").alias("zip"),
    )
    houses = clean.where("kind = 'house' AND offer = 'sale' AND price BETWEEN 100000 AND 20000000")
    return houses.select("url", "price", "facts.*", "city", "zip").where("bedrooms < 10")


def is_house_for_sale(title: str) -> bool:
    """Whether a title offers a house."""
    return kind(title) == "house" and offer(title) == "sale"


def computed(spark: SparkSession, folder: Path) -> DataFrame:
    """The same as `job`; of other listings than houses for sale the title alone is looked at."""
    houses = colkern.spark.read(
        spark,
        str(folder),
        format="csv",
        schema=COLUMNS,
        columns=["url"],
        filters=[
            is_house_for_sale,
            ("price", ">=", 100_000),
            ("price", "<=", 20_000_000),
            (("facts", "bedrooms"), "<", 10),
        ],
        compute={"price": price, "facts": facts, "city": city, "zip": zip_code},
    )
    return houses.select("url", "price", "facts.*", "city", "zip")


NAMES = ("url", "title", "price_text", "facts_text", "city_text", "zip_text")
COLUMNS = ", ".join(f"{name} string" for name in NAMES)
TITLES = (
    "House For Sale",
    "New Construction House for sale",
    "Condo For Rent",
    "Townhouse for sale",
    "Lot / Land For Sale",
    "SOLD: House",
    "Apartment for rent",
    "Foreclosed House",
)
CITIES = ("boston", "CAMBRIDGE", "west  roxbury", "Jamaica Plain", "new bedford", "Chelsea ")


def write(folder: Path, rows: int) -> None:
    """Write a CSV file such as a scraper leaves: texts for numbers, some missing, some damaged."""
    random = np.random.default_rng(2)
    shares = [0.4, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05]
    columns = (
        random.choice(TITLES, rows, p=shares),
        random.integers(40, 3000, rows) * 1000 - 1,
        random.integers(0, 7, rows),
        random.integers(2, 9, rows) / 2,
        random.integers(400, 5000, rows),
        random.choice(CITIES, rows),
        random.integers(1000, 99999, rows),
        random.integers(0, 20, rows),
    )
    with (folder / "listings.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(NAMES)
        for number, (title, dollars, beds, baths, area, place, code, shape) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            cost = {0: "Contact agent", 1: f"${dollars / 1e6:.2f}M", 2: f"From ${dollars // 1000}K"}
            rooms = "Studio" if beds == 0 else f"{beds} bd{'s' if beds > 1 else ''}"
            size = "-- sqft" if shape == 3 else f"{area:,} sqft"
            out.writerow(
                [
                    f"https://homes.example.org/{number}",
                    title,
                    cost.get(
                        shape, f"${dollars // 200:,}/mo" if "ent" in title else f"${dollars:,}"
                    ),
                    "--" if shape == 4 else f"{rooms} , {baths:g} ba , {size}",
                    place,
                    {5: f"{code}.0", 6: f"{code:05d}-0001", 7: "n/a"}.get(shape, f"{code:05d}"),
                ]
            )


def read(spark: SparkSession, folder: Path) -> DataFrame:
    """The rows of the CSV file, all of them text."""
    return spark.read.csv(str(folder), schema=COLUMNS, header=True)


PIPELINE = common.Pipeline(
    write,
    read,
    plain=(facts, kind, offer, price, city, zip_code),
    pandas={
        "facts": facts_by_pandas,
        "kind": kind_by_pandas,
        "offer": offer_by_pandas,
        "price": price_by_pandas,
        "city": city_by_pandas,
        "zip_code": zip_code_by_pandas,
    },
    job=job,
    computed=computed,
)

if __name__ == "__main__":
    common.main(PIPELINE, __doc__, rows=500_000)
