"""Row functions that call the standard library for more than methods of their values."""

from __future__ import annotations

import base64
import bisect
import calendar
import hashlib
import heapq
import html
import itertools
import math
import operator
import statistics
import textwrap
import unicodedata
import zlib
from collections import Counter
from datetime import date
from functools import lru_cache, partial, reduce
from operator import itemgetter
from urllib.parse import quote, urlparse, urlsplit

from . import values
from .case import case

LIMITS = [0, 100, 1000, 10_000]
LABELS = ("none", "some", "many", "lots", "most")


@lru_cache(maxsize=None)
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@case(rows=[values.integers(1)], covers="bisect in a constant list")
def label(n: int) -> str:
    return LABELS[bisect.bisect_right(LIMITS, n) if n >= 0 else 0]


@case(rows=[values.names(2)], covers="unicodedata.normalize, combining, join")
def without_accents(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))


@case(rows=[values.sentences(3)], covers="unicodedata.category in a generator")
def letters(text: str) -> int:
    return sum(unicodedata.category(c)[0] == "L" for c in text)


@case(rows=[values.urls(4)], covers="urlparse, netloc, path, query")
def parts_of_address(url: str) -> tuple[str, str, str]:
    parsed = urlparse(url)
    return parsed.netloc.lower(), parsed.path.strip("/"), parsed.query


@case(rows=[values.urls(5)], covers="urlsplit, hostname that may be None, removeprefix")
def host(url: str) -> str | None:
    name = urlsplit(url).hostname
    return name.removeprefix("www.") if name else None


@case(rows=[values.names(6)], covers="quote with safe characters, f-string")
def link(name: str) -> str:
    return f"/people/{quote(name.strip(), safe='')}"


@case(rows=[values.markup(7)], covers="html.unescape, html.escape")
def escaped(text: str) -> str:
    return html.escape(html.unescape(text), quote=False)


@case(rows=[values.emails(8)], covers="sha256 of a text, hexdigest, slice")
def pseudonym(address: str) -> str:
    local, at, domain = address.rpartition("@")
    if not at:
        return ""
    return hashlib.sha256(local.encode()).hexdigest()[:12] + "@" + domain


@case(rows=[values.words(9)], covers="crc32, a bucket")
def bucket(word: str) -> int:
    return zlib.crc32(word.encode("utf-8")) % 16


@case(rows=[values.tokens(10)], covers="b64encode, decode by an encoding")
def in_base_64(token: str) -> str:
    return base64.b64encode(token.encode()).decode("ascii")


@case(rows=[values.sentences(11)], covers="textwrap.shorten where the text is long")
def teaser(text: str) -> str:
    return text if len(text) < 60 else textwrap.shorten(text, 60, placeholder="...")


@case(rows=[values.score_lists(13)], covers="statistics: stdev, pvariance of few numbers")
def spread_of(scores: list[float]) -> tuple[float, float] | None:
    scores = [score for score in scores if math.isfinite(score)]
    if not scores:
        return None
    spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
    return spread, statistics.pvariance(score * 2 for score in scores)


@case(rows=[values.score_lists(12)], covers="statistics: fmean, median; None for nothing")
def middle(scores: list[float]) -> tuple[float, float] | None:
    return (statistics.fmean(scores), statistics.median(scores)) if scores else None


@case(rows=[values.number_lists(13)], covers="heapq.nlargest, math.prod of a slice")
def top_product(numbers: list[int]) -> int:
    return math.prod(heapq.nlargest(2, numbers))


@case(rows=[values.number_lists(14)], covers="zip_longest, fillvalue, reversed slice")
def mirrored(numbers: list[int]) -> list[int]:
    return [a + b for a, b in itertools.zip_longest(numbers, numbers[:2], fillvalue=0)]


@case(rows=[values.strands(15)], covers="groupby, length of each group, f-string")
def run_lengths(strand: str) -> str:
    return "".join(f"{letter}{len(list(group))}" for letter, group in itertools.groupby(strand))


@case(rows=[values.sentences(16)], covers="combinations of a sorted set, generator")
def common_starts(text: str) -> int:
    words = sorted(set(text.lower().split()))
    return sum(a[0] == b[0] for a, b in itertools.combinations(words, 2))


@case(rows=[values.sentences(17)], covers="Counter.items sorted by itemgetter, dict of a Counter")
def letters_by_count(text: str) -> str:
    counts = dict(Counter(text.lower()))
    pairs = sorted(counts.items(), key=itemgetter(1, 0), reverse=True)
    return "".join(map(itemgetter(0), pairs))


@case(rows=[values.sentences(18)], covers="dict.fromkeys, join")
def each_word_once(text: str) -> str:
    return " ".join(dict.fromkeys(text.lower().split()))


@case(rows=[values.sentences(19)], covers="max by a bound method, get of a dictionary")
def most_frequent(text: str) -> str | None:
    counts: dict[str, int] = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return max(counts, key=counts.get) if counts else None


@case(rows=[values.dates(20)], covers="calendar.month_name, isocalendar().week")
def week_of_month(day: date) -> str:
    return f"{calendar.month_name[day.month]}, week {day.isocalendar().week}"


@case(
    rows=[values.between(21, -5, 40)], covers="a cached function that calls itself, partial, reduce"
)
def cached(n: int) -> int:
    limited = partial(min, 30)
    return reduce(operator.add, [fibonacci(abs(k)) for k in (limited(n), 3)], 0)
