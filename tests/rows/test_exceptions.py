"""Handlers that read their exception, against the plain functions: the text, an argument, the class."""

from __future__ import annotations

import linecache
import logging
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import pytest

import colkern as ck

LOG = logging.getLogger(__name__)
STOCK = {"apple": 3, "pear": 0}


class TooLarge(ValueError):
    """An exception of the user's."""


def record(text: str) -> dict[str, object]:
    try:
        return {"value": float(text), "error": None}
    except ValueError as error:
        return {"value": None, "error": str(error)}


def of_several_classes(text: str) -> str:
    try:
        number = int(text)
        if number < 0:
            raise ValueError("negative")
        if number > 100:
            raise TooLarge(f"too large: {number}")
        return str(10 // number)
    except (ValueError, ZeroDivisionError) as error:
        return f"{type(error).__name__}: {error}"


def of_keys(text: str) -> str:
    try:
        return str(7 % STOCK[text])
    except KeyError as error:
        return "100%% rare: no %s" % error  # noqa: UP031
    except ArithmeticError as error:
        return "{} {}".format(error.__class__.__name__, error)  # noqa: UP032


def checked_number(text: str) -> int:
    if not text:
        raise ValueError("empty")
    return len(text)


def of_a_function(text: str) -> str:
    try:
        return "%d" % checked_number(text)  # noqa: UP031
    except Exception as error:  # noqa: BLE001
        return "failed: %s" % error  # noqa: UP031


def within_another(text: str) -> str:
    done = []
    try:
        try:
            done.append(text.split(",")[2])
        except IndexError as error:
            done.append(f"{error!s:>30}")
            raise ValueError(f"short: {error}") from error
        finally:
            done.append("finally")
        first, second = text.split(";")
        done.append(first + second)
    except ValueError as error:
        done.append(str(error))
    return "|".join(done)


def by_arguments(text: str) -> str:
    try:
        if text == "pear":
            raise ValueError
        return str(10 // STOCK[text] + text.index("p"))
    except (KeyError, ValueError) as error:
        return str(error.args[0]) if error.args else "none"


def of_text(text: str) -> str:
    try:
        return text[2] + str(text.index("p")) + max(text.split("l")[2:])
    except (IndexError, ValueError) as error:
        return str(error)


def of_none(text: str | None) -> str:
    try:
        return text.strip() + str(float(text))  # type: ignore[operator, union-attr]
    except (AttributeError, ValueError) as error:
        return str(error)


def number_of_none(text: str | None) -> str:
    try:
        return str(float(text))
    except (TypeError, ValueError) as error:
        return str(error)


def argument_of_others(text: str) -> int:
    """The argument of an exception may be no text."""
    try:
        if text == "0":
            raise AssertionError(len(text))
        return int(Decimal(text))
    except InvalidOperation as error:
        return -len(error.args[0])
    except AssertionError as error:
        return error.args[0]


def of_decimals(text: str) -> str:
    try:
        value = Decimal(text)
        if value < 0:
            raise TooLarge("negative")
        return str(value)
    except (InvalidOperation, TooLarge) as error:
        return f"{type(error).__name__} {error}"


def of_dates(text: str) -> str:
    try:
        return str(date.fromisoformat(text) - date(int(text[-2:]), 12, 31))
    except ValueError as error:
        return str(error)


def of_moments(text: str) -> str:
    try:
        return str(datetime.strptime(text, "%d %b %Y %I:%M%p").date())
    except ValueError as error:
        return str(error)


def in_a_loop(text: str) -> list[str]:
    """An exception of an earlier round has no part in a later one."""
    results = []
    for part in text.split(","):
        try:
            if part == "pear":
                raise ValueError("a pear")
            results.append(str(int(part)))
        except ValueError as error:
            results.append(str(error))
    return results


NUMBERS = ["1", "2.5", "x", "-3", "0", "500", "", "it's", "9" * 30, "a" * 300, " 7 ", '"', "'\""]
PARTS = ["a,b,c", "a;b", "1;2;3", "pear", "apple", "", "plum", "é", "apple,pear,1", None]

MOMENTS = [
    "4 Jan 2020 10:30AM", "31 feb 2021 1:05pm", "04 Jan 2020 13:05pm", "4 Foo 2020 1:05pm",
    "4 Jan 2020 10:30AM!", "4 Jan 0000 1:05pm",
]  # fmt: skip

CASES: list[tuple[Callable[..., Any], Sequence[str | None], int]] = [
    (record, NUMBERS, 3),
    (of_several_classes, NUMBERS, 3),
    (of_keys, ["apple", "pear", "fig", "", None], 0),
    (of_a_function, ["", "ab"], 0),
    (within_another, PARTS, 0),
    (by_arguments, ["apple", "plum", "pear"], 3),
    (of_text, PARTS, 0),
    (of_none, [*NUMBERS, None], 3),
    (number_of_none, [*NUMBERS, None], 3),
    (argument_of_others, ["1", "x", "0"], 2),
    (of_decimals, ["1.5", "x", "-2", ""], 0),
    (of_dates, ["2024-02-30", "2024-13-01", "0000-01-01", "2024-1-1", "x", "2024-01-31", ""], 0),
    (of_moments, [*MOMENTS, "x", "", "it's", "4 Jan", None], 1),
    (in_a_loop, PARTS, 1),
]
"""Functions, texts, and how many of these are left to Python at most: long ones, ones with both quotes."""


@pytest.mark.parametrize(("function", "texts", "left"), CASES)
def test_text(function: Callable[..., Any], texts: Sequence[str | None], left: int) -> None:
    """The text of an exception is Python's, also of the running version."""
    compiled = ck.udf(function)
    nulls = function in (of_none, number_of_none)
    want = [None if text is None and not nulls else function(text) for text in texts]
    assert compiled(ck.array(texts, ck.utf8())).to_pylist() == want
    assert compiled.report().sites.total() <= left


def of_another_reader(text: str) -> dict[str, object]:
    try:
        return {"value": int(text), "note": None, "size": 0}
    except ValueError as error:
        LOG.warning("no number", exc_info=error)
        note = f"{type(error).__name__} {error}"
        return {"value": None, "note": note, "size": len(error.args)}


def test_other_readers_leave_the_row() -> None:
    """Only Python has the exception; the kinds of the results count nevertheless."""
    compiled = ck.udf(of_another_reader)
    texts = ["1", "x", "2"]
    assert compiled(ck.array(texts)).to_pylist() == [of_another_reader(text) for text in texts]
    assert compiled.report().sites.total() == 1


# Arguments that are no texts


class Counted(ValueError):
    """An exception whose constructor is the user's."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} of them")
        self.count = count


def of_fields(n: int) -> str:
    try:
        raise Counted(n)
    except ValueError as error:
        return str(error)


def of_a_number(n: int) -> str:
    try:
        if n:
            raise ValueError(n)
        raise KeyError(n, "b")
    except (ValueError, KeyError) as error:
        return f"{error}"


def of_several(n: int) -> str:
    try:
        raise ValueError("x", n, 1.5, None, n > 1)
    except ValueError as error:
        return f"{error}"


def of_an_argument(n: int) -> str:
    try:
        raise ValueError(n, "x")
    except ValueError as error:
        return f"{error.args[0]!r}"


RAISED = [
    (of_a_number, 0), (of_several, 0), (of_fields, 0), (of_an_argument, 3),
]  # fmt: skip


@pytest.mark.parametrize(("function", "left"), RAISED)
def test_texts_of_other_arguments(function: Callable[[int], str], left: int) -> None:
    compiled = ck.udf(function)
    assert compiled(ck.array([0, 1, 2])).to_pylist() == [*map(function, range(3))]
    assert compiled.report().sites.total() <= left


# Exceptions of helpers, and of classes with constructors


class Refused(Exception):
    """The base of a program's exceptions."""

    status = 500

    def __init__(self, message: str, *, code: int | None = None) -> None:
        super().__init__(message)
        self.code = self.status if code is None else code


class Missing(Refused):
    status = 404


class Misread(Refused):
    status = 400

    def __init__(self, field: str, extra: int = 0) -> None:
        super().__init__(f"{field} is misread", code=extra or None)
        self.field = field


class Plain(Exception):
    """An exception whose `args` are those of its constructor."""

    def __init__(self, first: str, second: int) -> None:
        self.first, self.second = first, second


class Shown(Plain):
    def __str__(self) -> str:
        return f"{self.first}/{self.second}"


class OnSomePaths(Exception):
    def __init__(self, text: str, size: int) -> None:
        if size > 1:
            super().__init__(text)


class Noted(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        NOTED.append(text)


NOTED: list[str] = []


def looked_up(text: str) -> str:
    if not text:
        raise Missing("nothing")
    if text == "pear":
        raise Misread("fruit", extra=len(text))
    if text.isdigit():
        raise Misread("number")
    if text == "fig":
        raise Refused(f"no {text}s", code=len(text))
    return text.upper()


def by_class_and_field(text: str) -> str:
    try:
        return looked_up(text)
    except Misread as error:
        return f"{error.field} {error.code} {error.status} {error}"
    except Refused as error:
        return f"{error} {error.code}"


def by_base(text: str) -> str:
    try:
        return looked_up(text)
    except Exception as error:  # noqa: BLE001
        return f"{error!r} {error.args[0]}"


def by_instance(text: str) -> str:
    try:
        return looked_up(text) if text != "plum" else text[9]
    except Exception as error:  # noqa: BLE001
        if isinstance(error, Misread):
            return f"{error.field} {error.status}"
        status = getattr(error, "status", 0)
        return f"{isinstance(error, LookupError | Refused)} {status} {hasattr(error, 'code')}"


def of_each_part(text: str) -> list[str]:
    """Each exception has its own fields, also if another one is caught in between."""
    results = []
    for part in text.split(","):
        try:
            results.append(looked_up(part))
        except Refused as outer:
            try:
                looked_up(part + "1")
                looked_up("1")
            except Misread as inner:
                results.append(f"{outer} {inner} {inner.code}")
            results.append(f"{outer.code}")
    return results


def carried_on(text: str) -> str:
    try:
        return looked_up(text)
    except Missing as error:
        raise ValueError(f"wrapped: {error}") from error
    finally:
        try:
            raise Misread("shadow", extra=9)
        except Misread as error:
            str(error)


def of_a_helper_that_cleans_up(text: str) -> str:
    try:
        return carried_on(text)
    except ValueError as error:
        return str(error)
    except Refused as error:
        return f"{error} {error.code}"


def deeper(text: str, depth: int) -> str:
    if depth > 3:
        raise Misread(text, extra=depth)
    return "a" if text[:1] == "a" else deeper(text, depth + 1)


def of_a_recursion(text: str) -> str:
    try:
        return deeper(text, 0)
    except Misread as error:
        return f"{error.field} {error.code} {error}"


def of_fields_alone(text: str) -> str:
    try:
        if text:
            raise Shown(text, len(text))
        raise Plain(first="", second=0)
    except Plain as error:
        return f"{error.first}{error.second}"


def of_written_text(text: str) -> str:
    try:
        if not text:
            raise Plain(text, 0)
        raise Shown(text, len(text))
    except Plain as error:
        return f"{error}"


def of_a_number_of_a_helper(text: str) -> str:
    try:
        return raised_with_a_number(text)
    except Misread as error:
        return str(error.field)
    except ValueError as error:
        return repr(error.args[0])


def raised_with_a_number(text: str) -> str:
    if text == "pear":
        raise Misread(len(text))
    if text == "fig":
        raise Misread(text)
    if not text:
        raise ValueError(5)
    return str(int(text))


def of_some_paths(text: str) -> str:
    try:
        raise OnSomePaths(text, len(text))
    except Exception as error:  # noqa: BLE001
        return f"{error}"


def of_an_effect(text: str) -> str:
    try:
        raise Noted(text)
    except Noted as error:
        return f"{error}"


FRUIT = ["apple", "", "pear", "12", "fig", "a,pear,,7", "apples", "fig"]

OF_USERS: list[tuple[Callable[[str], Any], int]] = [
    (by_class_and_field, 0), (by_base, 0), (by_instance, 0), (of_each_part, 0),
    (of_a_recursion, 0), (of_fields_alone, 0), (of_written_text, 0), (of_a_number_of_a_helper, 4),
    (of_a_helper_that_cleans_up, 0), (of_some_paths, 8), (of_an_effect, 8),
]  # fmt: skip
"""Functions, and how many rows are left to Python at most."""


@pytest.mark.parametrize(("function", "left"), OF_USERS)
def test_exceptions_with_constructors(function: Callable[[str], Any], left: int) -> None:
    """Constructors run once, and a handler reads the fields and the text of its own exception."""
    want = [function(text) for text in FRUIT]
    NOTED.clear()
    compiled = ck.udf(function)
    assert compiled(ck.array(FRUIT)).to_pylist() == want
    assert NOTED in ([], FRUIT)
    assert compiled.report().sites.total() <= left


def test_an_exception_without_a_handler_is_pythons() -> None:
    compiled = ck.udf(looked_up)
    with pytest.raises(Misread, match="fruit is misread") as raised:
        compiled(ck.array(["apple", "pear"]))
    assert (raised.value.code, raised.value.field) == (4, "fruit")


# Constructors and texts that are Python's


class OfTwoForms(Exception):
    def __init__(self, text: str) -> None:
        if text:
            self.args = (text, "two")
        else:
            self.args = ("one",)


class ShownByDividing(Exception):
    """A text that is not asked for raises nothing."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size

    def __str__(self) -> str:
        return str(10 // self.size)


class Formatted(Exception):
    def __format__(self, form: str) -> str:
        return f"formatted {form}"


def of_two_forms(text: str) -> str:
    try:
        raise OfTwoForms(text)
    except OfTwoForms as error:
        return f"{error}"


def of_a_text_not_read(text: str) -> int:
    try:
        try:
            raise ShownByDividing(len(text))
        except ShownByDividing as error:
            return error.size
    except ZeroDivisionError:
        return -1


def of_a_format(text: str) -> str:
    try:
        raise Formatted(text)
    except Formatted as error:
        return f"{error}"


def of_named_attributes(text: str) -> str:
    try:
        return str(STOCK[text])
    except KeyError as error:
        name = getattr(getattr(error, "__class__"), "__name__")  # noqa: B009
        return f"{getattr(error, 'args')[0]} {name}"  # noqa: B009


def of_representations(text: str) -> str:
    try:
        if text:
            raise KeyError(text)
        raise ValueError("empty")
    except (KeyError, ValueError) as error:
        return "%r %s" % (error, error) + "{!r}".format(error)  # noqa: UP031, UP032


def of_a_function_of_functions(text: str) -> str:
    """A library's function passes exceptions of the user's on, whose fields it does not know."""

    def known(letter: str) -> str:
        if letter == "p":
            raise Misread(letter, extra=len(text))
        return letter

    try:
        return "".join(sorted(text, key=known))
    except Misread as error:
        return f"{error.field} {error.code} {error}"


OF_PYTHON = [
    of_two_forms, of_a_text_not_read, of_a_format, of_representations, of_named_attributes,
    of_a_function_of_functions,
]  # fmt: skip


@pytest.mark.parametrize("function", OF_PYTHON)
def test_what_the_compiler_does_not_know_is_pythons(function: Callable[[str], Any]) -> None:
    compiled = ck.udf(function)
    assert compiled(ck.array(FRUIT)).to_pylist() == [*map(function, FRUIT)]


def test_texts_of_more_places_than_have_numbers() -> None:
    """Places beyond the first 250 share a number: none may get the text of another one."""
    lines = [f"    if n == {n}: raise ValueError('text {n}')" for n in range(300)]
    names: dict[str, Any] = {}
    source = "\n".join(["def raised(n: int) -> int:", *lines, "    return n"])
    linecache.cache["<raised>"] = (len(source), None, source.splitlines(keepends=True), "<raised>")
    exec(compile(source, "<raised>", "exec"), names)
    raised = names["raised"]

    def function(n: int) -> str:
        earlier = ""
        try:
            raise_with(n)
        except ValueError as error:
            earlier = str(error)
        try:
            return f"{earlier}{raised(n)}"
        except ValueError as error:
            return f"{earlier}{error}"

    numbers = [0, 240, 260, 299, 300]
    assert ck.udf(function)(ck.array(numbers)).to_pylist() == [*map(function, numbers)]


def raise_with(n: int) -> None:
    raise ValueError(f"with {n}")
