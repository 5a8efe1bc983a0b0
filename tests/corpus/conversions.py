"""Row functions that turn text into values, and the other way."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from . import values
from .case import case

TRUE = {"yes", "y", "true", "1", "on"}
FALSE = {"no", "n", "false", "0", "off"}


@case(rows=[values.numerals(1)], covers="int in try/except, None")
def int_or_none(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


@case(rows=[values.numerals(2)], covers="float in try/except with default")
def float_or_nan(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


@case(rows=[values.digit_texts(3)], covers="int of text that may not fit 64 bits")
def as_int(text: str) -> int:
    return int(text)


@case(rows=[values.numerals(4)], covers="int of float of text, raising", raises=True)
def whole_part(text: str) -> int:
    return int(float(text))


@case(
    rows=[values.one_of(5, ["yes", "No", "TRUE", "0", "off", " y "], ("", "maybe", "はい"))],
    covers="two sets, bool or None",
)
def to_bool(text: str) -> bool | None:
    t = text.strip().lower()
    if t in TRUE:
        return True
    return False if t in FALSE else None


@case(rows=[values.numerals(6)], covers="isdigit before int, lstrip of a sign")
def checked_int(text: str) -> int:
    t = text.strip()
    if t.lstrip("+-").isdecimal() and len(t) < 15:
        return int(t) if t[1:].isdecimal() or t.isdecimal() else 0
    return -1


@case(rows=[values.numerals(7)], covers="try/except/else, counts by kind")
def kind(text: str) -> str:
    try:
        number = float(text)
    except ValueError:
        return "text"
    else:
        return "whole" if number == number // 1 else "fraction"


@case(rows=[values.numerals(8)], covers="nested try, float after int")
def number(text: str) -> float | None:
    try:
        return float(int(text))
    except ValueError:
        try:
            return float(text.replace(",", "."))
        except ValueError:
            return None


@case(
    rows=[values.numerals(10)], covers="text of an exception, a field that only the handler gives"
)
def value_or_error(text: str) -> dict[str, object]:
    try:
        value = int(text)
        if value > 99:
            raise ValueError(f"too large: {value}")
        return {"value": 1 / value, "error": None}
    except (ValueError, ZeroDivisionError) as error:
        return {"value": None, "error": f"{type(error).__name__}: {error}"}


@case(rows=[values.numerals(9)], covers="Decimal of text, InvalidOperation")
def is_decimal(text: str) -> bool:
    try:
        Decimal(text)
    except InvalidOperation:
        return False
    return True


@case(rows=[values.floats(10)], covers="str of float, shortest digits")
def text_of_float(x: float) -> str:
    return str(x)


@case(rows=[values.integers(11)], covers="str of int, len, slices from the end")
def last_digits(n: int) -> str:
    return str(n)[-3:]


@case(rows=[values.floats(12)], covers="int of float, OverflowError and ValueError", raises=True)
def truncated(x: float) -> int:
    return int(x)


@case(rows=[values.floats(13)], covers="except of two kinds, message not used")
def truncated_or_zero(x: float) -> int:
    try:
        return int(x)
    except (OverflowError, ValueError):
        return 0


@case(rows=[values.flags(14), values.integers(14)], covers="bool to int, int to bool, str of bool")
def flag_text(flag: bool, n: int) -> str:
    return str(flag) + "/" + str(bool(n)) + "/" + str(int(flag) + 1)


@case(rows=[values.integers(15), values.integers(16)], covers="ZeroDivisionError caught")
def ratio(a: int, b: int) -> float:
    try:
        return a / b
    except ZeroDivisionError:
        return 0.0


@case(
    rows=[values.integers(17), values.integers(18)], covers="ZeroDivisionError raised", raises=True
)
def percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1)


@case(rows=[values.words(19)], covers="index of text that may raise IndexError", raises=True)
def first_letter(word: str) -> str:
    return word[0]


@case(
    rows=[values.words(20), values.between(20, -6, 6)], covers="IndexError caught, negative index"
)
def letter_at(word: str, place: int) -> str:
    try:
        return word[place]
    except IndexError:
        return ""


@case(rows=[values.key_values(21)], covers="str.index ValueError caught, finally")
def place_of_equals(text: str) -> int:
    place = -1
    try:
        place = text.index("=")
    except ValueError:
        place = -2
    finally:
        place += 1
    return place


@case(rows=[values.between(22, -5, 100)], covers="raise with an f-string", raises=True)
def checked_age(age: int) -> int:
    if age < 0:
        raise ValueError(f"age is {age}")
    return age


@case(rows=[values.between(23, 0, 30)], covers="assert", raises=True)
def checked_by_assert(n: int) -> int:
    assert n < 30, "too many"
    return n * 2


@case(
    rows=[values.one_of(24, ["12", "3.5", "7"], ("x", "", "٧", "é")), values.flags(24)],
    covers="except as e, str of an exception",
)
def outcome(text: str, strict: bool) -> str:
    try:
        value = int(text) if strict else float(text)
    except ValueError as e:
        return "error: " + str(e)[:20]
    return f"ok {value}"


@case(rows=[values.integers(25)], covers="bin, hex, oct")
def notations(n: int) -> str:
    return bin(n) + " " + hex(n) + " " + oct(n)


@case(rows=[values.tokens(26)], covers="int with base 36 of slices, no hints", raises=True)
def from_base36(token):
    return int(token[:5], 36)


@case(rows=[values.words(27)], covers="repr of text")
def quoted(word: str) -> str:
    return repr(word)


@case(rows=[values.money(28)], covers="float and str of Decimal")
def money_text(amount: Decimal) -> str:
    return f"{amount} = {float(amount):.1f}"


def typed(text):
    """A value of the type that a text looks like."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for form in (int, float):
        try:
            return form(text)
        except ValueError:
            continue
    return text.strip()


@case(rows=[values.numerals(29)], covers="a value of one of several types")
def typed_value(text: str) -> str:
    value = typed(text)
    if isinstance(value, str):
        return f"text {value or None}"
    return f"{type(value).__name__} {value:>8}"


@case(rows=[values.numerals(30)], covers="match of a value of one of several types")
def doubled(text: str) -> float | None:
    match typed(text):
        case bool():
            return None
        case int() | float() as number:
            return float(number) * 2
    return None
