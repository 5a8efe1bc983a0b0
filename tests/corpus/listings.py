"""Row functions over listings of homes for sale."""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import values
from .case import case

OFFERS = ("sale", "rent", "sold", "foreclosure")
BANDS = [(100_000, "low"), (300_000, "middle"), (600_000, "high")]


@dataclass
class Facts:
    beds: int
    baths: float
    area: int


@case(rows=[values.facts(1)], covers="find, slices, int", raises=True)
def bedrooms(facts: str) -> int:
    max_idx = facts.find(" bd")
    if max_idx < 0:
        max_idx = len(facts)
    s = facts[:max_idx]
    split_idx = s.rfind(",")
    split_idx = 0 if split_idx < 0 else split_idx + 2
    return int(s[split_idx:])


@case(rows=[values.facts(2)], covers="find chain, try/except, float")
def bathrooms(facts: str) -> float | None:
    end = facts.find(" ba")
    begin = facts.rfind(",", 0, end) + 1
    try:
        return float(facts[begin:end])
    except ValueError:
        return None


@case(rows=[values.facts(3)], covers="replace, rfind, isdigit, None")
def square_feet(facts: str) -> int | None:
    end = facts.find(" sqft")
    if end < 0:
        return None
    begin = facts.rfind("ba, ", 0, end)
    number = facts[begin + 4 if begin >= 0 else 0 : end].replace(",", "")
    return int(number) if number.isdigit() else None


@case(rows=[values.facts(4)], covers="re.findall, dataclass result")
def parsed_facts(facts: str) -> Facts | None:
    numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", facts)
    if len(numbers) != 3:
        return None
    beds, baths, area = numbers
    return Facts(int(beds.replace(",", "")), float(baths), int(area.replace(",", "").split(".")[0]))


@case(rows=[values.prices(5)], covers="chained replace, int", raises=True)
def price(text: str) -> int:
    return int(text.replace("$", "").replace(",", "").replace("USD", "").strip() or "0")


@case(rows=[values.prices(6)], covers="slices, lstrip chars, isdecimal")
def price_or_none(text: str) -> int | None:
    digits = text.lstrip("$ ").split(" ")[0].split("/")[0].replace(",", "")
    if not digits.isdecimal():
        return None
    return int(digits)


@case(rows=[values.prices(7)], covers="try, nested calls, bare except of a tuple")
def price_band(text: str) -> str:
    try:
        value = int("".join(filter(str.isdigit, text)))
    except (ValueError, TypeError):
        return "unknown"
    for limit, name in BANDS:
        if value < limit:
            return name
    return "top"


@case(rows=[values.facts(8), values.prices(8)], covers="two texts, division, guard")
def price_per_square_foot(facts: str, price: str) -> float:
    area = re.search(r"([\d,]+) sqft", facts)
    cost = re.search(r"\$ ?([\d,]+)", price)
    if not area or not cost:
        return 0.0
    feet = int(area.group(1).replace(",", "") or 0)
    return round(int(cost.group(1).replace(",", "")) / feet, 2) if feet else -1.0


@case(rows=[values.addresses(9)], covers="split, strip, negative index, None")
def city(address: str) -> str | None:
    parts = [p.strip() for p in address.split(",")]
    if len(parts) < 3:
        return None
    return parts[-2].title()


@case(rows=[values.addresses(10)], covers="reversed search, isdigit, zfill")
def zip_code(address: str) -> str:
    tail = address.split()[-1] if address.split() else ""
    return tail.zfill(5) if tail.isdigit() else "00000"


@case(rows=[values.addresses(11)], covers="re.match with groups, dict literal result")
def street(address: str):
    m = re.match(r"(\d+)\s+([A-Za-z' ]+?)\s+(St|Ave)\b", address)
    if m:
        return {"number": int(m.group(1)), "name": m.group(2), "kind": m.group(3)}
    return {"number": -1, "name": address, "kind": ""}


@case(
    rows=[values.one_of(12, ["House For Sale", "Condo for rent", "Sold", "Foreclosure - Lot"])],
    covers="for over constant tuple, in, else of loop",
)
def offer(title: str) -> str:
    lowered = title.lower()
    for kind in OFFERS:
        if kind in lowered:
            break
    else:
        kind = "unknown"
    return kind


@case(
    rows=[
        values.one_of(13, ["House for sale", "condo / townhome", "Lot", "Apartment"], ("", "Haüs"))
    ],
    covers="if chain of in",
)
def home_type(title):
    t = title.lower()
    type = "unknown"
    if "condo" in t or "apartment" in t:
        type = "condo"
    if "house" in t:
        type = "house"
    return type


@case(
    rows=[values.integers(14), values.between(14, 300, 5000), values.flags(14)],
    covers="int arithmetic, bool condition, floor division",
)
def monthly_rent(price: int, area: int, furnished: bool) -> int:
    base = price * 1000 // 240
    if furnished:
        base += area // 10
    return max(base, 500)


@case(
    rows=[values.between(15, 1, 8), values.reals(15, 1, 5), values.between(15, 300, 5000)],
    covers="weighted sum, round, min",
)
def attractiveness(beds: int, baths: float, area: int) -> float:
    score = beds * 1.5 + baths * 2 + area / 500
    return round(min(score, 25.0), 1)


@case(rows=[values.prices(16)], covers="f-string thousands, int of filtered text")
def shown_price(text: str) -> str:
    digits = "".join([c for c in text if "0" <= c <= "9"])
    if not digits:
        return "-"
    value = int(digits)
    if value >= 1_000_000:
        return f"${value / 1_000_000:.1f}M"
    return f"${value:,}"
