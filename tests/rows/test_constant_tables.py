"""Row functions: constant tables of dictionaries, tuples and data, against the plain function."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import colkern as ck
from colkern.errors import CompileError, UnsupportedError

PLANS: Any = {
    "basic": {"rate": 0.1, "free": 2, "label": "Basic"},
    "pro": {"rate": 0.08, "label": "Pro"},
    "team": {"rate": 0.05, "free": 10, "seats": (5, 50)},
    "old": None,
}
SIZES: Any = {"a": {"x": 1.0, "y": 2.0}, "b": {"x": 3.0}, "c": {}}
ALIKE: Any = {"a": {"rate": 0.1, "label": "x"}, "b": {"rate": 0.2, "label": "y"}}
STEPS: Any = [{"name": "low", "end": 3}, {"name": "high"}]
NAMES = ["basic", "pro", "team", "old", "a", "b", "c", "none"]


def fees(name: str) -> str:
    plan = PLANS.get(name) or {"rate": 1, "note": "?"}
    return f"{plan['rate'] * 2:.2f} {plan.get('free', 0)} {plan.get('seats', (0, 0))[1]}"


def noted(name: str) -> str | None:
    plan = PLANS.get(name)
    if plan is None:
        plan = {"label": name}
    return plan.get("label") if "free" not in plan else None


def last(name: str) -> str:
    step = STEPS[-1 if name < "c" else 0]
    return step["name"] + ("!" if "end" in step else "")


def matched(name: str) -> str:
    match PLANS.get(name):
        case {"free": free, "label": label}:
            return f"{label} {free}"
        case {"label": label}:
            return label
        case None:
            return "none"
    return "other"


def chosen(name: str) -> float:
    row: Any = {"n": len(name), "as": name} if name > "c" else {"n": 1, "as": "x", "tax": 0.5}
    return row["n"] * (1 + row.get("tax", 0.0))


@dataclass
class Product:
    """An entry of a catalogue."""

    name: str
    price: float
    tags: tuple[str, ...] = ()

    def gross(self, rate: float) -> float:
        return self.price * (1 + rate)


class Band(NamedTuple):
    """An entry with a default."""

    low: float
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """An entry without a dictionary."""

    least: int
    most: int | None = None


LIMITS = {"a": Limit(1, 5), "b": Limit(2)}
CATALOGUE = {"a": Product("apple", 1.5, ("fresh", "red")), "b": Product("bread", 2.0)}
BANDS = {"a": Band(0.1), "b": Band(0.3, "new")}
REGIONS = {"a": ("DE", "FR", "IT"), "b": ("US",), "c": ()}
DEEP: Any = {"eu": {"a": {"vat": 0.19, "old": 1}, "b": {"vat": 0.2}}, "us": {"a": {"vat": 0}}}
RATES: Any = {"a": 1, "b": 2.5, "c": -3}
FLAGS: Any = {"a": True, "b": 2}
LISTS: Any = {"a": {"items": [1, 2], "weight": 0.5}, "b": {"items": [], "weight": 1.5}}


def listed(name: str) -> float:
    entry = LISTS.get(name)
    return sum(entry["items"]) * entry["weight"] if entry else -1.0


def sold(name: str) -> str:
    product = CATALOGUE.get(name)
    if product is None:
        return "-"
    return f"{product.name} {product.gross(0.07):.2f} {'red' in product.tags}"


def counted(name: str) -> int:
    return sum(1 for key, plan in PLANS.items() if plan and plan.get("free") and key >= name)


WIDE: Any = {name: dict.fromkeys("abcdefghijklmnopqrst", 1.5) | {"z": name} for name in NAMES[:2]}

FUNCTIONS: list[Callable[[str], Any]] = [
    fees,
    noted,
    last,
    matched,
    chosen,
    lambda name: SIZES.get(name, {}).get("y", 0.5),
    lambda name: ALIKE.get(name, {}).get("label"),
    lambda name: (ALIKE.get(name) or {"rate": 9.0, "label": "q"})["rate"],
    lambda name: ALIKE[name]["rate"] if name in ALIKE else {"rate": 2.0, "label": ""}["rate"],
    lambda name: bool(ALIKE.get(name, {})),
    lambda name: "yes" if SIZES.get(name) else "no",
    lambda name: isinstance(PLANS.get(name), dict),
    listed,
    sold,
    counted,
    lambda name: BANDS[name].low * 2 if name in BANDS else 0.0,
    lambda name: getattr(BANDS[name], "low") if name in BANDS else 0.0,  # noqa: B009
    lambda name: LIMITS[name].most or LIMITS[name].least if name in LIMITS else 0,
    lambda name: BANDS[name].note if name in BANDS else "",
    lambda name: "FR" in REGIONS.get(name, ()),
    lambda name: len(REGIONS[name]) if name in REGIONS else -1,
    lambda name: "".join(REGIONS[name]) if name in REGIONS else "",
    lambda name: DEEP["eu"].get(name, {}).get("vat", 0.5),
    lambda name: DEEP.get("us" if name < "b" else "eu", {}).get(name, {}).get("vat", -1.0),
    lambda name: RATES.get(name, 0) * 2,
    lambda name: RATES[name] + 0.5 if name in RATES else None,
    lambda name: FLAGS[name] + 1 if name in FLAGS else 0,
    lambda name: WIDE[name]["z"] + str(WIDE[name]["t"]) if name in WIDE else "",
    lambda name: PLANS["basic"].get("free", 0) + len(name),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_keys_that_only_some_have(function: Callable[[str], Any]) -> None:
    compiled = ck.udf(function, strict=True)
    assert compiled(ck.array(NAMES)).to_pylist() == list(map(function, NAMES))
    assert not compiled.report().left


def test_a_key_that_is_lacked_raises_as_in_python() -> None:
    compiled = ck.udf(lambda name: SIZES[name]["y"])
    assert compiled(ck.array(["a"])).to_pylist() == [2.0]
    for name in ("b", "d"):
        with pytest.raises(KeyError, match="'y'" if name == "b" else "'d'"):
            compiled(ck.array([name]))


def test_the_text_of_an_integer_among_floats_is_left_to_python() -> None:
    compiled = ck.udf(lambda name: str(RATES[name]))
    assert compiled(ck.array(["a", "b"])).to_pylist() == ["1", "2.5"]
    assert sum(compiled.report().left.values()) == 2


LARGE: Any = {"a": {"x": 0.5, "y": "z"}, "b": {"x": 2**53 + 1}}


def test_integers_that_no_float_equals_and_zeros_without_a_sign() -> None:
    with pytest.raises((CompileError, UnsupportedError), match="no float equals"):
        ck.udf(lambda name: LARGE.get(name, {}).get("x", 0))(ck.array(NAMES))

    def signed(name: str) -> float:
        return math.copysign(1.0, -RATES.get(name, 0)) + (0 if name < "b" else 9007199254740993)

    compiled = ck.udf(signed)
    assert compiled(ck.array(NAMES)).to_pylist() == list(map(signed, NAMES))


CODES: Any = {
    "a": re.compile(r"\d{5}(-\d{4})?"),
    "b": re.compile(r"\d{5}"),
    "c": re.compile(r"([A-Z]{1,2}\d) ?(\d[A-Z]{2})"),
}
DATES: Any = {
    "a": re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)"),
    "b": re.compile(r"(?P<y>\d{4})/(?P<m>\d\d)?"),
}
DAY = re.compile(r"(?P<y>\d{4})-(?P<d>\d\d)")
MONTH = re.compile(r"(?P<y>\d{4})/(\d\d)?")
CODED = ["12345", "12345-6789", "SW1 1AA", "", "on 2024-05", "2024/07", "2024/", "é12345"]


def first_code(name: str, text: str) -> str | None:
    pattern = CODES.get(name)
    if not pattern:
        return None
    match = pattern.search(text)
    return f"{match.group(0)}{match[0]}{match.start()}" if match else "-"


def month(name: str, text: str) -> str:
    match = DATES["a" if name < "b" else "b"].search(text)
    return f"{match['y']}:{match['m']}:{match.groups()}" if match else "none"


def hidden(name: str, text: str) -> str:
    pattern = CODES["a"] if name == "a" else CODES["c"]
    return pattern.sub("#", text) + str(bool(pattern.match(text)))


def code_in_any(name: str, text: str) -> str | None:
    for own, pattern in CODES.items():
        if match := pattern.search(text):
            return f"{own} {match.span()} {match.lastindex}"
    return None


def dated(name: str, text: str) -> str:
    match = DAY.search(text) or MONTH.search(text)
    return f"{match['y']}{match['d'] if '-' in text else match.group('y')}" if match else "none"


@pytest.mark.parametrize(
    "function",
    [
        first_code,
        month,
        hidden,
        code_in_any,
        dated,
        lambda n, s: n in CODES and CODES[n].fullmatch(s) is not None,
    ],
)
def test_a_table_of_patterns(function: Callable[[str, str], Any]) -> None:
    rows = [(name, text) for name in NAMES for text in CODED]
    compiled = ck.udf(function, strict=True)
    results = compiled(*(ck.array(list(column)) for column in zip(*rows, strict=True)))
    assert results.to_pylist() == [function(*row) for row in rows]


@pytest.mark.parametrize(
    "function",
    [
        lambda name: str(PLANS.get(name)),
        lambda name: PLANS.get(name, PLANS["pro"]),
        lambda name: len(PLANS.get(name, PLANS["pro"]) or ""),
        lambda name: PLANS.get(name) == PLANS["pro"],
        lambda name: (PLANS.get(name) or {})[name],
        lambda name: [*(PLANS.get(name) or {})],
        lambda name: (PLANS.get(name) or {}).get("free", default=1),  # type: ignore[call-overload]
    ],
)
def test_the_whole_of_such_a_dictionary_is_refused(function: Callable[[str], Any]) -> None:
    with pytest.raises((CompileError, UnsupportedError), match="keys"):
        ck.udf(function)(ck.array(NAMES))
