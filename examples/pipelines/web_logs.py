"""Lines of a web server's log become visits: a regular expression, numbers, a list of bots, sessions.

spark-submit --py-files examples/pipelines/common.py examples/pipelines/web_logs.py
python examples/pipelines/web_logs.py --master 'local[4]' --rows 1000000
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import common
import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

import colkern.spark

LINE = re.compile(
    r'^(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+) (\S+)" (\d{3}) (\d+|-) "([^"]*)" "([^"]*)"$'
)
TIME = "%d/%b/%Y:%H:%M:%S +0000"
BOTS = ("bot", "spider", "crawl", "slurp", "curl/", "python-requests")
PAUSE = 30 * 60
"""Seconds without a request after which a visit is over."""


class Request(NamedTuple):
    """The fields of a line."""

    host: str
    time: datetime
    method: str
    page: str
    protocol: str
    status: int
    size: int
    referer: str | None
    agent: str
    is_bot: bool


class Visits(NamedTuple):
    """The visits of one host."""

    count: int
    longest: int


def parsed(line: str) -> Request | None:
    """A request; None if the line is damaged."""
    found = LINE.match(line)
    if found is None:
        return None
    host, time, method, path, protocol, status, size, referer, agent = found.groups()
    lowered = agent.lower()
    return Request(
        host,
        datetime.strptime(time, TIME).replace(tzinfo=UTC),
        method,
        path.split("?")[0].rstrip("/").lower() or "/",
        protocol,
        int(status),
        0 if size == "-" else int(size),
        None if referer == "-" else referer,
        agent,
        any(bot in lowered for bot in BOTS),
    )


def visits(seconds: list[int]) -> Visits:
    """The visits of a host, whose requests are at these times, in order."""
    count = 1
    longest = 0
    begin = last = seconds[0]
    for second in seconds:
        if second - last > PAUSE:
            count += 1
            begin = second
        longest = max(longest, second - begin)
        last = second
    return Visits(count, longest)


def parsed_by_pandas(lines: pd.Series) -> pd.DataFrame:
    """The same as `parsed`."""
    parts = lines.str.extract(LINE)
    parts.columns = [
        "host",
        "time",
        "method",
        "path",
        "protocol",
        "status",
        "size",
        "referer",
        "agent",
    ]
    page = parts["path"].str.partition("?")[0].str.rstrip("/").str.lower()
    parts.insert(3, "page", page.where(page != "", "/"))
    parts["time"] = pd.to_datetime(parts["time"], format=TIME, utc=True)
    parts["status"] = pd.to_numeric(parts["status"]).astype("Int64")
    parts["size"] = pd.to_numeric(parts["size"].where(parts["size"] != "-", "0")).astype("Int64")
    parts["referer"] = parts["referer"].where(parts["referer"] != "-", None)
    bots = "|".join(map(re.escape, BOTS))
    parts["is_bot"] = parts["agent"].str.lower().str.contains(bots, regex=True)
    return parts.drop(columns="path")


def visits_by_pandas(seconds: pd.Series) -> pd.DataFrame:
    """The same as `visits`."""

    def of_host(times: np.ndarray) -> tuple[int, int]:
        breaks = np.flatnonzero(np.diff(times) > PAUSE) + 1
        firsts = np.concatenate(([0], breaks))
        lasts = np.concatenate((breaks, [len(times)])) - 1
        return len(firsts), (times[lasts] - times[firsts]).max()

    return pd.DataFrame([*map(of_host, seconds)], columns=["count", "longest"])


def job(lines: DataFrame, functions: SimpleNamespace) -> DataFrame:
    """The visits of each host that is no bot, and the bytes that it got."""
    requests = lines.select(functions.parsed("line").alias("request")).select("request.*")
    good = requests.where("NOT is_bot AND status < 400")
    return of_hosts(
        good.select("host", "size", f.unix_seconds("time").alias("second")), functions.visits
    )


def of_hosts(hits: DataFrame, visits: Callable[[str], Column]) -> DataFrame:
    """The bytes and visits of each host, of which there are sizes and times."""
    hosts = hits.groupBy("host").agg(
        f.sum("size").alias("bytes"),
        f.sort_array(f.collect_list("second")).alias("seconds"),
    )
    return hosts.select("host", "bytes", visits("seconds").alias("visits")).select(
        "host", "bytes", "visits.*"
    )


class Hit(NamedTuple):
    """The counts of a request."""

    host: str
    size: int
    second: int


def hit(value: str) -> Hit | None:
    """A request that succeeded and was no bot's; else None."""
    request = parsed(value)
    if request is None or request.is_bot or request.status >= 400:
        return None
    return Hit(request.host, request.size, int(request.time.timestamp()))


def computed(spark: SparkSession, folder: Path) -> DataFrame:
    """The same as `job`; most of a line does not leave the place where it is read."""
    hits = colkern.spark.read(
        spark,
        str(folder),
        format="text",
        columns=[],
        compute={"hit": hit},
        filters=[("hit", "is not null")],
    )
    return of_hosts(hits.select("hit.*"), colkern.spark.udf(visits))


AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "python-requests/2.32.3",
)
PATHS = (
    "/",
    "/shop/Hats/",
    "/shop/shoes?page=2",
    "/cart",
    "/static/site.css",
    "/search?q=red+hat",
    "/a/b/C.html",
)
REFERERS = ("-", "https://example.org/", "https://www.example.com/search?q=hats")


def write(folder: Path, rows: int) -> None:
    """Write a log; one line of a hundred is damaged."""
    random = np.random.default_rng(1)

    def some(values: tuple[object, ...], shares: list[float] | None = None) -> list[object]:
        return [values[k] for k in random.choice(len(values), rows, p=shares)]

    hosts = random.zipf(1.3, rows) % (rows // 20 + 1)
    seconds = np.sort(random.integers(0, 7 * 86400, rows)) + 1_767_225_600
    times = pd.to_datetime(seconds, unit="s").strftime("%d/%b/%Y:%H:%M:%S +0000")
    sizes = random.integers(0, 200_000, rows)
    statuses = some((200, 304, 404, 500), [0.85, 0.08, 0.06, 0.01])
    columns = (hosts, times, some(PATHS), statuses, sizes, some(REFERERS), some(AGENTS))
    with (folder / "access.log").open("w") as file:
        for host, time, path, status, size, referer, agent in zip(*columns, strict=True):
            address = f"10.{host >> 16 & 255}.{host >> 8 & 255}.{host & 255}"
            bytes_ = "-" if status == 304 else size
            line = f'{address} - - [{time}] "GET {path} HTTP/1.1" {status} {bytes_} "{referer}" "{agent}"'
            print(line[:40] if size % 100 == 0 else line, file=file)


def read(spark: SparkSession, folder: Path) -> DataFrame:
    """The lines of the log."""
    return spark.read.text(str(folder)).toDF("line")


PIPELINE = common.Pipeline(
    write,
    read,
    plain=(parsed, visits),
    pandas={"parsed": parsed_by_pandas, "visits": visits_by_pandas},
    job=job,
    computed=computed,
)

if __name__ == "__main__":
    common.main(PIPELINE, __doc__, rows=300_000)
