"""The corpus against Python: what each function should give, and what an engine makes of it.

    python -m tests.corpus.runner                 # counts, for colkern as it is here
    python -m tests.corpus.runner patterns -v     # cases with `patterns` in their name, and why they fail
    python -m tests.corpus.runner --layout views  # over columns of another layout
    python -m tests.corpus.runner --engine python
    NUMBA_ENABLE_CUDASIM=1 python -m tests.corpus.runner --engine device  # on a simulated GPU

An engine is a function `run(function, columns)` that gives the results as a list, and how many rows it
left to Python for which line. It raises `Refused` for a function that it does not compile, and for a row
that raises what Python raises.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import inspect
import math
import re
import sys
import types
import typing
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import colkern as ck
from colkern.operations.moving import to_device, to_host

from .cases import CASES, Case, Column

LARGEST = 2**63


class Refused(Exception):
    """An engine does not compile a function; its text says why."""


@dataclasses.dataclass(frozen=True)
class Raised:
    """The exception that a row raises in place of a result."""

    type: type[BaseException]
    message: str

    @classmethod
    def by(cls, error: BaseException) -> Raised:
        """An exception without its traceback."""
        return cls(type(error), str(error))


Left = dict[int, int]
"""The number of rows left to Python, by the line of the function."""

Run = Callable[[Callable[..., Any], Sequence[Column]], tuple[list[Any], Left]]


@dataclasses.dataclass
class Comparison:
    """The outcome of a case in an engine.

    Args:
        case: The case.
        compiled: Whether the engine took the function.
        equal: Whether all results and the first exception are Python's.
        left: The rows left to Python, by line, of those that do not raise.
        left_on_ascii: The same over ordinary values.
        why: Why it was refused, or the first difference.
    """

    case: Case
    compiled: bool = False
    equal: bool = False
    left: Left = dataclasses.field(default_factory=dict)
    left_on_ascii: Left = dataclasses.field(default_factory=dict)
    why: str = ""


def takes_none(function: Callable[..., Any]) -> tuple[bool, ...]:
    """Which parameters' hints have None. A parameter without a hint takes none."""
    hints = typing.get_type_hints(function)
    return tuple(_has_none(hints.get(name)) for name in inspect.signature(function).parameters)


def _has_none(hint: object) -> bool:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return type(None) in typing.get_args(hint)
    return False


def expected(case: Case) -> list[Any]:
    """Python's result for each row, or `Raised`."""
    takes = takes_none(case.function)

    def result(row: tuple[Any, ...]) -> Any:
        if any(value is None and not taken for value, taken in zip(row, takes, strict=True)):
            return None
        try:
            return case.function(*row)
        except Exception as error:  # noqa: BLE001
            return Raised.by(error)

    rows = zip(*(column.values for column in case.columns), strict=True)
    return [result(row) for row in rows]


def storable(value: Any) -> bool:
    """Whether a column can hold a result: integers of columns have 64 bits."""
    if isinstance(value, int):
        return -LARGEST <= value < LARGEST
    value = _fields(value)
    if isinstance(value, dict):
        value = list(value.values())
    return not isinstance(value, list | tuple) or all(map(storable, value))


def same(want: Any, got: Any, hint: Any = None) -> bool:
    """Whether an engine's value is Python's.

    NaN is NaN, -0.0 is not 0.0, True is not 1, 1 is not 1.0. A struct, which comes back as a dictionary,
    equals the tuple or the object that Python gives.

    Args:
        want: What Python gives.
        got: What the engine gives.
        hint: What it is hinted to be: where that is float, an integer may come back as a float.
    """
    if isinstance(want, float) and isinstance(got, float):
        if math.isnan(want) or math.isnan(got):
            return math.isnan(want) and math.isnan(got)
        return want == got and math.copysign(1, want) == math.copysign(1, got)
    if type(want) is int and type(got) is float and float in (hint, *typing.get_args(hint)):
        return want == got
    if dataclasses.is_dataclass(want):
        want, got = _fields(want), _fields(got)
    if hasattr(want, "_asdict"):
        want = want._asdict() if isinstance(got, dict) else tuple(want)
    if isinstance(want, dict):
        # A map comes back as the list of its pairs.
        got = dict(got) if isinstance(got, list) else got
        if not isinstance(got, dict) or list(want) != list(got):
            return False
        want, got = list(want.values()), list(got.values())
    if isinstance(want, list | tuple):
        got = list(got.values()) if isinstance(got, dict) else got
        if not isinstance(got, list | tuple) or len(want) != len(got):
            return False
        return all(map(same, want, got, _of_items(hint, len(want))))
    return type(want) is type(got) and bool(want == got)


def _of_items(hint: Any, count: int) -> list[Any]:
    """The hints of the items of a tuple, a list or an object; None where there is none."""
    for one in (hint, *typing.get_args(hint)):
        if typing.get_origin(one) is list:
            return [typing.get_args(one)[0]] * count
        actual = typing.get_args(one) if typing.get_origin(one) is tuple else ()
        if isinstance(one, type) and typing.get_origin(one) is None:
            actual = tuple(typing.get_type_hints(one).values())
        if len(actual) == count:
            return list(actual)
    return [None] * count


def _hint_of(results: list[Any]) -> Any:
    """The type of the results of a function without a hint: floats, if any is one."""
    results = [
        result for result in results if result is not None and not isinstance(result, Raised)
    ]
    if any(type(result) is float for result in results):
        return float
    if results and all(isinstance(result, tuple) for result in results):
        return types.GenericAlias(
            tuple, tuple(map(_hint_of, map(list, zip(*results, strict=False))))
        )
    return None


def _fields(value: Any) -> Any:
    """A data class's fields as a dictionary; what is none, as it is."""
    if not dataclasses.is_dataclass(value):
        return value
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def compare(case: Case, run: Run) -> Comparison:
    """The outcome of a case in an engine.

    It runs over the rows that give results, then over those up to the first that raises: so the row of
    the exception is compared too. Rows whose result no column holds are left out.
    """
    comparison = Comparison(case)
    want = expected(case)
    good = [
        row for row, value in enumerate(want) if not isinstance(value, Raised) and storable(value)
    ]
    hint = typing.get_type_hints(case.function).get("return") or _hint_of(want)
    try:
        got, comparison.left = run(case.function, case.taking(good).columns)
        comparison.compiled = True
        comparison.why = _difference(case, good, want, got, hint)
        comparison.why = comparison.why or _raising(case, want, run)
        comparison.equal = not comparison.why
        comparison.left_on_ascii = _left_on_ascii(case, run)
    except Refused as refusal:
        comparison.compiled = False
        comparison.why = f"refused: {refusal}"
    except Exception as error:  # noqa: BLE001
        comparison.compiled = True
        comparison.equal = False
        comparison.why = comparison.why or f"raises {error!r} for rows for which Python does not"
    return comparison


def _difference(case: Case, rows: list[int], want: list[Any], got: list[Any], hint: Any) -> str:
    if len(got) != len(rows):
        return f"{len(got)} results for {len(rows)} rows"
    for row, value in zip(rows, got, strict=True):
        if not same(want[row], value, hint):
            arguments = ", ".join(repr(column.values[row]) for column in case.columns)
            return f"row {row}: ({arguments}) gives {value!r}, in Python {want[row]!r}"
    return ""


def _raising(case: Case, want: list[Any], run: Run) -> str:
    """The difference of the first exception: rows before it give results, so its row is known."""
    first = next((row for row, value in enumerate(want) if isinstance(value, Raised)), None)
    if first is None:
        return ""
    rows = [row for row in range(first) if storable(want[row])] + [first]
    try:
        run(case.function, case.taking(rows).columns)
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001
        if Raised.by(error) == want[first]:
            return ""
        return f"row {first} raises {Raised.by(error)}, in Python {want[first]}"
    return f"row {first} does not raise {want[first]}"


def _left_on_ascii(case: Case, run: Run) -> Left:
    case = case.ascii_only()
    want = expected(case)
    good = [
        row for row, value in enumerate(want) if not isinstance(value, Raised) and storable(value)
    ]
    return run(case.function, case.taking(good).columns)[1]


def run_python(function: Callable[..., Any], columns: Sequence[Column]) -> tuple[list[Any], Left]:
    """The engine that is Python: no function compiled, none different."""
    takes = takes_none(function)
    results = []
    for row in zip(*(column.values for column in columns), strict=True):
        none = any(value is None and not taken for value, taken in zip(row, takes, strict=True))
        results.append(None if none else function(*row))
    return results, {}


def plain(column: Column) -> ck.Array:
    """The usual layout."""
    return ck.array(column.values, column.type)


def sliced(column: Column) -> ck.Array:
    """The middle of a longer array, whose bits and offsets do not begin at 0."""
    return ck.array([*column.values[:3], *column.values, None], column.type)[3:-1]


def views(column: Column) -> ck.Array:
    """Text as views, lists as views."""
    if column.type == ck.utf8():
        return ck.array(column.values, ck.utf8_view())
    array = plain(column)
    has_lists = any(isinstance(value, list) for value in column.values)
    return ck.list_to_list_view(array) if has_lists else array


def large(column: Column) -> ck.Array:
    """Text with offsets of 64 bits."""
    return ck.array(column.values, ck.large_utf8()) if column.type == ck.utf8() else plain(column)


def encoded(column: Column) -> ck.Array:
    """Text as a dictionary."""
    return ck.dictionary_encode(plain(column)) if column.type == ck.utf8() else plain(column)


LAYOUTS = {layout.__name__: layout for layout in (plain, sliced, views, large, encoded)}


def on_device(column: Column) -> ck.Array:
    """A copy in the memory of a device."""
    return to_device(plain(column))


def run_colkern(
    function: Callable[..., Any],
    columns: Sequence[Column],
    layout: Callable[[Column], ck.Array] = plain,
) -> tuple[list[Any], Left]:
    """The engine `ck.udf`, which says in `report` what it left to Python."""
    actual = _compiled(function)
    before = Counter(actual.report().left)
    try:
        result = actual(*map(layout, columns))
    except (ck.CompileError, ck.UnsupportedError) as error:
        raise Refused(str(error).split("\n")[0]) from error
    return to_host(result).to_pylist(), dict(Counter(actual.report().left) - before)


def run_device(function: Callable[..., Any], columns: Sequence[Column]) -> tuple[list[Any], Left]:
    """The engine `ck.udf` over columns on a device, or on a simulated one.

    A simulated thread is Python, which raises for `int(math.nan)` before the row can be left: `Refused`.
    """
    try:
        return run_colkern(function, columns, on_device)
    except (ArithmeticError, ValueError) as error:
        if str(error).startswith("tid="):
            raise Refused(f"the simulator raises: {error}") from error
        raise


@functools.cache
def _compiled(function: Callable[..., Any]) -> Any:
    try:
        return ck.udf(function)
    except Exception as error:
        raise Refused(str(error).split("\n")[0]) from error


ENGINES: dict[str, Run] = {
    "colkern": run_colkern,
    "device": run_device,
    "python": run_python,
}


def summary(comparisons: Sequence[Comparison]) -> str:
    """The counts, by style and in all."""
    styles: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        styles.setdefault(comparison.case.name.partition(".")[0], []).append(comparison)
    lines = [f"{'':18}{'cases':>7}{'compiled':>10}{'equal':>7}{'none left on ASCII':>20}"]
    for style, of_style in [*styles.items(), ("all", list(comparisons))]:
        equal = [comparison for comparison in of_style if comparison.equal]
        compiled = sum(comparison.compiled for comparison in of_style)
        none_left = sum(not sum(comparison.left_on_ascii.values()) for comparison in equal)
        lines.append(f"{style:18}{len(of_style):7}{compiled:10}{len(equal):7}{none_left:20}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs an engine over the corpus; its exit status says whether a compiled function differs."""
    parser = argparse.ArgumentParser(description="The corpus of row functions against Python.")
    parser.add_argument("pattern", nargs="?", default="", help="a part of cases' names")
    parser.add_argument("--engine", choices=ENGINES, default="colkern")
    parser.add_argument("--layout", choices=LAYOUTS, default="plain", help="of colkern's columns")
    parser.add_argument("-v", "--verbose", action="store_true", help="say why, case by case")
    chosen = parser.parse_args(arguments)
    run = ENGINES[chosen.engine]
    if run is run_colkern:
        run = functools.partial(run_colkern, layout=LAYOUTS[chosen.layout])
    comparisons = []
    for case in CASES.values():
        if not re.search(chosen.pattern, case.name):
            continue
        comparison = compare(case, run)
        comparisons.append(comparison)
        if chosen.verbose and (comparison.why or any(comparison.left_on_ascii.values())):
            print(
                f"{case.name}: {comparison.why or f'left {comparison.left_on_ascii}'}", flush=True
            )
    print(summary(comparisons))
    return int(any(comparison.compiled and not comparison.equal for comparison in comparisons))


if __name__ == "__main__":
    sys.exit(main())
