"""Row functions with helpers, loops' else, assignment expressions, recursion, generators."""

from __future__ import annotations

import functools
import operator
import re

from . import values
from .case import case

LIMITS = [10, 20, 50, 100]
FACTOR = 3


def clamp(value, low=0, high=100):
    return max(low, min(value, high))


def pieces(text, size=3):
    for i in range(0, len(text), size):
        yield text[i : i + size]


def depth_of(n: int) -> int:
    if n <= 1:
        return 0
    return 1 + depth_of(n // 2)


@case(rows=[values.integers(1)], covers="helper of the module with defaults, keyword argument")
def clamped(n: int) -> int:
    return clamp(n) + clamp(n, high=10) + clamp(n, -5)


@case(rows=[values.words(2)], covers="generator function as a helper")
def in_pieces(word: str) -> str:
    return "-".join(pieces(word))


@case(rows=[values.between(3, 0, 10**6)], covers="recursive helper")
def tree_depth(n: int) -> int:
    return depth_of(n)


@case(rows=[values.integers(4), values.integers(5)], covers="nested function with a closure")
def scaled(a: int, b: int) -> int:
    step = FACTOR if b > 0 else 1

    def times(x: int) -> int:
        return x * step

    return times(a) - times(b % 10)


@case(rows=[values.between(6, 0, 150)], covers="for/else with return")
def band(value: int) -> int:
    for i, limit in enumerate(LIMITS):
        if value < limit:
            break
    else:
        i = len(LIMITS)
    return i


@case(rows=[values.between(7, 1, 400)], covers="while/else")
def square_below(n: int) -> int:
    k = 1
    while k * k < n:
        if k == 15:
            break
        k += 1
    else:
        return k
    return -k


@case(rows=[values.sentences(8)], covers="assignment expression in a condition and comprehension")
def long_words(text: str) -> str:
    if (n := len(text)) > 60:
        return f"long {n}"
    return " ".join(u for w in text.split() if len(u := w.upper()) > 4)


@case(rows=[values.sentences(9)], covers="assignment expression in while")
def spaces(text: str) -> int:
    count, rest = 0, text
    while (at := rest.find(" ")) >= 0:
        rest = rest[at + 1 :]
        count += 1
    return count


@case(rows=[values.number_lists(10)], covers="functools.reduce with a lambda, operator")
def product(numbers: list[int]) -> int:
    return functools.reduce(operator.mul, numbers[:5], 1)


@case(
    rows=[values.number_lists(13)], covers="functools.reduce without an initial value, of nothing"
)
def folded(numbers: list[int]) -> int:
    try:
        return functools.reduce(lambda total, n: (total * 31 + n) % 1_000_003, numbers)
    except TypeError:
        return -1


@case(rows=[values.sentences(14)], covers="functools.reduce of texts, its exception caught")
def longest_word(text: str) -> str:
    try:
        return functools.reduce(lambda a, b: b if len(b) > len(a) else a, text.split())
    except TypeError as error:
        return str(error)


@case(rows=[values.number_lists(11)], covers="any, all, generators with conditions")
def pattern(numbers: list[int]) -> str:
    if all(n >= 0 for n in numbers):
        return "all positive" if numbers else "none"
    if any(n > 40 for n in numbers):
        return "high"
    return "mixed"


@case(rows=[values.number_lists(12)], covers="map, filter with lambda, sum")
def squares_of_even(numbers: list[int]) -> int:
    return sum(map(lambda n: n * n, filter(lambda n: n % 2 == 0, numbers[-4:])))


@case(rows=[values.integers(13)], covers="a variable of several kinds")
def several_kinds(n: int) -> str:
    value = n
    value = value / 2  # type: ignore[assignment]
    value = f"{value:.1f}"  # type: ignore[assignment]
    if n < 0:
        value = None  # type: ignore[assignment]
    return value or "negative"  # type: ignore[return-value]


@case(rows=[values.integers(14), values.flags(14)], covers="chained comparison, not, xor of bools")
def conditions(n: int, flag: bool) -> bool:
    return (0 < n < 500) ^ flag and not n == 7


@case(
    rows=[values.words(15), values.integers(15)],
    covers="match on kinds of literals and None",
    raises=False,
)
def describe(word: str | None, n: int | None) -> str:
    match (word, n):
        case (None, None):
            return "nothing"
        case (None, x):
            return f"number {x}"
        case ("river" | "stone" as w, _):
            return w.upper()
        case (w, None):
            return w
        case (w, 0):
            return w + "0"
    return "both"


@case(
    rows=[values.between(16, 0, 5), values.between(17, 0, 5)],
    covers="continue, nested loops, break with flag",
)
def first_pair(a: int, b: int) -> int:
    actual = -1
    for i in range(a + 1):
        if i == 2:
            continue
        for j in range(b + 1):
            if i * j == 6:
                actual = i * 10 + j
                break
        if actual >= 0:
            break
    return actual


@case(
    rows=[values.floats(18), values.floats(19)],
    covers="conditional expressions nested, None compare",
)
def larger(a: float | None, b: float | None) -> float | None:
    return b if a is None else a if b is None else a if a >= b else b


@case(rows=[values.integers(20)], covers="augmented assignments of all sorts")
def augmented(n: int) -> int:
    x = n
    x += 3
    x *= 2
    x -= n // 2
    x //= 3
    x %= 1000
    x ^= 5
    x |= 8
    x &= 0xFFF
    x <<= 2
    x >>= 1
    x **= 2
    return x


@case(rows=[values.words(21)], covers="finally with a result, try in a loop, pass")
def tries(word: str) -> int:
    n = 0
    for place in (0, 3, 6):
        try:
            n += ord(word[place])
        except IndexError:
            pass
        finally:
            n += 1
    return n


@case(
    rows=[values.integers(22), values.between(23, 0, 6)], covers="raise in a helper, caught outside"
)
def safe(a: int, b: int) -> int:
    def checked(x):
        if x == 0 or a % x:
            raise ValueError("no divisor")
        return a // x

    try:
        return checked(b)
    except ValueError:
        return -1


@case(
    rows=[values.word_lists(24)],
    covers="iteration with zip and slices, loop variable after the loop",
)
def last_change(words: list[str]) -> str:
    w = "none"
    for w, following in zip(words, words[1:]):
        if w > following:
            break
    return w


@case(
    rows=[values.integers(25)], covers="closure constants, tuple of functions called", raises=False
)
def composed(n):
    half = lambda x: x // 2  # noqa: E731
    steps = (half, abs, str)
    for step in steps[:2]:
        n = step(n)
    return steps[2](n)


@case(rows=[values.between(26, 0, 99)], covers="text by constant list and tuple tables")
def in_words(n: int) -> str:
    ones = "zero one two three four five six seven eight nine ten eleven twelve".split()
    tens = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
    if n < 13:
        return ones[n]
    if n < 20:
        return {13: "thirteen", 15: "fifteen", 18: "eighteen"}.get(n, ones[n - 10] + "teen")
    return tens[n // 10] + ("-" + ones[n % 10] if n % 10 else "")


@case(
    rows=[values.names(27), values.integers(27)],
    covers="`*` and `**` in calls, functions with defaults",
)
def spread(name: str, n: int) -> str:
    def shown(first: str, last: str = "-", *, width: int = 6) -> str:
        return f"{first:>{width}}|{last}"

    words = {"width": 8}
    head, *_ = (*name.split(), "", "")
    return shown(*(head, str(n % 100)), **words) + "{}:{}".format(*divmod(n % 100, 7))


@case(rows=[values.clocks(28)], covers="starred targets of groups, range as a value")
def office_hour(text: str) -> bool:
    actual = re.match(r"(\d{1,2})(:)(\d{2})", text)
    if actual is None:
        return False
    hour, *_, minute = actual.groups()
    office = range(9, 17)
    return int(hour) in office and int(minute) in range(0, 60, 15)


def visit(n, depth=0):
    if n <= 1:
        return depth
    return even(n, depth + 1) if n % 2 == 0 else odd(n, depth + 1)


def even(n, depth):
    return visit(n // 2, depth)


def odd(n, depth):
    return visit(3 * n + 1, depth)


@case(rows=[values.between(33, 0, 60)], covers="functions that call each other in turn")
def steps(n: int) -> int:
    return visit(n)


def parse_expr(s, i):
    val, i = parse_term(s, i)
    while i < len(s) and s[i] in "+-":
        op = s[i]
        right, i = parse_term(s, i + 1)
        val = val + right if op == "+" else val - right
    return val, i


def parse_term(s, i):
    val, i = parse_atom(s, i)
    while i < len(s) and s[i] == "*":
        right, i = parse_atom(s, i + 1)
        val = val * right
    return val, i


def parse_atom(s, i):
    if i < len(s) and s[i] == "(":
        val, i = parse_expr(s, i + 1)
        return val, i + 1
    j = i
    while j < len(s) and s[j].isdigit():
        j += 1
    if j == i:
        raise ValueError(f"bad at {i}")
    return int(s[i:j]), j


@case(
    rows=[values.one_of(35, ["1+2*3", "(1+2)*3", "2*(3+(4-1))", "7", "", "1+", "((2))*8-1"])],
    covers="a parser of functions that call each other",
)
def evaluate2(s: str) -> int | None:
    try:
        val, end = parse_expr(s, 0)
    except (ValueError, RecursionError):
        return None
    return val if end == len(s) else None


@case(rows=[values.sentences(20)], covers="patterns with a star")
def stars(s: str) -> str:
    match s.split():
        case [first, *rest, last] if len(rest) > 2:
            return f"{first} {len(rest)} {rest[0]} {last}"
        case [only]:
            return only
        case [*all_]:
            return "-".join(all_)


@case(
    rows=[values.one_of(26, ["start", "stop", "go 5", "go x", "turn left"])],
    covers="patterns of texts",
)
def command(s: str) -> str:
    match s.split():
        case ["start" | "stop" as verb]:
            return verb.upper()
        case ["go", n] if n.isdigit():
            return f"GO {int(n):03d}"
        case ["turn", ("left" | "right") as side]:
            return side
        case _:
            return "?"


@case(rows=[values.sentences(25)], covers="branches of several kinds in formats")
def either(s: str) -> str:
    n = s.count("e")
    return (
        f"{n if n else 'none':>5}|{s.find('x') or 'start'!r}|{len(s) or '-'}|{s[:3] if s else None}"
    )


@case(rows=[values.integers(28)], covers="int of several kinds")
def int_or(n: int) -> int:
    return int(n or "7") + int("3" if n > 5 else n) + int(n > 3 and n or 2.5)


class Rejected(ValueError):
    """A value that an order cannot have."""

    status = 422

    def __init__(self, field: str, value: str) -> None:
        super().__init__(f"{field}: {value!r} is no number")
        self.field = field


def number_in(field: str, text: str) -> int:
    if not text.isdigit():
        raise Rejected(field, text)
    return int(text)


@case(
    rows=[values.one_of(29, ["3x40", "12x7", "x", "ax5", "5xb", "7x", "100x100"])],
    covers="an exception of a helper, and its fields",
)
def area_or_error(s: str) -> str:
    try:
        width, _, height = s.partition("x")
        return str(number_in("width", width) * number_in("height", height))
    except Rejected as error:
        return f"{error.status} {error.field} {error}"
