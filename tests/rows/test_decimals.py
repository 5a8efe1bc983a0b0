"""Row functions over decimals, against Python's own."""

from __future__ import annotations

import decimal
import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rows.bodies import run

import colkern as ck
from colkern.kernels import row_decimals, row_values

CENT = Decimal("0.01")
RATES = {"low": Decimal("0.07"), "high": Decimal("0.190")}

VALUES = [
    *("1.10", "0.00", "-1.25", "2.50", "-0.05", "1234567.89", "99999999999999.99", "0.05", "3.00"),
    *("-7.50", "1.00", "2.00", "-2.50", "0.04", "-1000.01", "8.00", "1.50", "0.50", "0.35"),
]
PAIRS = [(Decimal(a), Decimal(b)) for n, a in enumerate(VALUES) for b in VALUES[n % 3 :: 5]]


def arithmetic(a: Any, b: Any) -> Any:
    return str(a + b), str(a - b), str(a * b), str(-a), str(abs(b)), str(+a), str(a * 2 + 1 - b)


def order(a: Any, b: Any) -> Any:
    return a == b, a != b, a < b, a <= b, a > b, a >= b, bool(a), a == 1, a < 3, max(a, b, CENT)


def texts(a: Any, b: Any) -> Any:
    return str(a), f"{a:.1f}|{b:,.2f}|{a:12.2f}|{a:<8.1f}|{b:010.2f}|{a:+.3f}|{a:>9}|{b:f}"


def integers(a: Any, b: Any) -> Any:
    whole = int(a), round(a), math.floor(a), math.ceil(b), math.trunc(b)
    return whole, float(a), str(round(b, 1)), str(Decimal(int(b))), str(Decimal(str(a)))


def rounding(a: Any, b: Any) -> Any:
    return (
        str(a.quantize(CENT)),
        str(b.quantize(Decimal("0.1"))),
        str((a * b).quantize(CENT, rounding=decimal.ROUND_HALF_UP)),
        str(a.quantize(Decimal(1), decimal.ROUND_HALF_DOWN)),
        str(b.quantize(Decimal("0.1"), rounding=decimal.ROUND_DOWN)),
        str(b.quantize(Decimal("0.1"), rounding=decimal.ROUND_UP)),
        str(a.quantize(Decimal("0.1"), rounding=decimal.ROUND_FLOOR)),
        str(a.quantize(Decimal("0.1"), rounding=decimal.ROUND_CEILING)),
        str(b.normalize()),
    )


def division(a: Any, b: Any) -> Any:
    return str(a / 8), str(a // (b + 2000)), str(a % (b + 2000))


def flow(a: Any, b: Any) -> Any:
    rate = RATES["high" if a > b else "low"]
    total = 0
    for value in [a, b]:
        total += value
    first = a if a > 0 else Decimal("0.000")
    return str(a * rate), total * 2, str(first), isinstance(a, Decimal), str(sum([a, b]))


def shares(a: Any, b: Any) -> Any:
    whole = b if b else Decimal(7)
    share = a / whole
    return (
        str(share.quantize(Decimal("0.0001"), decimal.ROUND_HALF_UP)),
        f"{a / 3:.2f}|{share:.1%}|{share:>12.3f}",
        float(round(share * 100, 1)),
        float(a / 7),
        int(abs(share)),
        share > Decimal("0.5"),
        max(a / 3, Decimal(1)) == 1,
        bool(share),
    )


def plain(value: Any) -> Any:
    return tuple(value.values()) if isinstance(value, dict) else value


@pytest.mark.parametrize("data_type", [ck.decimal64(18, 2), ck.decimal256(40, 2)], ids=str)
@pytest.mark.parametrize(
    "function", [arithmetic, order, texts, integers, rounding, division, flow, shares]
)
def test_each_row_has_what_python_gives(
    function: Callable[[Any, Any], Any], data_type: ck.DataType
) -> None:
    columns = [ck.array(list(side), data_type) for side in zip(*PAIRS, strict=True)]
    compiled = ck.udf(function)
    actual = compiled(*columns).to_pylist()
    assert [tuple(map(plain, row.values())) for row in actual] == [function(*row) for row in PAIRS]
    # What has more digits, and a negative number that is rounded to zero.
    assert sum(compiled.report().left.values()) < len(PAIRS) / 3


WAYS = {
    decimal.ROUND_HALF_EVEN: row_decimals.EVEN,
    decimal.ROUND_HALF_UP: row_decimals.UP,
    decimal.ROUND_HALF_DOWN: row_decimals.DOWN,
    decimal.ROUND_UP: row_decimals.AWAY,
    decimal.ROUND_DOWN: row_decimals.TRUNCATE,
    decimal.ROUND_FLOOR: row_decimals.FLOOR,
    decimal.ROUND_CEILING: row_decimals.CEILING,
}


@given(
    st.integers(-(10**18) + 1, 10**18 - 1),
    st.integers(-12, 3),
    st.integers(-14, 2),
    st.sampled_from(sorted(WAYS)),
)
def test_rounding_is_pythons(number: int, exponent: int, places: int, way: str) -> None:
    result, code = row_decimals.rounded(row_values.Decimal(number, exponent), places, WAYS[way])
    try:
        want = Decimal(number).scaleb(exponent).quantize(Decimal(1).scaleb(places), rounding=way)
    except decimal.InvalidOperation:
        assert code == row_values.LEFT
        return
    if code == row_values.DONE:
        assert str(Decimal(int(result.coefficient)).scaleb(int(result.exponent))) == str(want)
    else:
        assert abs(want.scaleb(-places)) >= 10**18 or (want == 0 and number < 0)


def as_python(value: Any) -> Decimal:
    """A decimal of compiled code; of a quotient that is cut, without what was."""
    kept = row_decimals.kept_of(value)
    return Decimal(int(kept.coefficient)).scaleb(int(kept.exponent))


NUMBERS = st.integers(0, 18).flatmap(lambda size: st.integers(1 - 10**size, 10**size - 1))


@settings(max_examples=200)
@given(NUMBERS, st.integers(-9, 0), NUMBERS.filter(bool))
def test_quotients_are_pythons(number: int, exponent: int, divisor: int) -> None:
    a, b = Decimal(number).scaleb(exponent), Decimal(divisor)
    sides = row_values.Decimal(number, exponent), row_values.Decimal(divisor, 0)
    for body, operation in (
        (row_decimals.divide, lambda: a / b),
        (row_decimals.floor_divide, lambda: a // b),
        (row_decimals.modulo, lambda: a % b),
    ):
        result, code = body(*sides)
        if code == row_values.DONE and not row_decimals.is_cut(result):
            assert str(as_python(result)) == str(operation())


CUT = st.tuples(NUMBERS, st.integers(-9, 3), NUMBERS.filter(bool), st.integers(-6, 6))


def cut_quotient(parts: tuple[int, int, int, int]) -> tuple[Any, Decimal]:
    """A quotient that compiled code has cut, or reject, and Python's."""
    number, exponent, divisor, other = parts
    result, code = row_decimals.divide(
        row_values.Decimal(number, exponent), row_values.Decimal(divisor, other)
    )
    assume(code == row_values.DONE and row_decimals.is_cut(result))
    return result, Decimal(number).scaleb(exponent) / Decimal(divisor).scaleb(other)


@pytest.mark.filterwarnings("ignore:overflow encountered")  # Compiled code wraps around there.
@settings(max_examples=300)
@given(CUT, st.integers(-20, 4), st.sampled_from(sorted(WAYS)), st.integers(0, 4), NUMBERS)
def test_what_is_known_of_a_quotient_that_is_cut(
    parts: tuple[int, int, int, int], places: int, way: str, zeros: int, other: int
) -> None:
    result, quotient = cut_quotient(parts)
    result, code = row_decimals.multiply(result, row_values.Decimal(10**zeros, 0))
    quotient *= 10**zeros
    assert code == row_values.DONE
    result = row_values.Decimal(int(result.coefficient), int(result.exponent))
    rounded, code = row_decimals.rounded(result, places, WAYS[way])
    if code == row_values.DONE:
        assert str(as_python(rounded)) == str(
            quotient.quantize(Decimal(1).scaleb(places), rounding=way)
        )
    nearest, code = row_decimals.to_float(result)
    if code == row_values.DONE:
        assert nearest == float(quotient)
    for exponent in (int(row_decimals.kept_of(result).exponent), -2):
        for number in (other, int(result.coefficient), int(result.coefficient) + 1):
            order, code = row_decimals.difference(result, row_values.Decimal(number, exponent))
            if code == row_values.DONE:
                value = Decimal(number).scaleb(exponent)
                assert (order > 0, order < 0) == (quotient > value, quotient < value)


@settings(max_examples=100)
@given(CUT, CUT, NUMBERS, st.integers(-9, 0))
def test_nothing_else_is_known_of_it(
    parts: tuple[int, int, int, int],
    others: tuple[int, int, int, int],
    number: int,
    exponent: int,
) -> None:
    result, second = cut_quotient(parts)[0], cut_quotient(others)[0]
    plain = row_values.Decimal(number, exponent)
    bodies = row_decimals.add, row_decimals.divide, row_decimals.floor_divide, row_decimals.modulo
    for sides in ((result, plain), (plain, result), (result, second)):
        assert all(body(*sides)[1] == row_values.LEFT for body in bodies)
    assert row_decimals.difference(result, second)[1] == row_values.LEFT
    assert row_decimals.normalize(result)[1] == row_values.LEFT
    assert row_decimals.multiply(result, second)[1] == row_values.LEFT


def test_values_of_more_digits_are_left_to_python() -> None:
    @ck.udf
    def doubled(x: Decimal) -> Decimal:
        return x * 2

    values = [Decimal("1.50"), None, Decimal(10) ** 20, Decimal(10) ** 35 + CENT]
    column = ck.array(values, ck.decimal128(38, 2))
    want = [value and value * 2 for value in values]
    assert doubled(column).to_pylist() == want
    assert sum(doubled.report().left.values()) == 2
    assert doubled(column).type == ck.decimal128(38, 2)


def test_lists_and_rows_of_decimals() -> None:
    @ck.udf
    def priced(xs) -> Any:
        return {"total": sum(xs), "each": [x * 2 for x in xs], "most": max(xs)}

    lists = [[Decimal("1.10"), Decimal("2.5")], [Decimal("-1.00")], None]
    actual = priced(ck.array(lists, ck.list_(ck.decimal128(12, 2))))
    assert actual.to_pylist() == [xs and priced.function(xs) for xs in lists]


def test_reducers_and_generators_of_decimals() -> None:
    @ck.reducer
    class total:
        def init():  # type: ignore[misc]
            return Decimal("0.00")

        def update(state, x):
            return state + x

    @ck.generator
    def each(x: Decimal):
        yield x
        yield x * 2

    column = ck.array([Decimal("1.10"), Decimal("2.25"), None], ck.decimal128(12, 2))
    assert total(column) == Decimal("3.35")  # type: ignore[call-arg]
    assert each(column).to_pylist()[1:] == [[Decimal("2.25"), Decimal("4.50")], None]


def test_a_sum_of_no_decimals_is_an_integer() -> None:
    @ck.udf
    def total(xs) -> str:
        return str(sum(xs))

    column = ck.array([[], [Decimal("1.10")]], ck.list_(ck.decimal128(12, 2)))
    assert total(column).to_pylist() == ["0", "1.10"]


def test_results_as_a_declared_type() -> None:
    @ck.udf(returns=ck.decimal128(5, 1))
    def tenfold(x: Any) -> Any:
        return x * 10

    assert tenfold(ck.array([Decimal("1.25"), Decimal("7")])).to_pylist() == [
        Decimal("12.5"),
        Decimal("70.0"),
    ]
    for text in ("1.255", "99999"):
        with pytest.raises(ValueError, match="does not fit") as caught:
            tenfold(ck.array([Decimal(1), Decimal(text)]))
        assert caught.value.__notes__ == ["tenfold: row 1"]


def test_a_decimal_in_a_list_that_does_not_fit_is_the_error_of_its_row() -> None:
    @ck.udf(returns=ck.list_(ck.struct({"x": ck.list_(ck.decimal128(5, 1))})))
    def tenfold(x: Any) -> Any:
        return [([x, None, x * 10],)]

    actual = tenfold(ck.array([Decimal("1.20"), None], ck.decimal128(12, 3)))
    assert actual.to_pylist() == [[{"x": [Decimal("1.2"), None, Decimal("12.0")]}], None]
    with pytest.raises(ValueError, match="does not fit") as caught:
        tenfold(ck.array([Decimal(1), Decimal("1.255")]))
    assert caught.value.__notes__ == ["tenfold: row 1"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1.5,
        lambda x: {x: 1},
        lambda x: sum([x], 0.5),
    ],
)
def test_what_has_no_compiled_form_is_refused(function: Callable[[Any], Any]) -> None:
    def f(x: Decimal) -> Any:
        return function(x)

    with pytest.raises((ck.CompileError, ck.UnsupportedError)):
        ck.udf(f)


def text_of(text: str) -> str:
    return str(Decimal(text)) + "%.2f" % Decimal(text)  # noqa: UP031


@given(st.text(st.sampled_from("0 9.-+_eEnNaif/x\u0661\x7f"), max_size=6))
def test_what_is_sure_to_be_no_decimal_raises(text: str) -> None:
    try:
        assert not run(row_decimals.is_no_number, text) or Decimal(text) is None
    except decimal.InvalidOperation:
        return


def test_white_space_around_a_decimal_is_no_part_of_it() -> None:
    texts = [" 4.31", "-25.26 ", "\t\n7\r\x1f", "\u2003+1.0\xa0"]
    result = ck.udf(text_of, strict=True)
    assert result(ck.array(texts)).to_pylist() == list(map(text_of, texts))
    for text in (" ", "1 2", "- 1", ""):
        with pytest.raises(decimal.InvalidOperation):
            ck.udf(text_of)(ck.array([text]))


def of_what_is_finite(text: str) -> str:
    value = Decimal(text)
    if not value.is_finite() or value.is_nan() or value.is_infinite():
        return "none"
    if value > 9:
        return str(value.sqrt().adjusted())
    return str(value)


def test_decimals_are_finite_and_methods_without_a_compiled_form_are_left_to_python() -> None:
    texts = ["1.5", "NaN", "-Infinity", "sNaN", "100"]
    result = ck.udf(of_what_is_finite)
    assert result(ck.array(texts)).to_pylist() == list(map(of_what_is_finite, texts))
    left = Counter(site.reason for site in result.report().sites.elements() if site)
    assert left == {"decimal.Decimal": 3, "Decimal.sqrt": 1}


def test_texts_of_too_many_digits_are_left_to_python() -> None:
    texts = [
        "92233720368547758085",
        "92233720368547758081.50",
        "999999999999999999",
        "0.005",
        "-0.025",
    ]
    assert ck.udf(text_of)(ck.array(texts)).to_pylist() == list(map(text_of, texts))


def squared(a: Any) -> Any:
    return a * a, f"{a * a:.2f}"


class Squares:
    """Sums squares."""

    @staticmethod
    def init() -> Decimal:
        return Decimal(0)

    @staticmethod
    def update(total: Decimal, a: Decimal) -> Decimal:
        return total + a * a

    @staticmethod
    def merge(a: Decimal, b: Decimal) -> Decimal:
        return a + b

    @staticmethod
    def finish(total: Decimal) -> str:
        return str(total)


@pytest.mark.parametrize("changed", [{"prec": 5}, {"rounding": decimal.ROUND_DOWN}])
def test_another_context_leaves_rows_to_python(changed: dict[str, Any]) -> None:
    values = [Decimal("123.45"), None, Decimal("0.10")]
    column = ck.array(values)
    function, strict = ck.udf(squared), ck.udf(squared, strict=True)

    def expected() -> list[Any]:
        return [value and squared(value) for value in values]

    def results() -> list[Any]:
        return [row and tuple(row.values()) for row in function(column).to_pylist()]

    with decimal.localcontext(**changed):
        assert results() == expected()
        with pytest.raises(ck.CompileError, match="decimal context"):
            strict(column)
    assert results() == expected()


def test_what_another_context_traps_is_raised() -> None:
    with decimal.localcontext() as context:
        context.traps[decimal.Inexact] = True
        with pytest.raises(decimal.Inexact):
            ck.udf(lambda a: float(a / 3))(ck.array([Decimal("0.1")]))


def test_reducers_in_another_context_are_pythons() -> None:
    values = [Decimal("123.45"), Decimal("0.10")]
    sum_of_squares = ck.reducer(Squares)
    with decimal.localcontext(prec=5):
        expected = str(Decimal(0) + values[0] * values[0] + values[1] * values[1])
        assert sum_of_squares(ck.array(values)) == expected
    assert sum_of_squares(ck.array(values)) == "15239.9125"
