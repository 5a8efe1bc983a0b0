"""Row functions in the words of people's own code, against the plain function over the same rows."""

from __future__ import annotations

import gettext
import logging
import math
import operator
import re
import sys
import threading
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import compress, cycle, groupby, pairwise, product, starmap
from typing import Any, NamedTuple

import pytest

import colkern as ck
from colkern.errors import CompileError, UnsupportedError

NUMBERS = [0, 1, 2, -1, -3]


def outcome(function: Callable[..., Any], *row: Any) -> Any:
    """A function's result, or the exception that it raises."""
    try:
        return function(*row)
    except Exception as error:  # noqa: BLE001
        return type(error), str(error)


# Tuples whose items the row chooses

STEPS = ((0, 1, 2), (1, 5, 7))
NAMED = [(("a", 1), ("b", 2)), (("c", 3), ("d", 4))]


def of_constants(n: int) -> int:
    return STEPS[n][n] + NAMED[n][n][1]


def of_the_row(n: int) -> int:
    return (n, n * n, 7)[n]


def of_lists(n: int) -> list[int]:
    pair = ([n], [n, n])
    pair[n].append(3)
    return pair[n]


def that_is_lacked(n: int) -> str:
    try:
        return str((n, 5)[n])
    except IndexError as error:
        return str(error)


@pytest.mark.parametrize("function", [of_constants, of_the_row, of_lists, that_is_lacked])
def test_an_item_of_a_tuple_may_be_one_that_the_row_chooses(function: Callable[[int], Any]) -> None:
    compiled = ck.udf(function)
    for n in NUMBERS:
        assert outcome(lambda n: compiled(ck.array([n])).to_pylist()[0], n) == outcome(function, n)


# Lists of a length that the row chooses, which are filled later


def of_numbers_that_become_floats(n: int) -> float:
    table: list[float] = [0] * 4
    table[n] = 0.5
    return sum(table) + table[0]


def of_infinities(n: int) -> float:
    costs = [math.inf] * 5 + [-1]
    costs[n] = 1
    return min(costs[n] + costs[4], costs[n] ** 2)


def of_none(n: int) -> int:
    table: list[list[Any]] = [[None] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            table[i][j] = i * j + n
    row = table[2][:]
    row[n] = None
    return sum(each or 7 for each in row)


def of_sums(n: int) -> float:
    items: list[float] = [n]
    for i in range(3):
        items = items + [i / 2]  # noqa: RUF005
    return sum(items) + len(items)


def of_a_tuple(n: int) -> str:
    weights = (3, 1) * abs(n) + (0,)
    return f"{weights} {sum(weights[1:])}"


@pytest.mark.parametrize(
    "function", [of_numbers_that_become_floats, of_infinities, of_none, of_sums, of_a_tuple]
)
def test_a_list_takes_items_of_another_type_later(function: Callable[[int], Any]) -> None:
    compiled = ck.udf(function)
    for n in NUMBERS:
        assert outcome(lambda n: compiled(ck.array([n])).to_pylist()[0], n) == outcome(function, n)
    assert not compiled.report().left


def test_a_power_of_an_integer_beside_floats_is_exact() -> None:
    def powers(n: int) -> int:
        sides: list[Any] = [0.5, 10]
        return int(pow(sides[n], 400) % 7) + int(sides[n] ** 400 % 7)

    assert ck.udf(powers)(ck.array([1])).to_pylist() == [powers(1)]


# Integers of more than 64 bits in tables


UNITS = [("B", 1), ("K", 1 << 10), ("E", 1 << 60), ("Z", 1 << 70)]
FARTHEST = 10**24
FAR = [0, 1, -1, 1023, 1024, (1 << 53) + 1, (1 << 63) - 1, -(1 << 63), 3 << 40]


def unit_above(n: int) -> str:
    for name, size in UNITS:
        if n < size:
            return name
    return "all" if n < FARTHEST else "none"


def unit_below(n: int) -> str:
    for name, size in reversed(UNITS):
        if n >= size:
            return name
    return "none"


def compared(x: float) -> str:
    return f"{x > 1 << 80} {x == 1 << 70} {x != 1 << 70} {x >= -(1 << 70)} {x == FARTHEST / 1}"


@pytest.mark.parametrize("function", [unit_above, unit_below, compared])
def test_an_integer_of_more_than_64_bits_is_compared(function: Callable[..., Any]) -> None:
    floats = [*map(float, FAR), 2.0**70, 2.0**71, -(2.0**90), 1e24, math.inf, -math.inf, math.nan]
    values = floats if function is compared else FAR
    compiled = ck.udf(function)
    assert compiled(ck.array(values)).to_pylist() == [function(value) for value in values]
    assert not compiled.report().left


def test_a_result_without_fields_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="without fields"):
        ck.udf(lambda n: () if n else None)(ck.array([1]))


def test_no_iterator_of_pairs_is_reversed() -> None:
    def sizes(n: int) -> list[int]:
        return [size - n for _, size in reversed(enumerate((n, 2)))]  # type: ignore[call-overload]

    with pytest.raises(CompileError, match="does not compile"):
        ck.udf(sizes)


# Formats whose sizes are parts of a specification


def by_builtin(n: int) -> str:
    return format(n / 3, f".{abs(n)}f") + format(n, f">{abs(n) + 2}")


def by_method(n: int) -> str:
    return "{:.{}f}|{:>{w}}|{!r:>{w}}".format(n / 3, abs(n), n, n, w=abs(n) + 4)


def by_numbers(n: int) -> str:
    return "{1:{0}}|{2:.{p}e}|{name:{fill}>{0}}".format(6, n, n / 7, p=2, name="x", fill="*")


# All matches of a pattern that may match nothing


def matches_of_nothing(n: int) -> list[str]:
    text = "a1é--b22 "[: 4 - n] + "xx"
    return [f"{m.start()}{m.group()}" for m in re.finditer(r"[a-z]*|\d", text)]


def put_between(n: int) -> str:
    return re.sub("x*", lambda m: f"<{m.group()}>", "axx-"[n:] + "é x")


# Named tuples of iterables, and constructors that take a list of any length


class Pair(NamedTuple):
    low: int
    high: int


def made(n: int) -> int:
    pair = Pair._make(int(part) for part in f"{n}/7".split("/"))
    return pair.high * 10 + pair.low


def at(n: int) -> datetime:
    return datetime(*[int(part) for part in ["2024", "2", "28", "10", "5", "6", "7"][: 5 + n]])


# Patterns that only a `try` names, and methods of patterns with a name


def parsed(n: int) -> dict[str, str] | None:
    try:
        pattern = r"(?P<sign>-?)(?P<digits>[1-9])"
        return re.match(pattern, str(n)).groupdict()  # type: ignore[union-attr]
    except AttributeError:
        return None


find_sign = re.compile("-").search
replace_digits = re.compile("[1-3]").sub


def by_name(n: int) -> str:
    return replace_digits("d", str(n)) + ("" if find_sign(str(n)) is None else "!")


TRANSLATIONS = {None: gettext.NullTranslations()}
HERE = threading.local()
PARTS = (None, "a") * 110


def translation() -> gettext.NullTranslations:
    return TRANSLATIONS.get(getattr(HERE, "locale", None), TRANSLATIONS[None])


def by_an_object_that_a_function_returns(n: int) -> str:
    return translation().ngettext("one", "several", n) + {None: "!"}.get(None, "?")


def index(n: int) -> int:
    try:
        return operator.index(n)
    except TypeError:
        pass
    return sys._getframe(1).f_lineno


def by_a_try_that_always_returns(n: int) -> str:
    return str(index(n))


def by_a_function_that_a_function_returns(n: int) -> str:
    def get() -> Callable[[object], str]:
        return repr

    return get()(n)


def by_pairs_of_groups(n: int) -> str:
    runs = "".join(f"{pair[0]}{len(list(pair[1]))}" for pair in groupby(f"{n}aab"))
    return runs + "".join(pair[0] for pair in groupby("aab"))


def by_a_computed_format(n: int, digits: int = 2) -> str:
    form = f"{{:.{int(digits)}e}}"
    return form.format(float(n))


def total(*parts: str | None) -> int:
    return sum(len(part or "") for part in parts)


def by_many_items(n: int) -> int:
    return total(str(n), *PARTS)


IDIOMS = [
    by_an_object_that_a_function_returns,
    by_a_try_that_always_returns,
    by_a_function_that_a_function_returns,
    by_pairs_of_groups,
    by_a_computed_format,
    by_many_items,
    by_builtin,
    by_method,
    by_numbers,
    matches_of_nothing,
    put_between,
    made,
    at,
    parsed,
    by_name,
]


@pytest.mark.parametrize("function", IDIOMS)
def test_an_idiom_gives_what_python_gives(function: Callable[[int], Any]) -> None:
    compiled = ck.udf(function)
    for n in NUMBERS:
        assert outcome(lambda n: compiled(ck.array([n])).to_pylist()[0], n) == outcome(function, n)
    assert compiled.report().left == {}


def test_each_thread_has_its_own_attributes_of_a_local_object() -> None:
    def located(text: str) -> str:
        return {None: "-", "de": "+"}.get(getattr(HERE, "locale", None), "?") + text

    compiled, rows = ck.udf(located), ck.array(["a"])

    def there(locale: str) -> list[Any]:
        HERE.locale = locale
        return compiled(rows).to_pylist()

    assert compiled(rows).to_pylist() == ["-a"]
    with ThreadPoolExecutor(1) as pool:
        assert [*pool.map(there, ["de", "fr"])] == [["+a"], ["?a"]]
    assert compiled(rows).to_pylist() == ["-a"]


def test_a_format_that_depends_on_the_row_leaves_it() -> None:
    def counted(n: int) -> str:
        return ("%d of " + "%d" * abs(n)) % (n,) if n else "none"

    compiled = ck.udf(counted)
    assert compiled(ck.array([0, 0])).to_pylist() == ["none", "none"]
    assert compiled.report().left == {}


# Reports that nobody sees are none


def by_a_logger(n: int) -> int:
    log = logging.getLogger("colkern.tests")
    log.debug("%s of %d", str(n), 1 // n, extra={"n": n})
    if log.isEnabledFor(logging.INFO):
        log.log(logging.INFO, n)
    logging.info("n")
    return abs(n)


def by_a_warning(n: int) -> int:
    warnings.warn(f"negative: {1 // n}", DeprecationWarning, stacklevel=2)
    warnings.warn("negative", UserWarning)  # noqa: B028
    return abs(n)


def test_calls_of_loggers_that_are_not_enabled_evaluate_their_arguments(
    caplog: pytest.LogCaptureFixture,
) -> None:
    compiled, rows = ck.udf(by_a_logger), ck.array([3, -3])
    for enabled in (False, True, False):
        caplog.clear()
        with caplog.at_level(logging.INFO if enabled else logging.WARNING):
            caplog.set_level(logging.DEBUG if enabled else logging.WARNING, "colkern.tests")
            before = compiled.report().copy()
            assert compiled(rows).to_pylist() == [3, 3]
        left = compiled.report().since(before).left
        assert (len(caplog.records), sum(left.values())) == ((6, 2) if enabled else (0, 0))
    with pytest.raises(ZeroDivisionError):
        compiled(ck.array([0]))


def test_warnings_that_filters_ignore_evaluate_their_arguments() -> None:
    compiled, rows = ck.udf(by_a_warning), ck.array([3, -3])
    for last in (None, ("always", "", DeprecationWarning, "elsewhere"), ("always", "neg"), None):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            if last:
                warnings.filterwarnings(*last)
            before = compiled.report().copy()
            assert compiled(rows).to_pylist() == [3, 3]
        # The text and the module are not looked at.
        left = compiled.report().since(before).left
        assert (sum(left.values()), len(caught)) == ((2, 4 * (len(last) == 2)) if last else (0, 0))
    with warnings.catch_warnings(action="ignore"), pytest.raises(ZeroDivisionError):
        compiled(ck.array([0]))


# Classes


@dataclass
class Vector:
    x: float
    y: float

    def __abs__(self) -> float:
        return math.hypot(self.x, self.y)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y)

    def __pos__(self) -> float:
        return self.x

    def __invert__(self) -> float:
        return self.y

    def __matmul__(self, other: Vector) -> float:
        return self.x * other.x + self.y * other.y

    def __round__(self, digits: int = 0) -> Vector:
        return Vector(round(self.x, digits), round(self.y, digits))

    def __int__(self) -> int:
        return int(self.x)

    def __float__(self) -> float:
        return self.y / 2

    def __iter__(self) -> Iterator[float]:
        yield self.x
        yield self.y


class Steps:
    def __init__(self, n: int) -> None:
        self.items = [n, n + 1]

    def __iter__(self) -> Iterator[int]:
        return iter(self.items)

    def add(self, n: int) -> None:
        self.items.append(n)


class Shape:
    sides = 0

    def name(self) -> str:
        return f"shape of {self.sides}"


class Square(Shape):
    sides = 4


class Below(NamedTuple):
    n: int

    def __neg__(self) -> int:
        return -1 - self.n


def by_operators(n: int) -> float:
    v = Vector(n / 3, 2.0)
    return abs(-v) + (v @ round(v, 1)) + round(v).x + (+v) + (~v) + (-Below(n))


def by_conversions(n: int) -> float:
    return int(Vector(n * 1.5, 1.0)) + float(Vector(1.0, n * 1.0))


def gone_over(n: int) -> float:
    x, y = Vector(n * 1.0, 5.0)
    first, *rest = Steps(n)
    first, second = Steps(first)
    total = sum(Vector(x, 1.0)) + len(list(Steps(n))) + (n * 1.0 in Vector(1.0, 2.0)) + rest[-1]
    for step in Steps(n):
        total += step
    return total + x * 10 + y + first + second


def grown_while_gone_over(n: int) -> int:
    steps = Steps(n)
    for step in steps:
        if len(steps.items) > 5:
            break
        steps.add(step)
    return len(steps.items)


def without_a_constructor(n: int) -> str:
    shape = Square() if n > 0 else Shape()
    return shape.name() + {"a": Square, "b": Shape}["a" if n else "b"]().name()


@pytest.mark.parametrize(
    ("function", "most_left"),
    [
        *((function, 0) for function in (by_operators, by_conversions, gone_over)),
        *((without_a_constructor, 0), (grown_while_gone_over, len(NUMBERS))),
    ],
)
def test_special_methods_that_operators_loops_and_conversions_call(
    function: Callable[[int], Any], most_left: int
) -> None:
    compiled = ck.udf(function)
    assert compiled(ck.array(NUMBERS)).to_pylist() == [*map(function, NUMBERS)]
    assert sum(compiled.report().left.values()) <= most_left


# Sets, whose order is unknown

WORDS = [["a", "bb", "a"], [], ["ccc", ""], ["x", "yy", "zzz", "y"], ["bb", "cc"], ["wwww", ""]]


def in_sums(words: list[str]) -> int:
    counts, others = Counter(words), Counter(words[:2])
    keys = set(counts) | set(others)
    return sum(min(counts[k], others[k]) for k in keys) + sum([max(len(k), 1) for k in keys])


def in_extremes(words: list[str]) -> str:
    lengths = [len(w) for w in words]
    return f"{max((n * 2 for n in set(lengths)), default=0)} {min(w.upper() for w in set(words))}"


def in_order(words: list[str]) -> list[str]:
    return sorted(w.upper() for w in set(words) if w)


def in_sets(words: list[str]) -> int:
    return len({w[:1] for w in set(words)}) * 100 + len(set(w[1:] for w in set(words)))  # noqa: C401


def in_handlers(words: list[str]) -> str:
    try:
        return str(sum(10 // len(w) + [1, 2, 3][len(w)] for w in set(words)))
    except (ZeroDivisionError, IndexError) as error:
        return str(error)


def by_keys(words: list[str]) -> str:
    return max((w for w in set(words)), key=len, default="")


def in_tests(words: list[str]) -> bool:
    few = set(words)
    return any(10 // len(w) > 2 for w in few) or all(w in words[1:] for w in few)


@pytest.mark.parametrize(
    "function", [in_sums, in_extremes, in_order, in_sets, in_handlers, by_keys, in_tests]
)
def test_sets_are_gone_over_where_their_order_does_not_matter(
    function: Callable[[list[str]], Any],
) -> None:
    compiled = ck.udf(function)
    for words in WORDS:
        got = outcome(
            lambda row: compiled(ck.array([row], ck.list_(ck.utf8()))).to_pylist()[0], words
        )
        assert got == outcome(function, words)


def of_a_list(words: list[str]) -> list[str]:
    return [w for w in {*words}]  # noqa: C416


def of_floats(words: list[str]) -> float:
    return sum(len(w) / 3 for w in set(words))


def of_zeros(words: list[str]) -> float:
    return max(len(w) * -0.0 for w in set(words))


def of_effects(words: list[str]) -> list[str]:
    found: list[str] = []
    if sum(found.append(w) or 1 for w in set(words)):  # type: ignore[func-returns-value,misc]
        return found
    return words


def of_defaults(words: list[str]) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    return [*counts] if sum(counts[w] for w in set(words)) else words


def of_names(words: list[str]) -> int:
    last = 0
    return sum((last := len(w)) for w in set(words)) + last


def of_iterators(words: list[str]) -> int:
    rest = iter(words)
    return sum(w in rest for w in set(words))


@pytest.mark.parametrize(
    "function",
    [of_a_list, of_floats, of_zeros, of_effects, of_defaults, of_names, of_iterators],
)
def test_the_order_of_a_set_is_refused_where_it_matters(function: Callable[..., Any]) -> None:
    with pytest.raises(ck.CompileError, match="order"):
        ck.udf(function)


# Hashes, of which a mask keeps the low bits


def masked(x: int, y: int) -> int:
    return (x * y + x - 3) & 0xFFFFFFFF


def remainder_of_power(x: int, y: int) -> int:
    return (x * 6364136223846793005 + y) % 2**32


def rounds(x: int, y: int) -> int:
    for _ in range(9):
        x = (x ^ y) * 0x100000001B3 & 0xFFFFFFFFFFFF
    return x


EXTREMES = [0, 1, -1, 3, 2**32 + 1, 2**63 - 1, -(2**63), -(2**40)]


@pytest.mark.parametrize("function", [masked, remainder_of_power, rounds])
def test_low_bits_of_sums_and_products_leave_no_row(function: Callable[..., Any]) -> None:
    rows = [(x, y) for x in EXTREMES for y in EXTREMES]
    compiled = ck.udf(function)
    assert compiled(*map(ck.array, zip(*rows, strict=True))).to_pylist() == [
        function(*row) for row in rows
    ]
    assert not compiled.report().left


def test_other_remainders_and_masks_keep_all_bits() -> None:
    for function in (lambda x: x * 3 % 10, lambda x: x * 3 % -8, lambda x: (x * 3 & -2) % 7):
        compiled = ck.udf(function)
        assert compiled(ck.array(EXTREMES)).to_pylist() == [function(x) for x in EXTREMES]
        assert compiled.report().left


# Iterators for functions of itertools, and iterables for methods of sets


def products(numbers: list[int]) -> int:
    return sum(starmap(operator.mul, pairwise(numbers)))


def chosen(numbers: list[int]) -> list[int]:
    return list(compress(numbers, map((1).__lt__, numbers)))


def first_quotient(numbers: list[int]) -> int:
    return next(starmap(operator.floordiv, ((6, n) for n in numbers)))


def every_second(numbers: list[int]) -> list[int]:
    return list(compress(numbers, cycle([1, 0])))


def in_both(numbers: list[int]) -> list[int]:
    return sorted(set(numbers).intersection(n + 1 for n in numbers))


def in_either(numbers: list[int]) -> list[int]:
    return sorted({7}.union(numbers) | {9}.union(n * 2 for n in numbers) | {1}.union(range(2)))


def without(numbers: list[int]) -> tuple[list[int], bool, bool]:
    return sorted({1, 2}.difference(numbers)), {1}.issubset(numbers), {1, 2}.issuperset(numbers)


@pytest.mark.parametrize(
    "function", [products, chosen, every_second, first_quotient, in_both, in_either, without]
)
def test_iterators_and_iterables_as_arguments(function: Callable[[list[int]], Any]) -> None:
    compiled = ck.udf(function)
    for numbers in ([], [1, 2, 3, 2], [2, 0], [0, 1]):
        expected = outcome(function, numbers)
        assert outcome(lambda n: compiled(ck.array([n], ROWS)).to_pylist()[0], numbers) == (
            {f"f{place}": part for place, part in enumerate(expected)}
            if function is without
            else expected
        )


ROWS = ck.list_(ck.int64())


# The dictionary of a match, which changes


def counted(text: str) -> dict[str, Any]:
    found = re.match(r"(?P<word>[a-z]*)(?P<digits>\d*)", text)
    row: dict[str, Any] = found.groupdict()  # type: ignore[union-attr]
    row["digits"] = int(row["digits"] or 0)
    if row["word"] == "b":
        row["word"] = "B"
    return row


def test_a_new_dictionary_of_known_names_may_change() -> None:
    compiled, texts = ck.udf(counted, returns=None), ["ab12", "b", ""]
    assert compiled(ck.array(texts)).to_pylist() == [counted(text) for text in texts]
    assert not compiled.report().left


# Functions that make functions, tables that are displays, and None in place of a container


def scaler(factor: int) -> Callable[[int], int]:
    """A function that multiplies."""

    def scale(x: int) -> int:
        return x * factor

    return scale


def printer(factor: int) -> Callable[[int], int]:
    print("made")
    return lambda x: x * factor


KNOWN = {1: 5}


def powers(n: int) -> int:
    square, cube = raised_to(2), raised_to(3)
    return square(n) + cube(n) + scaler(factor=2)(n)


raised_to: Callable[[int], Callable[[int], int]] = lambda e: lambda b: b**e  # noqa: E731


def of_range(n: int) -> list[int]:
    return [*map(scaler(3), range(n)), *(raised_to(e)(n) for e in (1, 2))]


@pytest.mark.parametrize("function", [powers, of_range])
def test_functions_made_of_constants(function: Callable[[int], Any]) -> None:
    compiled = ck.udf(function)
    assert compiled(ck.array(NUMBERS)).to_pylist() == [*map(function, NUMBERS)]
    assert not compiled.report().left


def test_functions_that_do_more_than_make_one_are_not_called() -> None:
    with pytest.raises(ck.CompileError, match="no output"):
        ck.udf(lambda n: printer(2)(n))(ck.array([1]))


def twice(function: Callable[[int], int]) -> Callable[[int], int]:
    def run(x: int) -> int:
        k = 100
        return function(function(x)) + k

    return run


def test_names_of_local_functions_mean_what_they_mean_where_these_are_defined() -> None:
    def moved(n: int) -> int:
        k = 3
        return twice(lambda x: x + k)(n)

    with pytest.warns(UserWarning, match="moved runs in Python"):
        compiled = ck.udf(moved, fallback=True)
    assert compiled(ck.array([1])).to_pylist() == [moved(1)] == [107]


def test_a_constant_that_a_made_function_has_may_change() -> None:
    compiled = ck.udf(lambda n: key_of(KNOWN)(n))
    assert compiled(ck.array([1, 2])).to_pylist() == [5, 0]
    KNOWN[2] = 7
    assert compiled(ck.array([1, 2])).to_pylist() == [5, 7]
    del KNOWN[2]


def key_of(table: dict[int, int]) -> Callable[[int], int]:
    return lambda key: table.get(key, 0)


class Marked(dict[int, str]):
    """A table that has a text for each character."""

    def __missing__(self, key: int) -> str:
        return "?"


ANY = Marked({97: "b"})


@pytest.mark.parametrize(
    "function",
    [
        lambda s: s.translate({ord("a"): "4", ord("o"): None, 101: 102}),
        lambda s: s.translate({ord("a"): chr(98)}),
        lambda s: s.translate("".join(map(chr, range(96))) + "xyz"),
        lambda s: s.translate([*map(str, range(128))]),
        lambda s: s.translate({ord("ü"): "ue", ord("a"): "ä", ord("日"): None, 0x1F600: 33}),
        lambda s: s.translate({97: 0x110000}),
        lambda s: s.translate({97: b"x"}),
        lambda s: s.translate({97: 0.0}),
        lambda s: s.translate(ANY),
        lambda s: s.encode("ascii", "ignore").decode() + s.encode("ascii", errors="replace").hex(),
        lambda s: s in None,  # type: ignore[operator]
    ],
)
def test_tables_and_containers_that_are_not_usual(function: Callable[[str], Any]) -> None:
    compiled = ck.udf(function)
    for text in ("a note", "", "über日 é😀"):
        assert outcome(lambda s: compiled(ck.array([s])).to_pylist()[0], text) == outcome(
            function, text
        )


# Methods of classes, of values of other classes


def day_of_the_class(n: int) -> int:
    try:
        return datetime.date(2024, 1, n).year  # type: ignore[call-arg]
    except TypeError:
        return -1


def upper_case_of_a_number(n: int) -> str:
    try:
        return str.upper(n)
    except TypeError:
        return str.upper("a")


@pytest.mark.parametrize("function", [day_of_the_class, upper_case_of_a_number])
def test_a_method_of_a_class_takes_values_of_the_class_alone(
    function: Callable[[int], Any],
) -> None:
    """`datetime.date` is a method if `datetime` is the class, and a class if it is the module."""
    assert ck.udf(function, strict=True)(ck.array([1, 2])).to_pylist() == [*map(function, [1, 2])]


# Integers beside floats, near the largest that floats have all of

EDGE = 1 << 53


def summed_to_the_edge(n: int, x: float) -> bool:
    part = 1 if n > 0 else x
    return part + EDGE == EDGE


def chosen_below(n: int, x: float) -> str:
    chosen = x if x > 5 else 1
    return f"{chosen < n} {chosen == n} {n > chosen}"


def greatest_beside(n: int, x: float) -> bool:
    chosen = int(x) if x > 5 else 0.5
    return max(chosen, EDGE + 1) > EDGE and chosen < EDGE + 1


@pytest.mark.parametrize("function", [summed_to_the_edge, chosen_below, greatest_beside])
def test_an_integer_beside_floats_compares_as_python_compares_it(
    function: Callable[[int, float], Any],
) -> None:
    rows = [
        (EDGE + 1, float(EDGE)),
        (EDGE, float(EDGE)),
        (-EDGE, 1.0),
        (EDGE - 1, 2.0**60),
        (7, 6.5),
    ]
    results = ck.udf(function)(*map(ck.array, map(list, zip(*rows, strict=True)))).to_pylist()
    assert results == [function(*row) for row in rows]


# Matches from a position on, as in a lexer

PLACED = [re.compile(each) for each in (r"^a|\bb|(?<=x)c|$", "a*", r"(?P<as>a+?)(b|$)")]


def from_a_position(text: str, pos: int) -> str:
    matches = []
    for pattern in PLACED:
        matches += [pattern.search(text, pos), pattern.match(text, pos)]
        matches.append(pattern.fullmatch(string=text, pos=pos))
    return ";".join("-" if match is None else f"{match.span()} {match[0]}" for match in matches)


def tokens(text: str, pos: int) -> list[str]:
    found = []
    while pos < len(text) and (match := PLACED[2].match(text, pos)):
        found.append(match["as"])
        pos = match.end()
    return found


@pytest.mark.parametrize("function", [from_a_position, tokens])
def test_matches_from_a_position_on(function: Any) -> None:
    texts, places = ["", "a", "xcaab\n", "b ab"], [-9, 0, 1, 2, 4, 2**62]
    rows = list(product(texts, places))
    compiled = ck.udf(function)
    columns = [ck.array(list(column)) for column in zip(*rows, strict=True)]
    assert compiled(*columns).to_pylist() == [function(*row) for row in rows]
    assert not compiled.report().left
    # Beyond ASCII, a character is not a byte.
    assert compiled(ck.array(["éaab"]), ck.array([1])).to_pylist() == [function("éaab", 1)]
    assert compiled.report().rows == len(rows) + 1


def raising(n: int) -> None:
    if n < 0:
        raise ValueError(n)


def test_arguments_of_methods_of_constants_are_evaluated() -> None:
    def looked_up(n: int) -> str:
        return {None: "x"}.get(raising(n), "d")  # type: ignore[func-returns-value]

    def counted(n: int) -> int:
        items: list[int] = []
        "abc".count(str(items.append(n)))  # type: ignore[func-returns-value]
        return len(items)

    def found(n: int) -> int:
        place = "abc".find(part := "b")
        return place + len(part) + n

    assert ck.udf(looked_up)(ck.array([3])).to_pylist() == ["x"]
    with pytest.raises(ValueError, match="-1"):
        ck.udf(looked_up)(ck.array([-1]))
    assert ck.udf(counted)(ck.array([3])).to_pylist() == [1]
    assert ck.udf(found)(ck.array([3])).to_pylist() == [5]


def test_a_logger_is_asked_in_lists_with_nulls_and_its_fields_may_change(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def total(items: list[int]) -> int:
        sum_ = 0
        for item in items:
            if item is None:
                logging.getLogger("nulls").debug("null")
            else:
                sum_ += item
        return sum_

    def level(n: int) -> int:
        return logging.getLogger("nulls").level + n

    sums, levels = ck.udf(total), ck.udf(level)
    lists = ck.array([[1, None], [3]])
    with caplog.at_level(logging.ERROR, "nulls"):
        assert sums(lists).to_pylist() == [1, 3]
        assert levels(ck.array([1])).to_pylist() == [41]
    with caplog.at_level(logging.DEBUG, "nulls"):
        assert sums(lists).to_pylist() == [1, 3]
        assert levels(ck.array([1])).to_pylist() == [11]
    assert caplog.messages == ["null"]


def test_an_attribute_of_a_thread_may_become_an_equal_value_of_another_type() -> None:
    def shown(n: int) -> str:
        return str(getattr(HERE, "value", None)) + str(n)

    compiled = ck.udf(shown)
    for value in (1, True, 1.0, 0.0, -0.0):
        HERE.value = value
        assert compiled(ck.array([7])).to_pylist() == [f"{value}7"]


MONTHS = ("Jan", "Feb", "Mar", "Feb")


def month_of(text: str) -> int:
    try:
        return MONTHS.index(text.title()[:3]) + 1
    except ValueError as error:
        return -len(str(error))


def places_in_tuples(text: str) -> tuple[int, int, int]:
    parts = (text, text[::-1], "feb")
    return parts.count(text.lower()), parts.index("feb"), MONTHS.index(text.title(), 2)


def span(text: str) -> timedelta:
    parts = (part.partition("=") for part in text.split())
    return timedelta(**{unit: int(number) for unit, _, number in parts})


def repeated_end(end: str, start: str = "<", times: int | None = None) -> str:
    return start + end * (times or 1)


def joined_options(text: str) -> str:
    return repeated_end(**dict.fromkeys(text.split(), text))


@pytest.mark.parametrize("function", [joined_options, month_of, places_in_tuples, span])
def test_places_in_tuples_and_entries_of_dictionaries_as_arguments(function: Any) -> None:
    compiled = ck.udf(function)
    for text in [
        "feb",
        "FEB",
        "mar",
        "x",
        "",
        "end",
        "end start",
        "days=1 hours=-2",
        "days=x",
        "weeks=1 x=1",
    ]:
        actual = outcome(lambda row: compiled(ck.array([row])).to_pylist()[0], text)
        wanted = outcome(function, text)
        assert (tuple(actual.values()) if isinstance(actual, dict) else actual) == wanted
