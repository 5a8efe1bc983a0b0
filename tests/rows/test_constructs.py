"""Row functions: less common constructs, against the plain function over the same rows."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice, pairwise, takewhile
from typing import Any, NamedTuple

import pytest

import colkern as ck


def checked(
    function: Callable[..., Any], rows: Sequence[tuple[Any, ...]], left: Sequence[str] = ()
) -> None:
    """Check that a function compiles, gives what Python gives, and why rows are left."""
    compiled = ck.udf(function)
    columns = [ck.array(list(column)) for column in zip(*rows, strict=True)]
    got = compiled(*columns).to_pylist()
    want = [function(*row) for row in rows]
    assert got == [
        {f"f{k}": x for k, x in enumerate(w)} if isinstance(w, tuple) else w for w in want
    ]
    assert [site.reason for site in compiled.report().sites if site] == list(left)


SCANNER = re.compile(r"(?P<number>\d+)|(?P<name>[a-z]\w*)|(?P<space> +)|(.)")


def test_a_scanner_tells_the_kinds_of_its_tokens() -> None:
    def tokens(text: str) -> str:
        actual = SCANNER.match(text)
        first = f"{actual.lastgroup} {actual.lastindex} in {actual.string}" if actual else "none"
        kinds = [f"{m.lastgroup}={m[0]}" for m in SCANNER.finditer(text) if m.lastgroup != "space"]
        texts = [str(m[m.lastgroup]) for m in SCANNER.finditer(text) if m.lastgroup]
        texts += [str(m.group(m.lastindex)) for m in SCANNER.finditer(text) if m.lastindex]
        return first + ":" + ",".join([*kinds, *texts])

    checked(tokens, [("x1 = 23+y",), ("",), (" é",), ("+7",)])


def test_a_group_that_a_row_names() -> None:
    def part(text: str, which: str) -> str | None:
        actual = SCANNER.match(text)
        return actual[which] if actual else None

    checked(part, [("x1", "name"), ("x1", "number"), ("", "none")])
    with pytest.raises(IndexError, match="no such group"):
        ck.udf(part)(ck.array(["x"]), ck.array(["none"]))


def test_items_of_bytes_and_counters_are_computed_once() -> None:
    def counts(n: int) -> list[int]:
        stack = [n, 66, 67, 68, 69, 70]
        two = bytes([stack.pop(), stack.pop()]) + bytes((stack.pop(), n))
        count = Counter((stack.pop(), n))
        return [*two, count[67], count[66], *stack]

    checked(counts, [(65,), (67,)])


def test_steps_of_a_range_of_constants() -> None:
    def visited(word: str, n: int) -> int:
        total = len(word)
        for k in range(7, -5, -4):
            total = total * 10 + k
        for k in range(2**63 - 1, -(2**63), -3):
            if k % 7 == n:
                return total - k % 5
        return total

    # No compiled form counts the second one.
    checked(visited, WORDS, ["range"])


WORDS = [("ab", 2), ("12axé3", 5), ("", 1), ("abc", 3), ("zoom 7", 4)]


class Malformed(Exception):
    """An exception of the user's."""


class TooShort(Malformed, ValueError):
    """One that is two others."""


def size_of(word: str, n: int) -> int:
    if word[n - 1] == "x":
        raise Malformed(f"{word} has an x")
    if n < 2:
        raise TooShort(f"{word[n]} is short")
    return len(word)


def handled(word: str, n: int) -> str:
    try:
        return str(size_of(word, n))
    except Malformed:
        kind = "malformed"
        try:
            size_of("qqq"[: n + 1], n - 1)
        except ValueError:
            kind = "short"
        except Malformed:
            pass
    except IndexError:
        kind = "index"
    return kind


def test_the_users_own_exceptions_are_caught() -> None:
    checked(handled, [("ab", 2), ("ax", 2), ("b", 1), ("", 1), ("x", 1), ("abc", 1)])


def composed(*functions: Callable[[str], str]) -> Callable[[str], str]:
    def inner(word: str) -> str:
        for function in functions:
            word = function(word)
        return word

    return lambda word: inner(word) + "".join(filter(lambda part: part > "b", word.split("x")))


PREPARED = composed(str.strip, lambda word: word.replace("x", "-"))


def test_a_function_that_a_call_has_given_has_lambdas() -> None:
    checked(lambda word, n: PREPARED(word), WORDS)


def tables(word: str, n: int) -> str:
    codes = {"a": 1, "b": 2, "x": 7}
    names = ["zero", "one", "two"]
    limits = "1 5 9".split()  # noqa: SIM905
    changed = {"a": 1, "b": 2, "z": 3}
    listed = [1, 2, 3]
    alias = listed
    seen = {1, 2, 3}
    for c in word:
        changed[c] = changed.get(c, 0) + codes.get(c, 5)
        alias.append(len(listed))
        seen.add(n)
    del changed["b"]
    return f"{names[n % 3]} {changed} {listed} {len(seen)} {str(n) in limits} {len(codes)}"


def test_what_changes_begins_anew_in_each_row() -> None:
    checked(tables, [("ab", 2), ("aax", 1), ("", 9), ("bqrstuvwz", 5), ("ab", 2)])


def texts_of_dictionaries(word: str, n: int) -> str:
    sizes = {part: [len(part)] for part in word.split("x")}
    row = {"word": word, "half": n / 2}
    changed = {word: n}
    changed[word] += 1
    return f"{sizes} {row} {changed}" + repr(({n: row}, {}))


def test_dictionaries_have_texts() -> None:
    checked(texts_of_dictionaries, [("ab", 2), ("axb", 1), ("", 9)])


def tables_of_several_kinds(word: str, n: int) -> float:
    rates = {"a": 1, "b": 2.5, "c": 3}
    weights = [1, 2.5, 3]
    optional = [1, 2.5, None]
    some = {"a": None, "b": 2.5, "c": 1}
    pairs = {"a": (1, 2), "b": (2.5, 3)}
    mixed = [1, True, 3]
    kind = word[:1]
    total = rates.get(kind, 0) * 0.5 + weights[n % 3] * 2 + mixed[n % 3] + pairs["b"][0]
    if kind in rates:
        total += rates[kind] * n
    weight, of_kind = optional[n % 3], some.get(kind)
    return total + (weight or 0.25) + (0.125 if of_kind is None else of_kind)


def sets_within(word: str, n: int) -> int:
    sets = [set(), set(), set()]
    named = {"x": set(), "y": set(), "z": set()}
    sets[0].add(n)
    named["x"].add(word)
    return len(sets[0]) + len(named["x"]) + len(sets[1])


def aliases(word: str, n: int) -> int:
    lists, other, fewest, none = [5, 7, 8], [1, 2], [1, 2, 3], [1, 4, 4]
    views = {"a": 1, "b": 2, "c": 3}
    values = views.values()
    most = max(lists, other)
    most.append(n)
    least = min(fewest, [5, 6])
    least.append(n)
    added = sum([], none)
    added.append(n)
    return sum(lists) + sum(fewest) + sum(none) + len(added) + sum(values)


def own_max(word: str, n: int) -> int:
    max = lambda a: a.append(n)  # noqa: E731
    lists = [5, 7, 8]
    max(lists)
    return sum(lists)


@pytest.mark.parametrize("function", [tables_of_several_kinds, sets_within, aliases, own_max])
def test_a_table_has_one_layout_and_one_name(function: Callable[[str, int], Any]) -> None:
    checked(function, [("a", 2), ("b", 1), ("c", 9), ("", 3), ("a", 2)])


def test_a_set_of_constants_has_no_order() -> None:
    def first(n: int) -> int:
        numbers = {30, 10, 20, 8, 16}
        for number in numbers:
            return number + n
        return 0

    def joined(n: int) -> str:
        words = {"ab", "cd", "ef"}
        return ",".join(words) + str(n)

    for function in (first, joined):
        with pytest.raises(ck.CompileError, match="the order of a set differs from Python's"):
            ck.udf(function)(ck.array([1]))


class Undecodable(UnicodeDecodeError):
    """One that is made of five arguments alone."""


class Numbered(Exception):
    __init__ = int  # type: ignore[assignment]


class Making(type):
    def __call__(cls, *given: Any) -> Any:
        raise KeyError("made")


class OfAnother(Exception, metaclass=Making):
    pass


class Grouped(ExceptionGroup):
    pass


def raised(word: str, n: int) -> str:
    nothing = None if n < 9 else n
    try:
        if word == "os":
            raise OSError(2, "no")
        if word == "negative":
            raise Malformed(-nothing)
        if word == "compared":
            raise Malformed(nothing < 3)
        if word == "unbound":
            raise Malformed(later)  # type: ignore[used-before-def]
        if word == "undefined":
            raise Malformed(undefined)  # type: ignore[name-defined]
        if word == "cause":
            raise Malformed("x") from TooShort(1 // (n - 1))
        if word == "keyword":
            raise Malformed(msg="x")  # type: ignore[call-arg]
        if word == "format":
            raise ValueError(f"{nothing:.2f}")
        if word == "code":
            raise Undecodable("x")  # type: ignore[call-arg]
        if word == "number":
            raise Numbered("x")
        if word == "class":
            raise OfAnother("x")
        if word == "group":
            raise Grouped("x")
        later = n
    except FileNotFoundError:
        return "no file"
    except OSError:
        return "os"
    except Malformed:
        return "malformed"
    except NameError:
        return "name"
    except ZeroDivisionError:
        return "zero"
    except KeyError:
        return "key"
    except TypeError:
        return "type"
    except ValueError:
        return "value"
    return f"fine {later}"


def in_tuple(n: int | None) -> bool:
    try:
        return n in (5, 7)
    except TypeError:
        return True


def in_dictionary(n: int | None) -> bool:
    own = {5: "five"}
    return n in own or n not in (None, 7)


def in_range(n: int | None) -> bool:
    return n in range(6)


def place(n: int | None) -> int:
    try:
        return [5, 7].index(n)  # type: ignore[arg-type]
    except ValueError:
        return -1


def by_key(n: int | None) -> str:
    own = {5: "five"}
    try:
        return own[n]  # type: ignore[index]
    except KeyError:
        return "missing"


def cut(n: int | None) -> str:
    try:
        return "abcdefgh"[:n]
    except TypeError:
        return "refused"


def pieces(n: int | None) -> int:
    separator = None if n is None else "b"
    try:
        return len("a b c b".split(separator))
    except TypeError:
        return -1


@pytest.mark.parametrize(
    "function", [in_tuple, in_dictionary, in_range, place, by_key, cut, pieces]
)
def test_none_is_as_in_python_where_it_is_no_error(function: Callable[[int | None], Any]) -> None:
    numbers = [5, None, 8]
    got = ck.udf(function)(ck.array(numbers)).to_pylist()
    assert got == [function(n) for n in numbers]


def test_making_an_exception_may_raise_another() -> None:
    words = ["os", "negative", "compared", "unbound", "undefined", "cause", "keyword", "format"]
    rows = [(word, 1) for word in [*words, "code", "number", "class", "group", ""]]
    compiled = ck.udf(raised)
    got = compiled(*(ck.array(list(column)) for column in zip(*rows, strict=True))).to_pylist()
    assert got == [raised(*row) for row in rows]


def test_a_list_that_changes_under_cycle_is_refused() -> None:
    def cycled(n: int) -> list[int]:
        numbers, seen = [1, 2, n], []
        for number in itertools.cycle(numbers):
            numbers.append(9)
            seen.append(number)
            if len(seen) == 6:
                break
        return seen

    compiled = ck.udf(cycled, strict=True)
    with pytest.raises(ck.CompileError, match="changes while an iterator reads it"):
        compiled(ck.array([3]))


def weighed(word: str, n: int) -> str:
    out = sum(ord(c) * w for c, w in zip(word, itertools.cycle((3, 1, n))))
    for place in itertools.count(n):
        if place % 4 == 0:
            break
    pairs = list(zip(itertools.count(), itertools.cycle(word), word + word))
    return str(out) + str(place) + "".join(f"{k}{a}{b}" for k, a, b in pairs)


def counted_by(word: str, n: int) -> str:
    places = [place for place, _ in zip(itertools.count(n, -7), word)]
    halves = "".join(f"{k}{c}" for k, c in zip(itertools.count(step=n), word + "!"))
    first = next(place for place in itertools.count(start=n, step=3) if place % 4 == 0)
    return f"{places} {halves} {first}"


@pytest.mark.parametrize("function", [weighed, counted_by])
def test_endless_iterators_end_with_others(function: Any) -> None:
    checked(function, WORDS)


def test_a_count_of_large_numbers_is_left_to_python() -> None:
    def third(start: int, step: int) -> int:
        return [n for n, _ in zip(itertools.count(start, step), "abc")][1]

    rows = [(1 << 62, 1), ((1 << 62) + 1, 1), (-(1 << 63), 3), (0, 1 << 40), (5, -(1 << 62))]
    checked(third, rows, ["count() of such large numbers"])


def test_parameters_may_have_the_names_of_generated_variables() -> None:
    def total(t: float | None, code: float | None, chosen: float | None) -> float:
        doubled = (chosen or 0.5) * 2.0 + 1.0
        product = doubled * doubled
        known = t if t is not None else product
        chosen = known + doubled
        return known + (code if code is not None else chosen) + chosen

    checked(total, [(1.0, 2.0, 3.0), (None, 2.0, 4.0), (5.0, None, None), (None, None, 7.0)])


def test_the_extreme_of_what_is_spread_is_that_of_arguments() -> None:
    def largest(text: str, least: int) -> int:
        return max(*[len(word) for word in text.split()], least)

    compiled = ck.udf(largest)
    assert compiled(ck.array(["ab c", "abc"]), ck.array([0, 9])).to_pylist() == [2, 9]
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        compiled(ck.array([""]), ck.array([0]))


def test_a_dictionary_is_updated_once_all_arguments_are_there() -> None:
    def updated(word: str, n: int) -> str:
        kept = {"ab": n}
        kept.update([(word, 5)], b=len(kept), c=kept["ab"])
        return ",".join(f"{key}{value}" for key, value in kept.items())

    checked(updated, WORDS)


def test_a_range_is_no_list() -> None:
    def described(word: str, n: int) -> str:
        numbers = range(n)
        kind = "range" if type(numbers) is range else "list"
        part = f"{numbers[n - 1]} {sum(numbers)} {n in numbers} {len(numbers)}"
        same = numbers == range(1 + len(word) // 2)
        return f"{kind} {part} {same} {isinstance(numbers, list)} {list(numbers)}"

    def either(word: str, n: int) -> str:
        numbers = range(n) if n > 1 else [len(word), 2]
        others = numbers if word else []
        return f"{list(numbers)} {numbers[0]} {2 in numbers} {[k + 1 for k in others]}"

    checked(described, WORDS)
    checked(either, WORDS)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda word, n: range(n) == [0, 1], "of a range and a list"),
        (lambda word, n: range(n) == range(3), "of a range that is known"),
        (lambda word, n: f"{range(n)}", "the text of a range"),
        (lambda word, n: type(range(n) if n else [1]) is list, "a range or a list"),
    ],
)
def test_what_asks_whether_a_range_is_a_list_is_refused(function: Any, words: str) -> None:
    with pytest.raises(ck.CompileError, match=words):
        checked(function, WORDS)


TABLE = {"abc": None, "": "e"}


def test_none_in_a_dictionary_is_not_the_default_of_get() -> None:
    def got(key: str, other: str | None) -> str | None:
        own: dict[str, int | None] = {"abc": None, "": 1}
        kept = own.get(key, 2)
        actual = TABLE.get(key, "x")
        return f"{kept} {actual} {own.pop(key, 3)} {other and TABLE.get(other, 'z')}"

    checked(got, [("abc", None), ("", "abc"), ("q", "q")])


# Formats


def in_widths(word: str, n: int) -> str:
    return (
        f"{word:>{n}}|{word:*^{n + 2}}|{len(word):0{max(n, 1)}d}|{n * 1234567:{n + 9},}|{word:.{n}}"
    )


def in_precisions(word: str, n: int) -> str:
    half = n / 2 if word else n
    number = f"{half:.{n}f}|{half:{n}.1%}|"
    return f"{number}{n / 3:.{n}f}|{n / 7:{n + 3}.2e}|{n * 1.5:0{n + 4}.1f}|{n / 9:{n + 2}.{n}g}|{True:{n}}"


def in_no_width(word: str, n: int) -> str:
    w = n * 0
    wide = f"{word:{w}}|{word:>{w}}|{word:*^{w}}|{n:{w}}|{n:0{w}d}|{n * 1234567:{w},}|{n:<+{w}x}"
    return f"{wide}|{n / 3:{w}.1f}|{n / 7:-^{w}.2e}|{True:{w}}|{True:>{w}}|{n / 3:0{w}.0f}"


def behind_each_other(word: str, n: int) -> str:
    kept = f"{word}{n}"
    again = kept + "!" + kept[:1] + kept[1:]
    number = f"#{n:03d}{n * -98765432101:,}{n * 1e5:+,.2f}{n:x}{n > 2}"
    shared = "".join([word, "-", str(n)]) + "".join([]) + ",".join([word[::-1]])
    return ";".join([kept, again, number, shared, "x" + (word if n > 2 else str(n)), kept])


def in_a_loop(word: str, n: int) -> str:
    text = kept = ""
    for letter in word:
        text += letter + str(n)
        kept, text = text, text + f"{n:02d}"
        n *= 1001
    return f"{text}/{kept}{1 if n % 2 else 'even'}"


@pytest.mark.parametrize("function", [behind_each_other, in_a_loop])
def test_texts_that_stand_behind_each_other_keep_their_bytes(function: Callable[..., Any]) -> None:
    checked(function, WORDS)


def named_within(word: str, n: int) -> str:
    first, second = "old", "q"
    text = "p" + (first := word)
    shown = f"a{(second := word)}b{second}{n:02d}{(n := n // 2)}{n:03}"
    third = "z"
    return first + text + shown + second + ",".join(["p", (third := text)]) + third


def test_a_name_that_is_assigned_between_texts_is_that_from_there_on() -> None:
    checked(named_within, WORDS)


def all_items_first(word: str, n: int) -> str:
    seen: list[int] = []
    try:
        return ",".join([word if n > 2 else None, seen.append(n) or str(10 // (n - 1))])  # type: ignore[list-item, func-returns-value]
    except TypeError:
        return f"type {len(seen)}"
    except ZeroDivisionError:
        return "zero"


def separated_by_name(word: str, n: int) -> str:
    try:
        return ",".join([word, str(n)], sep="b")  # type: ignore[call-arg]
    except TypeError:
        return "type"


def made_last(word: str, n: int) -> str | None:
    if n < 0:
        return None
    kept = word.strip().upper()
    if n > 9:
        return kept * n + word
    return kept + "-" + word if n > 2 else word


def test_texts_are_made_where_results_go() -> None:
    # Of a row that is left to Python, one without a result and one that finds no room, nothing stays.
    rows = [("a ", 3), ("\xe9", 5), ("b", -1), ("", 0), ("cd" * 9000, 99), (" e", 1), ("f", 12)]
    compiled = ck.udf(made_last)
    words, numbers = zip(*[*rows, *WORDS] * 3, strict=True)
    got = compiled(ck.array(list(words)), ck.array(list(numbers))).to_pylist()
    assert got == list(map(made_last, words, numbers))
    assert "text_building_concat(results, " in compiled.source()


def test_what_join_does_not_take_is_refused_as_python_does() -> None:
    for function in (all_items_first, separated_by_name):
        compiled = ck.udf(function)
        columns = [ck.array(list(column)) for column in zip(*WORDS, strict=True)]
        assert compiled(*columns).to_pylist() == [function(*row) for row in WORDS]


@pytest.mark.parametrize("function", [in_widths, in_precisions])
def test_a_format_may_have_sizes_of_the_row(function: Callable[..., Any]) -> None:
    checked(function, WORDS)
    columns = ck.array(["abc", ""]), ck.array([1, 12])
    assert ck.udf(function, strict=True)(*columns).null_count == 0


def test_a_format_of_width_0_is_one_without_a_width() -> None:
    checked(in_no_width, [("abc", 1), ("", 12)])
    columns = ck.array(["abc", ""]), ck.array([1, 12])
    assert ck.udf(in_no_width, strict=True)(*columns).null_count == 0


def in_turn(word: str, n: int) -> str:
    for form in ("%d", "%4d"):
        if len(word) > 1:
            word += form % n
    return word


def test_a_loop_is_written_round_by_round_if_its_body_needs_constants() -> None:
    checked(in_turn, WORDS)


def test_a_key_that_a_dictionary_lacks_is_named() -> None:
    column = ck.array([{"a": 1, "b": "a"}])
    for function, asked in (
        (lambda row: row["c"], "'c'"),
        (lambda row: row[row["b"]], "this key, which the row decides"),
    ):
        with pytest.raises(ck.CompileError, match=f"has the keys a, b, and not {asked}"):
            ck.udf(function)(column)


def by_rules(word: str, n: int) -> str:
    rules = [(r"^[a-z]$", "letter"), (r"^\d", "digit"), (re.compile("b+"), "b")]
    checks = [("upper", str.isupper), ("long", lambda text: len(text) > n)]
    known = ["a", "b"]
    for pattern, name in rules:
        if re.match(pattern, word):
            return name + str(word in known)
    shown = "|".join(map(str, [word, n, n / 2, None]))
    return ",".join(name for name, holds in checks if holds(word)) + shown


def test_a_list_that_loops_go_over_may_have_items_of_several_kinds() -> None:
    checked(by_rules, [("a", 1), ("7x", 1), ("bbb", 1), ("AB", 1), ("", 0), ("xyz", 2)])


def carried(word: str, n: int) -> str:
    out, last = "", 0
    for place, part in enumerate(word.split(" ")):
        part = part.strip("x")
        if place:
            out += str(last)
        size = len(part)
        last = size
        size = str(last) * n  # type: ignore[assignment]
        out += size  # type: ignore[operator]
    return out + part


def caught(word: str, n: int) -> str:
    out = ""
    for part in word.split(" "):
        text = part
        try:
            part = int(part)  # type: ignore[assignment]
        except ValueError:
            out += part + "?"
            if n:
                break
            continue
        else:
            part += n  # type: ignore[operator]
        out += str(part) + text
        try:
            text = float(part)  # type: ignore[assignment]
        except OverflowError:
            text = 0.5  # type: ignore[assignment]
        out += str(text)
    return out


def caught_twice(word: str, n: int) -> str:
    first, second = word[:n], word[n:]
    try:
        first = len(first) // n  # type: ignore[assignment]
    except ZeroDivisionError:
        first = -1  # type: ignore[assignment]
    try:
        second = len(second) / n  # type: ignore[assignment]
    except ZeroDivisionError:
        second = -1.5  # type: ignore[assignment]
    return f"{first} {second}"


@pytest.mark.parametrize("function", [carried, caught, caught_twice])
def test_a_variable_of_a_round_may_be_of_several_kinds(function: Callable[..., Any]) -> None:
    checked(function, [("ax 1 bcx", 2), ("", 0), ("12 x 7", 0), ("3 y 4", 1)])


def test_sizes_that_are_flags_are_pythons() -> None:
    checked(
        lambda word, n: f"{len(word):{n}d}",
        [("a", 3), ("b", 0), ("c", -3)],
        ["a format with an unusual width or precision"],
    )


def converted(word: str, n: int) -> str:
    text = "%r|%6r|%s" % (word, word, [word])  # noqa: UP031
    return text + f"{word!r}|{n / 3!s:.3}|{n > 2!s:>7}" + "{!s:>6}".format(n > 2)  # noqa: UP032


def test_conversions_go_before_a_format() -> None:
    checked(converted, WORDS[2:4])


def test_the_type_of_a_number_is_known_or_asked_of_python() -> None:
    for function in (
        lambda n: str(abs(n if n > 2 else 0.5)),
        lambda n: str(round(n if n > 2 else 0.5, 1)),
        lambda n: str(pow(n if n > 2 else 0.5, 2)),
        lambda n: str(divmod(n if n > 2 else 0.5, 2)[0]),
        lambda n: str((True if n > 2 else 5) | True),
    ):
        checked(function, [(1,), (3,)], ["the text of a number that may be of another type"])
    with pytest.raises(ck.CompileError):
        ck.udf(lambda n: (n > 2 or n) is True)(ck.array([1, 3]))
    with pytest.raises(ck.CompileError, match="the order of a set"):
        ck.udf(lambda x: sum({x, 0.1, 0.2}))(ck.array([1.0]))


def test_a_bool_is_rounded_as_an_integer() -> None:
    checked(lambda n: repr([round(n > 2, 1), round(n > 2)]), [(1,), (3,)])


def test_a_set_with_nan_is_sorted_by_python() -> None:
    rows = [(1.5, 2.0), (float("nan"), 2.0)]
    checked(lambda x, y: len(sorted({x, y, 1.0})), rows, ["NaN in a set"])


def test_of_tuples_one_nan_equals_itself() -> None:
    nan = float("nan")
    rows = [(1.5, 2.0), (nan, 2.0), (0.0, nan)]
    checked(lambda x, y: ((x, y) == (x, y), (x, 1) < (x, 2)), rows, ["NaN in tuples"])


# Matches


PARTS = re.compile("[aeiou]+")


def louder(match: re.Match[str]) -> str:
    return match.group().upper()


def multiplied(word: str, n: int) -> str:
    return re.sub(r"\d+", lambda m: str(int(m.group()) * n), word)


def groups(word: str, n: int) -> str:
    def shown(match: re.Match[str]) -> str:
        return f"<{match.group(1) or str(n)}{match.start()}>"

    return re.sub("[a-z](x)?", shown, word)


def by_pattern(word: str, n: int) -> str:
    return PARTS.sub(louder, word * n)


@pytest.mark.parametrize("function", [multiplied, groups, by_pattern])
def test_sub_with_a_function(function: Callable[..., Any]) -> None:
    checked(function, WORDS)


# Pairs of one size


def paired(word: str, n: int) -> list[str]:
    return [a + str(b) for a, b in zip(word, range(n), strict=True)]


def paired_or_not(word: str, n: int) -> int:
    try:
        total = 0
        for i, (a, b) in enumerate(zip(word, word[1:] + "x"[:n], strict=True)):
            total += ord(a) * ord(b) + i
        return total
    except ValueError:
        return -1


def test_zip_may_be_strict() -> None:
    checked(paired, [("ab", 2), ("", 0), ("abé", 3)])
    checked(paired_or_not, [("ab", 2), ("", 1), ("abé", 0), ("", 0)])
    with pytest.raises(ValueError, match="longer than argument 1") as caught:
        ck.udf(paired)(ck.array(["a", "ab"]), ck.array([1, 3]))
    assert caught.value.__notes__ == ["paired: row 1"]


# Integers of bytes


def numbers_of_bytes(word: str, n: int) -> tuple[int, int, int]:
    data = word.encode()
    return (
        int.from_bytes(data[:n], "big"),
        int.from_bytes(data[-n:], byteorder="little"),
        int.from_bytes(data[:3], "big", signed=True),
    )


def test_integers_of_bytes() -> None:
    checked(numbers_of_bytes, WORDS)
    whole = lambda word: int.from_bytes(word.encode(), "big") // 1000  # noqa: E731
    checked(whole, [("12345678",), ("é2345678",), ("",)], ["int.from_bytes"])


# Tuples whose length depends on the row


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def compared(text: str) -> Any:
    actual = version(text)
    return (
        actual >= (10, 2, 0),
        actual == (1, 2),
        actual != (1, 2),
        actual == (),
        actual == [1, 2],
        list(actual) == [1, 2],
        actual < version("2.3"),
    )


def parts(text: str) -> Any:
    actual = version(text)
    return (
        actual[:2] == (1, 2),
        actual + version("7") == (1, 2, 7),
        (actual * 2)[:1] == (1,),
        len(actual) + actual[0] + actual.count(2),
        2 in actual,
        isinstance(actual, tuple),
        isinstance(actual, list),
    )


def latest(text: str) -> str:
    return max(text.split("."), key=lambda part: tuple(int(c) for c in part))


@pytest.mark.parametrize("function", [compared, parts, latest])
def test_tuples_of_any_length_are_no_lists(function: Callable[..., Any]) -> None:
    checked(function, [("1.2",), ("10.2.0",), ("9.9.9.9",), ("10.10",), ("3",)])


def of_either_length(n: int) -> str:
    pair: tuple[int, ...] = (n, 2) if n > 1 else (n,)
    best: tuple[int, ...] = ()
    for low, high in ((1, 2), (3, 4)):
        if high > n:
            best = (low, high)
    grown: tuple[int, ...] = (0,)
    while len(grown) < n:
        grown = (*grown, len(grown))
    first, *rest = (n, 1) if n > 1 else (n,)
    return f"{pair} {best} {grown[::-1]} {first} {rest} {grown == (0, 1)}"


def within_containers(n: int) -> str:
    names: dict[int, tuple[str, ...]] = {1: ("a",), 2: ("b", "c")}
    names[3] = ()
    lists: list[tuple[str, ...]] = [("a",), ("b", "c")]
    lists.append(())
    grown: dict[int, tuple[int, ...]] = {}
    for i in range(n):
        grown[i] = (*grown.get(i - 1, (9,)), i)
    return f"{','.join(names[n])} {names} {lists[n % 3]} {grown}"


def item_by_item(n: int) -> str:
    total: tuple[float, ...] = (0, 0.0)
    for row in ((1, 2.5), (n, 1.0)):
        total = tuple(a + b for a, b in zip(total, row))  # noqa: B905
    doubled = tuple(map(str, (n, n + 1)))
    none = tuple(zip((n, 1), ()))  # noqa: B905
    return f"{total} {doubled} {none}"


@pytest.mark.parametrize("function", [of_either_length, within_containers, item_by_item])
def test_a_variable_may_be_a_tuple_of_several_lengths(function: Callable[..., Any]) -> None:
    checked(function, [(1,), (2,), (3,)])


def test_tuples_of_fixed_lengths_may_be_declared_as_lists() -> None:
    def either(n: int) -> tuple[int | None, ...]:
        return (n, None) if n > 1 else (n, 2, 3)

    assert ck.udf(either)(ck.array([1, 2])).to_pylist() == [[1, 2, 3], [2, None]]


def test_a_tuple_of_any_length_is_a_list_of_the_column() -> None:
    result = ck.udf(version)
    assert result.result_type(ck.utf8()) == ck.list_(ck.int64())
    assert result(ck.array(["1.2", "7"])).to_pylist() == [[1, 2], [7]]


def beside_integers(x: float) -> tuple[bool, bool, bool, bool, bool]:
    return x > 0, x == 1 << 53, -2 < x <= 5, x in (1, 2.5, 3), x >= (1 << 53) + 1


def test_a_float_of_any_size_is_compared_with_an_integer_that_is_a_float() -> None:
    numbers = [(x,) for x in (2.0**53, 2.0**62, -1e300, 1.0, -2.0, 0.5)]
    # In the last comparison, the integer has more digits than a float.
    checked(beside_integers, numbers, [">= of such numbers"])
    checked(lambda x: (x > 0, x == 3, x in (1, 3)), numbers)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: sum([x, n, -x]),
        lambda x, n: sum([x, n, 0.1, n, -x]),
        lambda x, n: sum((x if i == 0 else i) for i in range(n)),
        lambda x, n: sum([x, 0.1, 0.2], n),
        lambda x, n: sum([0.1 * i for i in range(n)], x),
    ],
)
def test_a_sum_of_integers_and_floats_is_rounded_as_python_does(
    function: Callable[..., Any],
) -> None:
    """From 3.12 on, what the additions of floats lose is added in the end; of integers, nothing is."""
    rows = [(x, n) for x in (1e16, -1e16, 0.1, 3.0) for n in (0, 1, 3, 4, 10)]
    compiled = ck.udf(function, returns=ck.float64())
    got = compiled(*(ck.array(list(column)) for column in zip(*rows, strict=True))).to_pylist()
    assert got == [float(function(*row)) for row in rows]


def test_a_list_is_not_compared_with_a_tuple() -> None:
    function = ck.udf(lambda text: list(version(text)) >= version(text) if text else False)
    assert function(ck.array(["", ""])).to_pylist() == [False, False]
    with pytest.raises(TypeError, match="'>=' not supported"):
        function(ck.array(["", "1.2"]))


# Texts in an arena


def test_text_is_added_behind_the_last_text_alone() -> None:
    checked(
        lambda word, n: f"{n}Q{n // 2}" + word[:-1] + "x" + word + f"{n}{n + 1}-{word}",
        [*WORDS, ("a" * 29, 1234567), ("é" * 16, -7), ("0123456", 10**17)],
    )

    def sliced(word: str, n: int) -> str:
        whole = word + "-" * n
        part = whole[:-1] + "!"
        return whole + part + whole

    checked(sliced, [(word * k, n + k) for word, n in WORDS for k in (1, 2, 3)])

    def kept(word: str, n: int) -> str:
        first = word + "-"
        parts = [first, first[:-1]]
        second = first + str(n)
        third = first[:-1] + "+"
        parts.append(first + "!")
        return "/".join([*parts, second, third, f"{n}" + word, f"{n}"[:1] + "?"])

    checked(kept, [(word * k, n + k) for word, n in WORDS for k in (0, 1, 2, 3, 9)])


# Displays


def with_parts(word: str, n: int) -> list[int]:
    codes = [*map(ord, word)]
    for k in range(n):
        codes = [*codes, k, n, *range(k)]
    return [*codes, len({*word, "a"}), *sorted({*codes, 7})]


def test_displays_may_have_starred_parts() -> None:
    checked(with_parts, WORDS)


# Augmented assignments


def items_in_place(word: str, n: int) -> str:
    by_number, lists = {n: [word], 0: ["zero"]}, [[n], [n + 1]]
    counts: dict[str, set[int]] = {}
    row = {"names": [word], "n": n}
    others = by_number[n], lists[1], row["names"]
    for k, c in enumerate(word):
        counts.setdefault(c, set())
        seen = counts[c]
        counts[c] |= {k, n}
        counts[c] -= {k + 1}
        others[0].append(f"{len(seen)}{sorted(seen)}")
        by_number[n] += (c, str(k))
        lists[k % 2] += [k] if k else lists[1]
    row["names"] += [word * 2]
    lists[-1] += lists[-1]
    return f"{others} {by_number} {lists} {row}"


def test_an_augmented_assignment_to_an_item_changes_what_other_names_see() -> None:
    checked(items_in_place, WORDS)


NUMBERS = [1, 2]


def of_a_constant(word: str, n: int) -> int:
    numbers = NUMBERS
    numbers += [n]
    return len(numbers)


def times(word: str, n: int) -> str:
    lists = {n: [word]}
    lists[n] *= n
    return str(lists)


@pytest.mark.parametrize(
    ("function", "reason"), [(of_a_constant, "a constant that changes"), (times, "in place")]
)
def test_changes_in_place_without_a_compiled_form_are_refused(function: Any, reason: str) -> None:
    with pytest.raises(ck.CompileError, match=reason):
        ck.udf(function)


def test_a_sum_of_a_sets_tuples_has_no_order() -> None:
    def strung(word: str, n: int) -> int:
        return sum({(word, n), (word * 2, n + 1)}, ())[1]  # type: ignore[return-value]

    with pytest.raises(ck.CompileError, match="the order of a set"):
        ck.udf(strung)


# itertools


def steps(word: str, n: int) -> list[str]:
    first = [next(islice(word, 1, None), "-"), next(map(str.upper, word), "-")]
    parts = list(islice(word, n)) + list(islice(word, 1, n)) + list(islice(word, None, n))
    return [a + b for a, b in pairwise(word)] + parts + first


def sums(word: str, n: int) -> list[int]:
    codes = [ord(c) for c in word]
    out = list(accumulate(codes)) + list(accumulate(codes, initial=n))
    out += list(accumulate(codes, lambda a, b: a * 2 + b))
    return out + list(takewhile(lambda code: code < 100, codes))


def flat(word: str, n: int) -> str:
    return "".join(chain(word, "-", str(n))) + "".join(
        itertools.chain.from_iterable(word.split("x"))
    )


TWICE = 2


def crossed(word: str, n: int) -> list[str]:
    several = [f"{a}{b}{c}" for a, b, c in itertools.product(word, range(n), ("x", "y"))]
    return several + [a + b for a, b in itertools.product(word, repeat=TWICE)]


def arranged(word: str, n: int) -> str:
    pairs = ",".join(a + b for a, b in itertools.permutations(word, 2))
    some = list(itertools.permutations(range(n), 0)) + list(itertools.permutations(range(n), 1))
    some += list(itertools.permutations(range(n))) + list(itertools.combinations(range(n), 4))
    again = list(itertools.combinations_with_replacement(range(n), 3))
    return f"{pairs} {some} {again} {list(itertools.permutations(range(n), 3))}"


@pytest.mark.parametrize("function", [steps, sums, flat, crossed, arranged])
def test_functions_of_itertools(function: Callable[..., Any]) -> None:
    checked(function, WORDS)


@pytest.mark.parametrize(
    "use",
    [
        lambda word, n: list(islice(word, n)),
        lambda word, n: [word.find("", 1, n)],
        lambda word, n: [round(len(word) / 8, n)],
        lambda word, n: [word + "%s" % n],  # noqa: UP031
    ],
    ids=["islice", "find", "round", "%"],
)
def test_none_that_python_takes_raises_no_type_error(use: Callable[..., Any]) -> None:
    def caught(word: str, n: int) -> list[Any]:
        most = None if n > 2 else n
        try:
            return use(word, most)
        except TypeError:
            return []

    checked(caught, WORDS, ["None where a value is needed"])


def first_digit(word: str, n: int) -> int:
    try:
        for digit in chain(map(int, word), [n]):
            return digit
    except ValueError:
        return -1
    return -2


def test_what_itertools_would_make_later_is_pythons_where_it_raises() -> None:
    checked(first_digit, [("1", 2), ("1a", 3), ("", 4), ("a1", 5)], ["int"])


# Cases


def place(word: str, n: int) -> str:
    match (n % 3, len(word) % 3):
        case (x, 0) if x > 1:
            return f"first {x}"
        case (0, y) if y == n:
            return f"second {y}"
        case (x, y) if x == y:
            return f"third {x}"
        case (1, _):
            return "fourth"
        case (x, 1) if x and n > 1:
            return f"fifth {x}"
    return "none"


def test_cases_with_guards_are_written_once() -> None:
    checked(place, [(word * k, n + k) for word, n in WORDS for k in range(4)])
    result = ck.udf(place)
    result(*(ck.array([x]) for x in WORDS[0]))
    assert result.source().count("number_formatting_integer_of_width(") == 4


# Lists and tuples as text


def shown(word: str, n: int) -> str:
    letters = [letter if letter != "x" else None for letter in word]
    nested = [[k, k * k] for k in range(n)]
    counts = tuple(len(part) for part in word.split("x"))
    return f"{letters}{nested!r}" + str((word, n / 4, counts)) + repr((n,)) + repr(counts)


def test_lists_and_tuples_as_text() -> None:
    checked(shown, [*WORDS, ("it's", 0)])


# Loops over constants that are not of one kind


FORMS = [("b", 1.5, str.lstrip), ("z", 2, lambda word: word + "!"), ("", "n", str.strip)]


def left_early(word: str, n: int) -> str:
    done = []
    for start, size, change in FORMS:
        if start == "z" and n > 4:
            continue
        try:
            if word[n] == start:
                break
        except IndexError:
            done.append("out")
        done.append(f"{start}{size}{change(word)}")
    else:
        done.append("else")
    return "|".join(done)


def in_loops(word: str, n: int) -> str:
    actual = ""
    for k in range(n):
        for pattern, width in ((r"(\d)x?", 1), (r"([a-z])([a-z])", "2")):
            m = re.search(pattern, word[k:])
            if m is None:
                continue
            actual += f"{m.group(1)}{width}"
            if len(actual) > 4:
                return actual
        if k > 2:
            break
    return actual


def in_tests(word: str, n: int) -> tuple[bool, bool, int]:
    tests = (r"\d+$", re.compile("[ax]"))
    return (
        any(re.search(test, word) for test in tests),
        all(format(n, form) in word for form in ("d", ".0f")),
        next((k for k, (start, _, _) in enumerate(FORMS) if start and word.startswith(start)), -1),
    )


@pytest.mark.parametrize("function", [left_early, in_loops, in_tests])
def test_loops_over_constants_of_several_kinds(function: Callable[..., Any]) -> None:
    checked(function, [*WORDS, ("zzzzb", 4), ("b", 0)])


def changed_later(word: str, n: int) -> list[str]:
    result = []
    for part in (letter * n for letter in word):
        n += 1
        result.append(part)
    return result


def test_a_generator_expression_that_reads_what_its_loop_changes_is_refused() -> None:
    with pytest.raises(ck.CompileError, match="n changes while an iterator reads it"):
        ck.udf(changed_later)


def of_two_kinds(word: str, n: int) -> str:
    left, right = word.split("x", 1) if "x" in word else (word, "n")
    [first, *rest] = word.split("2") if n < 3 else ("n", word) if n < 6 else "yz"
    return f"{left}-{right}-{first}-{len(rest)}"


def test_cases_of_dictionaries() -> None:
    def described(word: str, n: int) -> str:
        entry = {letter: place for place, letter in enumerate(word)}
        match entry:
            case {"a": 0, "b": place}:
                return f"starts, {place}"
            case {"a": int(place), **others} if len(others) > 2:
                return f"{place} and {','.join(sorted(others))}"
            case {"o": _} | {"x": _}:
                return "round"
        match {"word": word, "n": n if n > 2 else None}:
            case {"n": None, "other": _}:
                return "never"
            case {"n": None, "word": str(same)}:
                return same
            case {}:
                return "any"
        return "none"

    checked(described, [*WORDS, ("xbca", 4), ("cba", 9)])


def test_the_greatest_of_arguments_by_a_key() -> None:
    def longest(word: str, n: int) -> str:
        return max(word, "one", str(n), key=len) + min(word[:2], "ab", key=lambda each: each[:1])

    checked(longest, [row for row in WORDS if row[0]])


def test_one_of_two_lists_of_numbers_may_become_the_other() -> None:
    def narrowed(word: str, n: int) -> str:
        lows, highs = [-90.0, 90.0], [-180.0, 180.0]
        for letter in word:
            bounds, value = (lows, n) if letter > "b" else (highs, n / 3)
            middle = sum(bounds) / 2
            bounds[value < middle] = middle
        return f"{lows[0]:.3f} {lows[1]:.3f} {highs[0]:.3f} {highs[1]:.3f}"

    checked(narrowed, WORDS)


def test_targets_of_one_of_several_kinds() -> None:
    checked(of_two_kinds, WORDS)


# Calls with stars


def spread(word: str, n: int) -> str:
    def shown(first: str, second: str = "-", *, times: int = 2) -> str:
        return first * times + second

    first, *rest = word or "-"
    pair = (first, *[letter for letter in rest if letter != "x"][:1], "?")
    words = {"times": n}
    return shown(pair[0], **words) + "{}{}".format(*divmod(n, 3)) + max(*rest, "a", "b")


def two_of(word: str, n: int) -> int:
    try:
        a, b = (int(part) for part in word.split("x"))
    except ValueError:
        return -n
    return int("{}{}".format(*(x + n for x in (a, b))))


def of_known_length(word: str, n: int) -> int:
    actual = re.match(r"(\d+)(?:x(\d+))?", word)
    if not actual:
        return n
    return area(*(int(part or 7) for part in actual.groups())) + area(*map(len, (word, "ab")))


def area(width: int, height: int = 1, depth: int = 2) -> int:
    return width * height * depth


@pytest.mark.parametrize("function", [spread, two_of, of_known_length])
def test_calls_with_stars(function: Callable[..., Any]) -> None:
    checked(function, [("1x2", 3), ("1x2x3", 2), ("1xz", 1), ("12", 0)])


# `finally`


def after_what_an_outer_try_catches(word: str, n: int) -> int:
    try:
        try:
            total = n // len(word)
        finally:
            n += 100
    except ZeroDivisionError:
        return n
    return total + n


def after_what_leaves_loops(word: str, n: int) -> int:
    total = 0
    for letter in word:
        try:
            for other in word:
                if total > 40:
                    return total * 1000 + n
                if other > letter:
                    break
                total += n
            if letter == "a":
                continue
            if letter == "x":
                break
            total += 7
        finally:
            total += 100 if letter < "m" else 1
    return total


def before_a_result(word: str, n: int) -> list[str]:
    letters = [word]
    try:
        letters.append(word[n])
        return letters
    except IndexError:
        return [*letters, "none"]
    finally:
        letters.append(f"{n}!")


def instead_of_a_result(word: str, n: int) -> str | None:
    try:
        return word[n:][0] if n != 1 else word
    finally:
        if n != 1:
            return word if n % 2 else None  # noqa: B012


@pytest.mark.parametrize(
    "function",
    [
        after_what_an_outer_try_catches,
        after_what_leaves_loops,
        before_a_result,
        instead_of_a_result,
    ],
)
def test_finally_follows_all_that_leaves_a_try(function: Callable[..., Any]) -> None:
    checked(function, [(word, n % 4) for word, n in [*WORDS, ("xxyz", 4), ("abba", 7)]])


def test_what_a_finally_raises_is_raised() -> None:
    def raising(word: str, n: int) -> str:
        try:
            return word[n]
        finally:
            n = 5 // len(word)

    checked(raising, [("ab", 1)])
    with pytest.raises(ZeroDivisionError) as caught:
        ck.udf(raising)(ck.array([""]), ck.array([0]))
    assert isinstance(caught.value.__context__, IndexError)


# Data classes


@dataclass
class Size:
    """A plain data class."""

    height: int
    width: int = 4


@dataclass(eq=False)
class Own:
    """One whose instances are equal to themselves alone."""

    height: int


class Pair(NamedTuple):
    """A named tuple that is no tuple in all."""

    first: int

    def __len__(self) -> int:
        return 7


def is_no_tuple(word: str, n: int) -> str:
    try:
        height, width = Size(n)
    except TypeError:
        return "no items"
    return f"{height} {width}"


def test_an_instance_of_a_data_class_is_no_tuple() -> None:
    checked(
        lambda word, n: (Size(n) == (n, 4), Size(n) == Size(2, 4), bool(Size(n)), Size(n).width),
        WORDS,
    )
    checked(is_no_tuple, WORDS, ["Size assigned to 2 targets has no compiled form"])


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda n: Size(n) < Size(3), "an order of Size has no compiled form"),
        (lambda n: len(Size(n)), "len\\(Size\\)"),
        (lambda n: Size(n)[0], "\\[\\]\\(Size, int\\)"),
        (lambda n: Own(n) == Own(n), "== of Own"),
        (lambda n: len(Pair(n)), "the class Pair has __len__"),
    ],
)
def test_classes_with_methods_of_their_own_are_refused(function: Any, reason: str) -> None:
    with pytest.raises(ck.CompileError, match=reason):
        ck.udf(function)(ck.array([1]))


# Dictionaries that change


def larger_in_the_end(word: str, n: int) -> str:
    counts = {n: 1}
    try:
        for key in counts:
            counts[key + 1] = 2
    except RuntimeError:
        return "it changed"
    return "it did not"


def test_a_dictionary_that_changes_in_the_last_round_is_pythons() -> None:
    checked(larger_in_the_end, WORDS, ["a dictionary that changes"])


# Dictionaries of several kinds of values


def measured(word: str, n: int) -> str:
    record = {"word": word, "n": n, "long": len(word) > 2}
    record["half"] = n / 2
    record["n"] += len(word)
    for letter in word:
        if "0" <= letter <= "9":
            record["n"] += 1
            record["long"] = True
    while record["n"] > 10:
        record["n"] -= 3
    return f"{record['word']}/{record['n']}/{record['long']}/{record['half']:.1f}"


def returned(word: str, n: int) -> dict[str, Any]:
    record = {"word": word, "n": n}
    record["half"] = n / 2
    return record


def filled(word: str, n: int) -> str:
    return "{word}-{n:04d}".format(**{"word": word, "n": n})  # noqa: PIE804


@pytest.mark.parametrize("function", [measured, returned, filled])
def test_a_dictionary_of_known_keys_may_have_several_kinds(function: Callable[..., Any]) -> None:
    checked(function, WORDS)


def named_twice(word: str, n: int) -> int:
    record = {"word": word, "n": n}
    same = record
    record["n"] = 7
    return same["n"]


def given_away(word: str, n: int) -> int:
    records = []
    record = {"word": word, "n": n}
    records.append(record)
    record["n"] = 7
    return records[0]["n"]


def within_another(word: str, n: int) -> int:
    record = {"word": word, "n": n}
    outer = {"record": record, "n": 1}
    record["n"] = 7
    return outer["record"]["n"]  # type: ignore[index, no-any-return]


@pytest.mark.parametrize("function", [named_twice, given_away, within_another])
def test_such_a_dictionary_with_two_names_does_not_change(function: Callable[..., Any]) -> None:
    with pytest.raises(ck.CompileError):
        checked(function, WORDS)


# Values of `and`


def first_group(word: str, n: int) -> str | None:
    actual = re.search(r"\d+", word)
    return actual and actual.group()


def matched_group(word: str, n: int) -> str:
    actual = re.search(r"\d", word)
    match actual and actual.group(0):
        case "1" | "2":
            return "low"
        case "7":
            return "high"
        case _:
            return "none"


@pytest.mark.parametrize("function", [first_group, matched_group])
def test_and_of_what_is_always_true_gives_none_or_the_other(function: Callable[..., Any]) -> None:
    checked(function, WORDS)


# Sums of constants


def of_one_constant(word: str, n: int) -> int:
    return sum(2**62 for _ in range(n - 1)) % 1000 + sum(1 for _ in range(n) if n > 1)


def of_a_name(word: str, n: int) -> int:
    large = -1 << 62
    return sum(large for _ in word) % 1000 + sum(True for _ in word)


@pytest.mark.parametrize("function", [of_one_constant, of_a_name])
def test_rows_whose_sum_of_a_constant_has_no_64_bits_are_pythons(
    function: Callable[..., Any],
) -> None:
    checked(function, [*WORDS[:4], ("abcd", 5)], left=["+ of more than 64 bits"])


# Displays of dictionaries


def changed_behind_a_copy(word: str, n: int) -> str:
    counts = {word: n}
    both = {
        "q": n,
        **counts,
        "r": counts.setdefault("s", 5),
        **counts,
        "z": counts.pop("s"),
        word + "!": len(counts),
    }
    return ",".join(f"{key}{value}" for key, value in both.items()) + str(len(counts))


def of_none(word: str, n: int) -> tuple[int, int]:
    nothing = None
    first = {nothing: n}
    more = {word: 3, "q": 4}
    second = {None: 1, word: 2, **more}
    return first[nothing] + len(second), len({nothing if n > 3 else word: 1, None: 2})


@pytest.mark.parametrize("function", [changed_behind_a_copy, of_none])
def test_displays_of_dictionaries_are_filled_in_order(function: Callable[..., Any]) -> None:
    checked(function, WORDS)


def of_functions_and_more(word: str, n: int) -> int:
    return len({"a": abs, "b": n})


def test_a_dictionary_of_functions_and_other_values_is_refused() -> None:
    with pytest.raises(ck.CompileError, match="functions and other values"):
        ck.udf(of_functions_and_more)(ck.array(["a"]), ck.array([1]))


def within_another_function(word: str, n: int) -> tuple[int, str]:
    def counted(first: int, *more: int, times: int = 2, **words: int) -> int:
        return (first + sum(more)) * times + len(words) + words.get("z", 5) + len(more)

    joined = lambda *parts: "-".join(parts)  # noqa: E731
    total = counted(n) + counted(n, 1, 2, times=n) * 1000 + counted(n, 4, z=3, y=1) * 1_000_000
    return total, joined(word, "x") + joined() + joined(*(word, word))


def test_functions_within_functions_take_any_arguments() -> None:
    checked(within_another_function, WORDS)


NEXT = {"a": ["b", "c"], "b": []}


def test_a_dictionary_of_constant_keys_changes_within_a_condition() -> None:
    def record(word: str, n: int) -> dict[str, Any]:
        row: dict[str, Any] = {"word": word, "n": n}
        if n > 2:
            row["n"] = 0
        return row

    checked(record, WORDS)


def test_the_default_of_a_dictionary_of_lists_is_an_empty_tuple_where_it_is_gone_over() -> None:
    def behind(word: str, n: int) -> str:
        places: dict[str, list[int]] = {}
        for place, letter in enumerate(word):
            places.setdefault(letter, []).append(place * n)
        numbers = [place + 1 for place in places.get("a", ())]
        return f"{numbers}" + "".join(other for other in NEXT.get(word[:1], ()))

    checked(behind, WORDS)


def filed(files: dict[int, list[str]], word: str) -> None:
    files[len(word)].append(word)


def filed_where_missing(files: dict[int, list[str]], word: str) -> dict[int, list[str]]:
    files.setdefault(len(word), []).append(word)
    return files


def new_files() -> dict[int, list[str]]:
    return defaultdict(list)


def by_length(text: str) -> str:
    own: dict[int, list[str]] = defaultdict(list)
    others: dict[int, list[str]] = {}
    made = new_files()
    for word in text.split():
        filed(own, word)
        others = filed_where_missing(others, word)
        filed(made, word)
    return f"{dict(own)} {others} {sorted(made.items())}"


def test_functions_add_to_containers_within_a_callers_container() -> None:
    checked(by_length, [("a b cc",), ("",), ("zz e",)])
