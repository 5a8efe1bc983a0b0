"""Row functions: what Python says, by construct, against the plain function over the same rows."""

from __future__ import annotations

import ast
import datetime
import enum
import heapq
import math
import operator
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import colkern as ck
from colkern.cpu.threads import num_threads, set_num_threads
from colkern.rows import front

WORDS = ["a,b", "  x, yy ", "é,ü", "", None, "1,2,3", "Straße"]
NUMBERS = [0, 1, -7, 2**62, -(2**63), None, 12]
FLOATS = [0.5, -0.0, None, 1e300, math.inf, 2.0, -3.25]
DAYS = [datetime.date(2024, 2, 29), datetime.date(1, 1, 1), None, datetime.date(1969, 12, 31)]

FACTOR = 3
SIZES = {"a": 1, "b": 20, "é": 300}
STOPS = frozenset({"a", "b", "c", "d", "é"})
PAIR = re.compile(r"(?P<first>\w+),\s*(?P<second>\w+)?")


class Level(enum.IntEnum):
    """An enum that is a number."""

    LOW = 1
    HIGH = 12


class Point(NamedTuple):
    """A row with names."""

    x: int
    y: float

    @property
    def twice(self) -> int:
        return self.x * 2


@dataclass
class Reading:
    """A row that is a data class."""

    name: str
    size: int


def checked(n: int) -> int:
    """The sum and the product leave 64 bits for some rows, the result does not."""
    return (n * FACTOR + n) // 4


def endless(n: int) -> int:
    return n % 10 + endless(n // 10)


def branches(n: int) -> str:
    if n < 0:
        word = "minus"
    elif n == 0:
        return "zero"
    else:
        word = "plus"
    return word + str(n % 10)


def last_of_a_loop(s: str) -> str:
    actual = "none"
    for part in s.split(","):
        part = part.strip()
        if not part:
            continue
        if part in STOPS:
            break
        actual = part
    else:
        actual += "!"
    return actual


def kinds_change(s: str) -> int:
    value = s.strip()
    value = len(value)
    total = 0
    while value > 0:
        total += value
        value -= 1
    return total


def no_value_yet(s: str) -> str:
    for c in s:
        seen = c
    return seen


def caught(s: str) -> int:
    try:
        return int(s.split(",")[1])
    except (ValueError, IndexError):
        return -1


def caught_in_a_loop(s: str) -> int:
    total = 0
    for part in s.split(","):
        try:
            n = int(part)
            if n == 2:
                continue
        except ValueError:
            break
        else:
            total += n
    return total


def divided(n: int) -> int:
    try:
        return 100 // n
    except ZeroDivisionError:
        return 0


def comprehended(s: str) -> list[str]:
    return sorted({c.lower() for c in s if c.isalpha()})


def sums(s: str) -> tuple[int, bool, bool]:
    return sum(ord(c) for c in s), any(c == "," for c in s), all(c.isdigit() for c in s)


def counted(s: str) -> int:
    counts: dict[str, int] = {}
    for c in s:
        counts[c] = counts.get(c, 0) + 1
    return max(counts.values()) if counts else 0


def looked_up(s: str) -> int:
    return SIZES.get(s.partition(",")[0], -1) + (s[:1] in STOPS)


def searched(s: str) -> str | None:
    m = PAIR.search(s)
    return None if m is None else f"{m['first']}/{m['second']}/{m.start()}"


def substituted(s: str) -> str:
    return re.sub(r"\s+", "_", s)


def formatted(x: float) -> str:
    return f"{x:>10.2f}|{x!r}" if abs(x) < 1e6 else "%s" % (x > 0)


def none_or_value(s: str | None) -> str:
    return (s or "nothing").upper() if s is None or len(s) < 4 else s


def seasons(d: datetime.date) -> str:
    match d.month:
        case 12 | 1 | 2:
            return "winter"
        case m if m < 6:
            return f"spring {d:%Y-%m-%d}"
    return "other"


def shifted(d: datetime.date) -> datetime.date:
    return d.replace(day=1) + datetime.timedelta(days=31)


def level(n: int) -> bool:
    return n >= Level.HIGH


def point(n: int) -> Point:
    p = Point(n % 5, y=n / 4)
    return p._replace(x=p.twice)


def reading(s: str) -> Reading:
    return Reading(s[::-1], len(s))


def as_dictionary(s: str) -> dict[str, Any]:
    return {"text": s, "size": len(s)}


def with_helper(s: str) -> str:
    def first(text, by):
        return text.split(by)[0]

    return first(s, ",") + first(s, " ")


def walrus(s: str) -> int:
    return n if (n := len(s)) > 3 else -n


def of_lists(values: list[int]) -> int:
    values.append(1)
    head, *rest = values
    return head + len(rest) + max(values) - min(rest, default=0)


LISTS = [[1, 2], [], None, [5, -3, 2], [2**40]]


def run(function: Callable[..., Any], columns: Sequence[list[Any]]) -> tuple[list[Any], list[Any]]:
    """The results of the compiled function and of the plain one."""
    compiled = ck.udf(function)
    got = compiled(*map(ck.array, columns)).to_pylist()
    passes = function is none_or_value
    want = [
        None if None in row and not passes else function(*row) for row in zip(*columns, strict=True)
    ]
    return got, want


def plain(value: Any) -> Any:
    """A result as a column has it: a row is a dictionary."""
    if isinstance(value, Reading):
        return vars(value)
    if isinstance(value, Point):
        return value._asdict()
    if isinstance(value, tuple):
        return {f"f{place}": item for place, item in enumerate(value)}
    return value


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (branches, NUMBERS),
        (last_of_a_loop, WORDS),
        (kinds_change, WORDS),
        (caught, WORDS),
        (caught_in_a_loop, WORDS),
        (divided, NUMBERS),
        (comprehended, WORDS),
        (sums, WORDS),
        (counted, WORDS),
        (looked_up, WORDS),
        (searched, WORDS),
        (substituted, WORDS),
        (formatted, FLOATS),
        (none_or_value, WORDS),
        (seasons, DAYS),
        (shifted, DAYS),
        (level, NUMBERS),
        (point, NUMBERS),
        (reading, WORDS),
        (as_dictionary, WORDS),
        (with_helper, WORDS),
        (walrus, WORDS),
        (of_lists, LISTS),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_compiled_is_python(function: Callable[..., Any], values: list[Any]) -> None:
    got, want = run(function, [values])
    assert got == list(map(plain, want))


def test_rows_that_leave_64_bits_are_left_to_python() -> None:
    function = ck.udf(checked)
    rows = [1, 2**61, -(2**62), None, 5]
    assert function(ck.array(rows)).to_pylist() == [n if n is None else checked(n) for n in rows]
    assert sum(function.report().left.values()) == 2
    assert list(function.report().left) == [checked.__code__.co_firstlineno + 2]
    assert "checked: 5 rows, 2 of them left to Python" in str(function.report())


def coded(text: str) -> str:
    return text.encode("cp1252").decode("cp1252")


def test_a_row_left_in_another_function_is_reported_with_its_name() -> None:
    @ck.udf
    def greeting(text: str) -> str:
        return "hi " + coded(text)

    assert greeting(ck.array(["a", "ß"])).to_pylist() == ["hi a", "hi ß"]
    line = coded.__code__.co_firstlineno + 1
    assert f"1 rows, line {line} in coded: str.encode" in str(greeting.report())


def test_an_exception_is_pythons_own_with_its_row() -> None:
    function = ck.udf(no_value_yet)
    with pytest.raises(UnboundLocalError) as caught_error:
        function(ck.array(["ab", "c", "", ""]))
    assert caught_error.value.__notes__ == ["no_value_yet: row 2"]


def test_strict_refuses_rows_that_would_be_left() -> None:
    function = ck.udf(checked, strict=True)
    assert function(ck.array([1, 2])).to_pylist() == [1, 2]
    with pytest.raises(ck.CompileError, match=r"row 1 is left to Python \(line \d+"):
        function(ck.array([1, 2**62]))


def test_a_short_text_is_not_found_within_a_table() -> None:
    sizes = {12: "aa", 1: "bb", 2: "cc", 6: "dd", 7: "ee", 8: "ff"}

    def labelled(n: int) -> str:
        return sizes.get(n, "none") + " " + "\x01" + "\x06"

    assert ck.udf(labelled)(ck.array([1, 5])).to_pylist() == ["bb \x01\x06", "none \x01\x06"]


def test_strict_refuses_what_the_older_compiler_would_take() -> None:
    with pytest.raises(ck.CompileError, match="calls itself in every case"):
        ck.udf(endless, strict=True)
    function = ck.udf(lambda x: x, strict=True)
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(
        ck.UnsupportedError, match="argument of a row function: its values are of several types"
    ):
        function(union)


def widest(words: list[str], otherwise: float) -> int:
    return max([len(word) for word in words], default=round(otherwise))


def widest_of_made(words: list[str], otherwise: float) -> int:
    return max((len(word) for word in words), default=round(otherwise))


def first_length(words: list[str], otherwise: float) -> int:
    return next((len(word) for word in words), round(otherwise))


@pytest.mark.parametrize("function", [widest, widest_of_made, first_length])
def test_a_default_is_computed_even_if_there_are_items(function: Callable[..., int]) -> None:
    words = ck.array([["a"], []], ck.list_(ck.utf8()))
    assert ck.udf(function)(words, ck.array([0.2, 7.6])).to_pylist() == [1, 8]
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        ck.udf(function)(words[:1], ck.array([math.nan]))


def test_a_default_comes_after_the_items_of_a_list() -> None:
    def tried(words: list[str], divisor: int) -> int:
        try:
            return max([int(word) for word in words], default=1 // divisor)
        except ValueError:
            return -1
        except ZeroDivisionError:
            return -2

    columns = ck.array([["a"], ["4"], []], ck.list_(ck.utf8())), ck.array([0, 0, 1])
    assert ck.udf(tried)(*columns).to_pylist() == [-1, -2, 1]


def test_the_sign_of_a_nan_is_pythons() -> None:
    column = ck.array([-math.inf, math.inf, math.nan, -3.0, 12.0])
    signed = lambda x: math.copysign(2.0, x % 10.0)  # noqa: E731
    assert ck.udf(signed)(column).to_pylist() == [signed(x) for x in column.to_pylist()]


def test_rows_that_are_left_need_not_fit_the_declared_type_before() -> None:
    numbers = ck.array([1, 2**63 + 1, None, 7], type=ck.uint64())
    assert ck.udf(lambda n: n, returns=ck.uint64())(numbers).to_pylist() == numbers.to_pylist()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_each_unit_are_datetimes(unit: str) -> None:
    least = -(2**63) + 808 if unit == "ns" else -10_000_000_000
    column = ck.cast(ck.array([least, None, 0, 1_700_000_000]), ck.timestamp(unit))
    instants = ck.cast(column, ck.timestamp("us")).to_pylist()
    assert ck.udf(lambda t: t.year)(column).to_pylist() == [t and t.year for t in instants]


class Counted:
    """A class with an `__index__` of its own, which has no compiled form."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __index__(self) -> int:
        return 1


def test_fallback_runs_in_python_what_does_not_compile() -> None:
    def odd(n: int) -> int:
        return Counted(n).n

    with pytest.warns(UserWarning, match="odd runs in Python") as warned:
        function = ck.udf(odd, fallback=True)
    assert warned[0].filename == __file__
    assert function(ck.array([3, None, 5])).to_pylist() == [3, None, 5]
    assert "not compiled" in str(function.report())


@pytest.mark.parametrize("values", [["aa", None, "b"], [None]])
def test_a_default_stands_for_nulls_where_the_function_runs_in_python(values: list[Any]) -> None:
    def size_of(text):  # type: ignore[no-untyped-def]
        return Counted(len(text)).n

    function = ck.udf(size_of, fallback=True, nulls=-1)
    with pytest.warns(UserWarning, match="size_of runs in Python") as warned:
        results = function(ck.array(values, ck.utf8()))
    assert warned[0].filename == __file__
    assert results.to_pylist() == [-1 if v is None else size_of(v) for v in values]


def test_nothing_compiles_where_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLKERN_JIT", "0")
    function = ck.udf(caught)
    assert function(ck.array(["a,7", None])).to_pylist() == [7, None]
    assert function.source() == ""


def test_machine_arithmetic_wraps_around() -> None:
    function = ck.udf(lambda n: n + 1, arithmetic="machine")
    assert function(ck.array([2**63 - 1])).to_pylist() == [-(2**63)]


def test_the_original_and_the_source_can_be_seen() -> None:
    function = ck.udf(caught)
    assert function.python is caught
    function(ck.array(["a,7"]))
    assert "def caught_" in function.source()


def test_a_row_in_an_arena_that_is_too_small_is_run_again() -> None:
    function = ck.udf(lambda s: (s * 20000).upper())
    rows = ["ab", "c", "defg"]
    assert function(ck.array(rows)).to_pylist() == [(s * 20000).upper() for s in rows]


def test_two_lambdas_of_one_line_are_told_apart() -> None:
    one, two = ck.udf(lambda n: n + 1), ck.udf(lambda n: n + 2)
    assert one(ck.array([1])).to_pylist() == [2]
    assert two(ck.array([1])).to_pylist() == [3]


def test_a_text_over_several_lines_keeps_its_indentation_in_an_indented_function() -> None:
    def filled(name: str) -> str:
        return f"""{name}
            a
  b"""

    def at_the_margin(name: str) -> str:
        return (
            name
            + """
a"""
        )

    for function in (filled, at_the_margin, lambda name: name + """
     a"""):  # fmt: skip
        assert ck.udf(function)(ck.array(["x"])).to_pylist() == [function("x")]


def test_files_of_functions_are_parsed_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    # CPython may raise SystemError where two threads make trees at once.
    parse = ast.parse
    inside: list[str] = []
    most: list[int] = []

    def slow(text: str, *args: Any) -> Any:
        inside.append(text)
        time.sleep(0.01)
        most.append(len(inside))
        inside.pop()
        return parse(text, *args)

    monkeypatch.setattr(ast, "parse", slow)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(front._definitions, ["a = 1", "a = 2", "a = 3"]))
    assert most == [1, 1, 1]


def test_threads_give_what_one_gives() -> None:
    rows = [f"{n},{n * 7}" for n in range(300_000)]
    function = ck.udf(lambda s: s.split(",")[1].zfill(9))
    before = num_threads()
    set_num_threads(3)
    try:
        got = function(ck.array(rows)).to_pylist()
    finally:
        set_num_threads(before)
    assert got == [s.split(",")[1].zfill(9) for s in rows]


def test_text_is_bytes_where_these_are_asked_for() -> None:
    @ck.udf
    def first(data: bytes) -> int:
        return data[0]

    texts = ["é", "a"]
    for column in (ck.array(texts), ck.array(texts, ck.utf8_view())):
        assert first(column).to_pylist() == [0xC3, 0x61]

    @ck.udf
    def left_to_python(data: bytes) -> str:
        return str(len(data) * 2**62)

    assert left_to_python(ck.array(texts)).to_pylist() == [str(2**63), str(2**62)]


RATES = {"a": 2}
STEP = 1


def _step() -> int:
    return STEP


def test_what_names_mean_is_what_they_mean_when_it_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = 10

    @ck.udf
    def rated(s: str) -> int:
        return base + RATES.get(s, 0) + _step()

    texts = ck.array(["a", "b"])
    assert rated(texts).to_pylist() == [13, 11]
    monkeypatch.setitem(RATES, "b", 5)
    assert rated(texts).to_pylist() == [13, 16]
    monkeypatch.setattr(f"{__name__}.STEP", 2)
    assert rated(texts).to_pylist() == [14, 17]
    base = 20
    assert rated(texts).to_pylist() == [24, 27]


def test_a_nonlocal_name_is_read_but_not_assigned_to() -> None:
    base = 10

    def read(s: str) -> int:
        nonlocal base
        return base + len(s)

    def assigned(s: str) -> int:
        nonlocal base
        base += 1
        return base + len(s)

    texts = ck.array(["a", "bc"])
    assert ck.udf(read)(texts).to_pylist() == [11, 12]
    with pytest.raises(ck.CompileError, match="nonlocal"):
        ck.udf(assigned)(texts)
    with pytest.warns(match="nonlocal"):
        assert ck.udf(assigned, fallback=True)(texts).to_pylist() == [12, 14]
    assert base == 12


def of_callback(function: Any, value: int, times: int = 2) -> int:
    for _ in range(times):
        value = function(value)
    return value


def shadowing(function: Any, value: int) -> int:
    base = 3
    return int(function(value)) + base


def siblings(x: int) -> int:
    base = 2

    def scaled(y: int) -> int:
        return y * base

    def next_of(z: int) -> int:
        return scaled(z) + 1

    return next_of(x)


def own_name(x: int) -> int:
    base = 2

    def scaled(y: int) -> int:
        return y * base

    def other(base: int) -> int:
        return scaled(base) + 1

    return other(x) + sum(scaled(base) for base in range(x)) + other(base=x)


def own_name_beside_a_lambda(x: int) -> int:
    base = 2

    def applied(function: Any, value: int) -> int:
        base = 10
        return int(function(value)) + base

    return applied(lambda q: q * base, x)


def callback(x: int) -> int:
    base = 2
    return of_callback(lambda q: q * base, x, times=3)


def counted_in_a_callback(x: int) -> int:
    n = 0

    def counted(q: int) -> int:
        nonlocal n
        n += 1
        return q + n

    return of_callback(counted, x) * 100 + n


def expression_of(text: str) -> int:
    """A parser of sums and products, whose functions share the place where they are."""
    place = 0

    def peek() -> str:
        return text[place] if place < len(text) else ""

    def number() -> int:
        nonlocal place
        value = 0
        while peek().isdigit():
            value = value * 10 + int(peek())
            place += 1
        return value

    def factor() -> int:
        nonlocal place
        if peek() != "(":
            return number()
        place += 1
        value = sum_()
        place += 1
        return value

    def product() -> int:
        nonlocal place
        value = factor()
        while peek() == "*":
            place += 1
            value *= factor()
        return value

    def sum_() -> int:
        nonlocal place
        value = product()
        while peek() == "+":
            place += 1
            value += product()
        return value

    return sum_()


def counted_beside_an_exception(text: str) -> int:
    n = 0

    def digit(character: str) -> int:
        nonlocal n
        n += 1
        return int(character)

    total = 0
    for character in text:
        try:
            total += digit(character)
        except ValueError:
            total += 100 * n
    return total + n


def visited(text: str) -> int:
    n, last = 0, ""

    def visit(character: str) -> None:
        def bump() -> None:
            nonlocal n
            n += 1

        nonlocal last
        bump()
        last = character
        if character == "a":
            return
        bump()

    for character in text:
        visit(character)
    return n + len(last)


def visited_in_expressions(text: str) -> str:
    n = 0

    def visit(character: str) -> int:
        nonlocal n
        n += 1
        return n if character != "b" else -n

    listed = [visit(each) for each in text]
    total = sum(map(lambda each: visit(each), text))  # noqa: C417
    ordered = sorted(text, key=visit)
    replaced = re.sub(r"[a-z]", lambda match: str(visit(match[0])), text)
    is_any = any(visit(each) < 0 for each in text)
    either = visit("x") < 0 or (visit("b") < 0 and visit("y") > 0)
    n += visit("z")
    return f"{listed} {total} {ordered} {replaced} {is_any} {either} {n}"


def in_turn(x: int) -> int:
    total = 0

    def outer(n: int) -> int:
        nonlocal total

        def inner(m: int) -> int:
            nonlocal total
            total += m
            return outer(n - 1) if n > 1 else 0

        return inner(n) + n

    result = outer(x % 5)
    return 100 * result + total


def in_turn_from_a_constant(x: int) -> int:
    def outer(n: int, start: int) -> int:
        def inner(m: int, so_far: int) -> int:
            return outer(m - 1, so_far + 1) if m > 1 else so_far

        return inner(n, start)

    try:
        first = 0
    except ValueError:
        first = 0
    return outer(x % 5, first)


def without_its_exception(text: str) -> int:
    error = 5
    try:
        value = int(text)
    except ValueError as error:  # noqa: F841
        value = -1
    return value + error  # type: ignore[operator]


def without_its_exception_in_a_loop(text: str) -> int:
    total = error = 0
    for character in text:
        try:
            total += int(character)
            error = 1
        except ValueError as error:  # noqa: F841
            total += 10
            continue
        total += error
    return total


def exception_beside_an_assignment(text: str) -> int:
    error = 1

    def again() -> None:
        nonlocal error
        error = 2

    try:
        value = int(text)
    except ValueError as error:  # noqa: F841
        again()
        value = -1
    return value + error  # type: ignore[operator]


def empty() -> list[Any]:
    return []


def put(values: list[Any], value: Any) -> None:
    values.append(value)


def count_down(n: int, values: list[Any]) -> list[Any]:
    if n > 0:
        values.append(n)
        count_down(n - 1, values)
    return values


def size_of_empty(x: int) -> int:
    return len(empty()) + x


def filled_by_others(x: int) -> str:
    mine, texts, table = empty(), [], {}

    def note(key: str, value: float) -> None:
        table[key] = value

    put(mine, x)
    put(texts, str(size_of_empty(x)))
    note(texts[0], 1.5)
    for each in count_down(x, []):
        note(str(each), 2.0)
    return f"{mine} {texts} {sorted(table.items())}"


@pytest.mark.parametrize(
    ("function", "values"),
    [
        *(
            (each, [0, 3])
            for each in (siblings, own_name, own_name_beside_a_lambda, callback, filled_by_others)
        ),
        (counted_in_a_callback, [3, 4]),
        (expression_of, ["1+2*3", "(1+2)*3+4", "7", ""]),
        (counted_beside_an_exception, ["123", "1a2", "", "zz"]),
        (visited, ["abc", "", "aaa"]),
        (visited_in_expressions, ["abc", "", "zbzb"]),
        (in_turn, [7, 0, 4]),
        (in_turn_from_a_constant, [7, 0, 4]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_functions_within_functions_share_variables(function: Any, values: list[Any]) -> None:
    assert ck.udf(function)(ck.array(values)).to_pylist() == [function(each) for each in values]


def grouped(items: list[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def in_order(items: list[Any]) -> list[Any]:
    if len(items) < 2:
        return items
    first, *rest = items
    return [
        *in_order([x for x in rest if x < first]),
        first,
        *in_order([x for x in rest if x >= first]),
    ]


def of_texts_and_numbers(text: str) -> str:
    def doubled(items: list[Any]) -> Iterator[list[Any]]:
        for item in items:
            yield [item, item]

    words = text.split(",")
    sizes = [len(word) for word in words]
    groups = (
        f"{grouped(words, len)} {grouped(words, lambda w: w[:1])} {grouped(sizes, lambda n: n > 1)}"
    )
    pairs = f"{list(doubled(words))} {list(doubled(sizes))}"
    return f"{groups} {in_order(words)} {in_order(sizes)} {pairs} {heapq.nlargest(2, words)}"


def test_a_function_may_be_called_with_items_of_several_kinds() -> None:
    """Each call has containers of its own kind."""
    texts = ["b,a,b", "", "xx,y,aaa"]
    compiled = ck.udf(of_texts_and_numbers)
    assert compiled(ck.array(texts)).to_pylist() == [of_texts_and_numbers(text) for text in texts]
    assert not compiled.report().left


def deleted_in_a_loop(text: str) -> int:
    value = 5
    for place in range(len(text)):
        if place > 1:
            del value
            break
    return value


@pytest.mark.parametrize(
    "function",
    [
        deleted_in_a_loop,
        without_its_exception,
        without_its_exception_in_a_loop,
        exception_beside_an_assignment,
    ],
)
def test_a_deleted_variable_has_no_value(function: Any) -> None:
    compiled = ck.udf(function)
    for text in ("12", "a", "1a2", "a1"):
        try:
            wanted = function(text)
        except UnboundLocalError:
            with pytest.raises(UnboundLocalError):
                compiled(ck.array([text]))
        else:
            assert compiled(ck.array([text])).to_pylist() == [wanted]


TABLE = {"+": operator.add, "-": operator.sub, "*": lambda a, b: a * b, "max": max, "a": min}
STEPS = [str.upper, str.strip, str.title]


def both_ways(function: Any, a: int, b: int) -> int:
    return int(function(a, b) + function(b, a))


def got(name: str, n: int) -> int | None:
    function = TABLE.get(name)
    if function is None:
        return None
    return function(n, 3)


def passed_on(name: str, n: int) -> int:
    if name not in TABLE:
        return -1
    function = TABLE[name]
    return both_ways(function, n, 5)


def by_default(name: str, n: int) -> int:
    return TABLE.get(name, pow)(n, 2)


def by_branches(name: str, n: int) -> int:
    function = max if n > 2 else min
    if name == "+":
        function = lambda x, y: x * 100 + y + n  # noqa: E731
    return function(n, 3)


def by_place(name: str, n: int) -> str:
    return str(STEPS[n % 3](name + " aB "))


def of_a_local_table(name: str, n: int) -> int:
    by = 3
    table = {"+": lambda x: x + by, "-": lambda x: x - by}
    function = table.get(name) or (lambda x: x * by)
    return function(n)


def mapped(name: str, n: int) -> list[int]:
    return list(map(abs if name == "+" else int, [n, -n]))


@pytest.mark.parametrize(
    "function",
    [got, passed_on, by_default, by_branches, by_place, of_a_local_table, mapped],
    ids=lambda function: function.__name__,
)
def test_one_of_several_functions_is_chosen_by_the_row(function: Any) -> None:
    rows = [("+", 1), ("-", 2), ("*", 3), ("max", 4), ("zz", 5), ("a", -6), ("", 0)]
    compiled = ck.udf(function)
    results = compiled(*(ck.array(list(column)) for column in zip(*rows, strict=True)))
    assert results.to_pylist() == [function(*row) for row in rows]
    assert not compiled.report().left


def test_a_name_that_means_something_else_where_a_callback_is_called_is_refused() -> None:
    def scaled(x: int) -> int:
        base = 2
        return shadowing(lambda q: q * base, x)

    with pytest.raises(ck.CompileError, match="base in a function that shadowing calls"):
        ck.udf(scaled)(ck.array([1]))


def of_own_dict(s: str) -> int:
    def dict(a: int) -> int:
        return a + 1

    return dict(a=len(s))


def in_a_function(s: str) -> int:
    def inner(n: int) -> int:
        def dict(a: int) -> int:
            return a + 1

        return dict(a=n)

    return inner(len(s))


def of_a_capture(s: str) -> int:
    match len(s):
        case dict if dict > 5:  # type: ignore[misc]
            return dict(a=1)["a"]  # type: ignore[no-any-return]
    return 0


def of_the_rest(s: str) -> int:
    match [len(s), 1]:
        case [7, *dict]:  # type: ignore[misc]
            return len(dict(a=1))  # type: ignore[operator]
    return 0


@pytest.mark.parametrize("function", [of_own_dict, in_a_function])
def test_an_own_function_may_be_named_dict(function: Callable[..., Any]) -> None:
    got, want = run(function, [["", "ab"]])
    assert got == want


@pytest.mark.parametrize("function", [of_a_capture, of_the_rest])
def test_a_capture_may_be_named_dict(function: Callable[..., Any]) -> None:
    compiled = ck.udf(function)
    assert compiled(ck.array(["", "ab"])).to_pylist() == [0, 0]
    with pytest.raises(TypeError):
        compiled(ck.array(["longer!"]))


AT_THE_MARGIN = '''
"""
def plain(x):
"""
def plain(
    x: int,
) -> int:
# a comment

    return x + (
1
)


@(
lambda f: f
)
def decorated(x: int) -> str:
    return f"{x}" + """
def plain(x):
    return x
""" + "a\\
b"


def last(x: int) -> int:
    y = x * \\
3
    return y
def beside(x: int) -> int: return x - 1
'''
"""Functions with lines at the left margin that do not end them."""


@pytest.mark.parametrize("name", ["plain", "decorated", "last", "beside"])
def test_lines_at_the_margin_may_belong_to_a_function(name: str, tmp_path: Path) -> None:
    path = tmp_path / "margin.py"
    path.write_text(AT_THE_MARGIN)
    names: dict[str, Any] = {"__name__": "margin"}
    exec(compile(AT_THE_MARGIN, str(path), "exec"), names)
    function = names[name]
    assert ck.udf(function)(ck.array([1, 2])).to_pylist() == [function(1), function(2)]
