"""Row functions that take lines of logs apart."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from . import values
from .case import case

COMBINED = re.compile(
    r'^(\S+) (\S+) (\S+) \[([^\]]+)\] "(\S+) ([^"]*?) (\S+)" (\d{3}) (\S+) "([^"]*)" "([^"]*)"$'
)
LEVELS = {"DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40}
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
BOTS = ("bot", "spider", "crawl", "curl")


class Request(NamedTuple):
    method: str
    path: str
    protocol: str


@case(rows=[values.log_lines(1)], covers="str.split index str.isdigit")
def status_code(line: str) -> int | None:
    parts = line.split(" ")
    if len(parts) > 8 and parts[8].isdigit():
        return int(parts[8])
    return None


@case(rows=[values.log_lines(2)], covers="re.match compiled, group by number")
def client(line: str) -> str | None:
    m = COMBINED.match(line)
    return m.group(1) if m else None


@case(rows=[values.log_lines(3)], covers="walrus, re.search, NamedTuple result")
def request(line: str) -> Request | None:
    if (m := re.search(r'"([A-Z]+) (\S*) (HTTP/[\d.]+)"', line)) is None:
        return None
    return Request(m.group(1), m.group(2), m.group(3))


@case(rows=[values.log_lines(4)], covers="named group, int of a group, dict result")
def status_and_size(line: str):
    m = re.search(r'" (?P<status>\d{3}) (?P<size>\d{1,9}|-) ', line)
    if not m:
        return {"status": 0, "size": 0}
    size = m["size"]
    return {"status": int(m["status"]), "size": 0 if size == "-" else int(size)}


@case(rows=[values.log_lines(5)], covers="find and slices")
def path_of(line: str) -> str:
    start = line.find('"')
    if start == -1:
        return ""
    end = line.find('"', start + 1)
    fields = line[start + 1 : end].split()
    return fields[1] if len(fields) >= 2 else ""


@case(rows=[values.log_lines(6)], covers="list.index, int slices, tuple result")
def day_of_request(line: str) -> tuple[int, int, int] | None:
    lo = line.find("[")
    stamp = line[lo + 1 : lo + 12]
    if lo < 0 or len(stamp) != 11 or stamp[3:6] not in MONTHS:
        return None
    return int(stamp[7:]), MONTHS.index(stamp[3:6]) + 1, int(stamp[:2])


@case(rows=[values.log_lines(7)], covers="strptime try/except ValueError")
def requested_at(line: str) -> datetime | None:
    text = line.partition("[")[2].partition("]")[0][:20]
    try:
        return datetime.strptime(text, "%d/%b/%Y:%H:%M:%S")
    except ValueError:
        return None


@case(rows=[values.log_lines(8)], covers="any with generator over constant tuple")
def is_bot(line: str) -> bool:
    agent = line.rsplit('"', 2)[-2].lower() if line.count('"') >= 2 else ""
    return any(name in agent for name in BOTS)


@case(rows=[values.log_lines(9)], covers="integer division, match statement")
def status_class(line: str) -> str:
    m = re.search(r'" (\d)\d\d ', line)
    if m is None:
        return "none"
    match m.group(1):
        case "2":
            return "ok"
        case "3":
            return "redirect"
        case "4" | "5":
            return "error"
        case _:
            return "other"


@case(rows=[values.app_lines(10)], covers="dict.get of sliced text")
def severity(line: str) -> int:
    level = line[line.find("[") + 1 : line.find("]")]
    return LEVELS.get(level, -1)


@case(rows=[values.app_lines(11)], covers="re.search, optional, float of a group")
def seconds_taken(line: str) -> float | None:
    took = re.search(r"took (\d+)ms", line)
    return int(took.group(1)) / 1000 if took else None


@case(rows=[values.app_lines(12)], covers="str.split maxsplit, unpacking with star")
def message(line: str) -> str:
    head, *rest = line.split(": ", 1)
    return rest[0] if rest else head


@case(rows=[values.app_lines(13)], covers="fromisoformat try/except, arithmetic on parts")
def second_of_day(line: str) -> int:
    try:
        when = datetime.fromisoformat(line[:23])
    except ValueError:
        return -1
    return when.hour * 3600 + when.minute * 60 + when.second


@case(rows=[values.app_lines(14)], covers="helper function, str.rpartition")
def logger_name(line: str) -> str:
    def between(text, left, right):
        _, _, tail = text.partition(left)
        return tail.rpartition(right)[0]

    return between(line, "] ", ": ")


@case(rows=[values.ips(15)], covers="all with generator, try")
def valid_ip(address: str) -> bool:
    parts = address.split(".")
    return len(parts) == 4 and all(p.isdigit() and 0 <= int(p) <= 255 for p in parts)


@case(rows=[values.ips(16)], covers="loop, shifts, int of parts", raises=True)
def ip_number(address: str) -> int:
    number = 0
    for part in address.split("."):
        number = number << 8 | int(part)
    return number


@case(rows=[values.ips(17)], covers="chained comparison, unpacking with a check")
def is_private(address: str) -> bool:
    if address.startswith("10.") or address.startswith("192.168."):
        return True
    if not address.startswith("172."):
        return False
    second = address.split(".")[1]
    return second.isdecimal() and 16 <= int(second) < 32


@case(rows=[values.urls(18)], covers="str.split with default, dict of query")
def query_parameter(url: str) -> str:
    query = url.split("?", 1)[1] if "?" in url else ""
    actual = dict(pair.split("=", 1) for pair in query.split("&") if "=" in pair)
    return actual.get("id", "")


@case(rows=[values.urls(19)], covers="re.match groups(), or")
def host_and_port(url: str) -> tuple[str, int]:
    m = re.match(r"https?://([^/:?#]+)(?::(\d+))?", url)
    if m is None:
        return "", 0
    host, port = m.groups()
    return host, int(port or (443 if url.startswith("https") else 80))


@case(rows=[values.urls(20)], covers="rstrip, count, no hints")
def depth(url):
    rest = url.split("://")[-1].split("?")[0].rstrip("/")
    return rest.count("/")


@case(rows=[values.paths(21)], covers="rfind, slices, lower")
def extension(path: str) -> str:
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""
