"""Row functions that take fields out of text by hand."""

from __future__ import annotations

import json
import re

from . import values
from .case import case

KEEP = ("id", "name", "score")


@case(rows=[values.documents(1)], covers="find, slices, nested condition")
def name_field(line: str) -> str | None:
    key = '"name":'
    at = line.find(key)
    if at < 0:
        return None
    start = line.find('"', at + len(key)) + 1
    return line[start : line.find('"', start)]


@case(rows=[values.documents(2)], covers="index loop over characters, int")
def id_field(line: str) -> int:
    at = line.find('"id":')
    if at == -1:
        return -1
    i = at + 5
    while i < len(line) and line[i] == " ":
        i += 1
    j = i
    while j < len(line) and line[j] in "0123456789":
        j += 1
    return int(line[i:j]) if j > i else 0


@case(rows=[values.documents(3)], covers="re.search and float")
def score_field(line: str) -> float | None:
    m = re.search(r'"score":\s*(-?\d+(?:\.\d+)?)', line)
    return float(m.group(1)) if m else None


@case(rows=[values.documents(4)], covers="in, three states as bool or None")
def ok_field(line: str) -> bool | None:
    if '"ok": true' in line:
        return True
    if '"ok": false' in line:
        return False
    return None


@case(rows=[values.documents(5)], covers="strip of braces, split, dict comprehension")
def field_names(line: str) -> str:
    body = line.strip().strip("{}")
    pairs = {p.split(":")[0].strip().strip('"'): p for p in body.split(",") if ":" in p}
    return ",".join(sorted(pairs))


@case(rows=[values.documents(6)], covers="json.loads, isinstance, try/except")
def loaded_id(line: str) -> int | None:
    try:
        document = json.loads(line)
    except json.JSONDecodeError:
        return None
    if isinstance(document, dict) and isinstance(document.get("id"), int):
        return document["id"]
    return None


@case(
    rows=[values.documents(106)], covers="json.loads, a value of one of several types", raises=True
)
def loaded_name(line: str) -> str | None:
    return json.loads(line).get("name")


@case(rows=[values.documents(107)], covers="json.loads, arithmetic, several exceptions")
def loaded_percent(line: str) -> float | None:
    try:
        return round(json.loads(line)["score"] * 10, 1)
    except (KeyError, TypeError, ValueError):
        return None


@case(rows=[values.documents(108)], covers="json.loads, f-string, truth and length", raises=True)
def loaded_summary(line: str) -> str:
    document = json.loads(line)
    mark = "+" if document.get("ok") else "-"
    return f"{mark}{document['id']}:{document.get('name') or '?'} {len(document)}"


@case(rows=[values.documents(109)], covers="json.loads, items of an object")
def loaded_texts(line: str) -> list[str]:
    try:
        document = json.loads(line)
        return [key.upper() for key, value in document.items() if isinstance(value, str)]
    except (ValueError, AttributeError):
        return []


@case(rows=[values.key_values(7)], covers="dict built in a loop, get")
def value_of_a(text: str) -> str:
    actual = {}
    for pair in text.split(";"):
        key, sep, value = pair.partition("=")
        if sep:
            actual[key] = value
    return actual.get("a", "")


@case(rows=[values.key_values(8)], covers="dict of a generator, KeyError caught")
def value_of_name(text: str) -> str:
    pairs = dict(p.split("=", 1) for p in text.split(";") if "=" in p)
    try:
        return pairs["name"]
    except KeyError:
        return "?"


@case(rows=[values.key_values(9)], covers="sum of ints of parts, try with continue")
def sum_of_values(text: str) -> int:
    total = 0
    for part in text.split(";"):
        try:
            total += int(part[part.index("=") + 1 :])
        except ValueError:
            continue
    return total


@case(rows=[values.key_values(10)], covers="sorted with key, join, list of tuples")
def normal_order(text: str) -> str:
    pairs = [tuple(p.split("=", 1)) for p in text.split(";") if "=" in p]
    pairs.sort(key=lambda kv: kv[0])
    return ";".join(f"{k}={v}" for k, v in pairs)


@case(rows=[values.key_values(11)], covers="unpacking that may raise ValueError", raises=True)
def keys_only(text: str) -> str:
    keys = []
    for pair in text.strip(";").split(";"):
        key, value = pair.split("=")
        keys.append(key)
    return "|".join(keys)


@case(rows=[values.csv_lines(12)], covers="split, index, int", raises=True)
def first_number(line: str) -> int:
    return int(line.split(",")[0])


@case(rows=[values.csv_lines(13)], covers="dict literal result of mixed kinds, try")
def record(line: str):
    parts = line.split(",")
    if len(parts) != 4:
        return None
    try:
        return {"id": int(parts[0]), "name": parts[1].strip(), "amount": float(parts[2])}
    except ValueError:
        return None


@case(rows=[values.csv_lines(14)], covers="state machine over characters, list append")
def quoted_fields(line: str) -> int:
    fields, quoted = 1, False
    for ch in line:
        if ch == '"':
            quoted = not quoted
        elif ch == "," and not quoted:
            fields += 1
    return fields


@case(
    rows=[values.csv_lines(15), values.between(15, -5, 5)],
    covers="list index that may raise IndexError",
    raises=True,
)
def field_at(line: str, place: int) -> str:
    return line.split(",")[place] if -4 <= place < 4 else ""


@case(rows=[values.documents(16)], covers="re.findall of pairs, loop, str.isdigit")
def numbers_in(line: str) -> list[int]:
    return [int(n) for n in re.findall(r":\s*(\d+)", line) if len(n) < 10]


@case(rows=[values.documents(17)], covers="count of a substring, balance of braces")
def balanced(line: str) -> bool:
    return line.count("{") == line.count("}") and line.count('"') % 2 == 0


@case(
    rows=[values.words(18), values.integers(18), values.flags(18)],
    covers="text built by + and str()",
)
def to_json(name: str, value: int, ok: bool) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '{"name": "' + escaped + '", "value": ' + str(value) + ', "ok": ' + str(ok).lower() + "}"


@case(rows=[values.key_values(19)], covers="no hints, next of a generator with default")
def first_short(text):
    return next((p for p in text.split(";") if len(p) < 5), None)


@case(rows=[values.markup(20)], covers="re.sub of tags, unescape by replace")
def plain_text(html: str) -> str:
    text = re.sub(r"<[^>]+>", "", html)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


@case(rows=[values.markup(21)], covers="named group, lower, None")
def link(html: str) -> str | None:
    m = re.search(r'<a\s+href="(?P<target>[^"]*)"', html, re.IGNORECASE)
    return m.group("target") if m else None
