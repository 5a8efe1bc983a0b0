"""Row functions with regular expressions."""

from __future__ import annotations

import re

from . import values
from .case import case

KEY_VALUE = re.compile(r"(?P<key>\w+)=(?P<value>[^;]*)")
ISO = re.compile(r"^(\d{4})-(\d{2})-(\d{2})$")
VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:-([a-z]+\d*))?")
SECRET = re.compile(r"\b\d{3}-?\d{4}\b")
WORD = re.compile(r"[A-Za-z']+")


@case(rows=[values.key_values(1)], covers="finditer alike: findall of two groups, dict")
def pairs(text: str) -> str:
    return ",".join(f"{k}:{v}" for k, v in KEY_VALUE.findall(text))


@case(rows=[values.key_values(2)], covers="finditer, named groups")
def longest_value(text: str) -> str:
    best = ""
    for m in KEY_VALUE.finditer(text):
        if len(m["value"]) > len(best):
            best = m["value"]
    return best


@case(rows=[values.iso_days(3)], covers="anchors, groups, ints, tuple")
def date_parts(text: str) -> tuple[int, int, int] | None:
    m = ISO.match(text)
    if not m:
        return None
    return int(m.group(1)), int(m.group(2)), int(m.group(3))


@case(rows=[values.versions(4)], covers="optional groups that are None")
def release(version: str) -> str:
    m = VERSION.fullmatch(version)
    if m is None:
        return "bad"
    major, minor, patch, tag = m.groups()
    return f"{major}.{minor}" + (f".{patch}" if patch is not None else "") + (tag or "")


@case(rows=[values.phones(5)], covers="sub with a constant, word boundary")
def redacted(text: str) -> str:
    return SECRET.sub("XXX", text)


@case(rows=[values.phones(6)], covers=r"sub of \D")
def only_digits(text: str) -> str:
    return re.sub(r"\D", "", text)


@case(rows=[values.sentences(7)], covers="findall, len")
def word_count(text: str) -> int:
    return len(WORD.findall(text))


@case(rows=[values.sentences(8)], covers="re.split on a class")
def parts(text: str) -> list[str]:
    return [p for p in re.split(r"[\s,.!?]+", text) if p]


@case(rows=[values.names(9)], covers="sub with back-reference in the replacement")
def swapped(name: str) -> str:
    return re.sub(r"^\s*(\w+)\s+(\S+)\s*$", r"\2, \1", name)


@case(rows=[values.sentences(10)], covers="sub with a function")
def doubled(text: str) -> str:
    return re.sub(r"\d+", lambda m: str(int(m.group()) * 2), text)


@case(rows=[values.emails(11)], covers="fullmatch of classes, ignore case")
def valid_email(text: str) -> bool:
    return re.fullmatch(r"[\w.+'-]+@[a-z0-9-]+(\.[a-z0-9-]+)+", text, re.IGNORECASE) is not None


@case(rows=[values.urls(12)], covers="alternation, span by start and end")
def scheme(url: str) -> str:
    m = re.match(r"(?:http|https|ftp)://", url)
    return url[: m.end() - 3] if m else ""


@case(rows=[values.urls(13)], covers="groupdict alike, dict result")
def url_parts(url: str):
    m = re.match(r"(?P<scheme>\w+)://(?P<host>[^/:]+)(?::\d+)?(?P<path>/[^?#]*)?", url)
    if m is None:
        return {"scheme": "", "host": "", "path": ""}
    return {"scheme": m["scheme"], "host": m["host"].lower(), "path": m["path"] or "/"}


@case(rows=[values.posts(14)], covers="findall without groups, join")
def tags(post: str) -> str:
    return " ".join(re.findall(r"#\w+", post))


@case(rows=[values.posts(15)], covers="look-behind, look-ahead")
def mentioned(post: str) -> list[str]:
    return re.findall(r"(?<!\w)@(\w+)(?=\s|$)", post)


@case(rows=[values.words(16)], covers="back-reference in the pattern")
def has_double(word: str) -> bool:
    return re.search(r"(.)\1", word) is not None


@case(rows=[values.tokens(17)], covers="lazy and greedy, groups")
def around_digit(token: str) -> str:
    m = re.search(r"(\D*?)(\d+)(.*)", token)
    return "|".join(m.groups()) if m else token


@case(rows=[values.colours(18)], covers="class with ranges, fullmatch, bool, no hints")
def is_colour(text):
    return bool(re.fullmatch("#[0-9a-fA-F]{6}", text))


@case(rows=[values.durations(19)], covers="optional parts, int of groups with or")
def seconds(text: str) -> int:
    m = re.fullmatch(r"(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+)s)?", text)
    if m is None:
        return -1
    h, mi, s = (int(g or 0) for g in m.groups())
    return h * 3600 + mi * 60 + s


@case(rows=[values.app_lines(20)], covers="verbose pattern, several fields")
def level_and_module(line: str) -> str:
    m = re.search(
        r"""\[(?P<level>[A-Z]+)\]   # the level
            \s+(?P<module>\w+)      # the module
            \.\w+""",
        line,
        re.VERBOSE,
    )
    return f"{m['module']}/{m['level'].lower()}" if m else "-"


@case(rows=[values.log_lines(21)], covers="non-greedy up to a quote, count of replacements")
def quotes_removed(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line, count=2)


@case(rows=[values.markup(22)], covers="multi-group sub, dot-all, multi-line")
def bold(html: str) -> str:
    return re.sub(r"<(b|p)>(.*?)</\1>", r"*\2*", html, flags=re.S)


@case(rows=[values.numerals(23)], covers="alternatives for numbers, strip")
def number_kind(text: str) -> str:
    t = text.strip()
    if re.fullmatch(r"[+-]?\d+", t):
        return "int"
    if re.fullmatch(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?", t):
        return "float"
    return "text"


@case(
    rows=[values.addresses(24)],
    covers="search, group that may be None raising AttributeError",
    raises=True,
)
def house_number(address: str) -> int:
    return int(re.search(r"\d+", address).group())  # type: ignore[union-attr]


@case(rows=[values.sentences(25)], covers="reference to a group, word boundaries, sub")
def without_doubled_words(text: str) -> str:
    return re.sub(r"\b(\w+)\s+\1\b", r"\1", text)


@case(rows=[values.tokens(26)], covers="several look-aheads at the beginning")
def is_strong(token: str) -> bool:
    return re.match(r"^(?=.*[a-z])(?=.*\d)(?!.*(?:aa|00)).{6,}$", token) is not None


@case(rows=[values.key_values(27)], covers="quotes closed as they were opened, finditer")
def quoted(text: str) -> list[str]:
    return [m.group(2) for m in re.finditer(r"(['\"=;])(\w*)\1", text)]


RULES = [
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "iso"),
    (re.compile(r"\d{1,2}\.\d{1,2}\.(?P<year>\d{4})"), "dots"),
    (re.compile(r"(\d{1,2})/(\d{1,2})/\d{4}"), "slashes"),
]


@case(rows=[values.day_texts(28)], covers="a table of patterns of several groups, loop, break")
def form_of_day(text: str) -> str:
    for pattern, form in RULES:
        actual = pattern.search(text)
        if actual:
            return f"{form} {actual.group()}"
    return "none"


@case(rows=[values.sentences(29), values.words(29)], covers="a pattern that depends on the row")
def mentions(text: str, word: str) -> bool:
    return len(word) > 3 and re.search(rf"\b{re.escape(word)}\b", text, re.I) is not None
