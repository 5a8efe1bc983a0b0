"""Functions that are not compiled run as before, and one warning says why; without Spark's workers."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import itertools
import os
import random
import re
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import types as spark
from pyspark.sql.functions import PandasUDFType, pandas_udf

from colkern.spark import accelerate
from colkern.spark.acceleration import compiled as compiling
from colkern.spark.acceleration import verification
from colkern.spark.acceleration.accelerating import AcceleratedFunction
from colkern.spark.acceleration.compiled import Compiled
from colkern.spark.acceleration.original import Original, Settings

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not:FutureWarning"),
    pytest.mark.filterwarnings("ignore:In Python 3.6:UserWarning"),
]

COUNTER = itertools.count()


def scalar(function: Any, returns: Any = "double") -> Any:
    return pandas_udf(function, spark.DoubleType() if returns == "double" else returns)


def shift(s: pd.Series) -> pd.Series:
    return s.shift(1)


def branch(s: pd.Series) -> pd.Series:
    if s > 0:
        return s
    return -s


def caught(s: pd.Series) -> pd.Series:
    try:
        return s.shift(1)
    except NotImplementedError:
        return s * 2


def assigned(s: pd.Series) -> pd.Series:
    s = s.copy()
    s[0] = 0
    return s


def _put(s: pd.Series, values: pd.Series) -> pd.Series:
    s = s.copy()
    s[s > 0] = values
    return s


def renumbered(s: pd.Series) -> pd.Series:
    return _put(s, pd.Series(np.sqrt(s[s > 0].to_numpy())))


def counting(s: pd.Series) -> pd.Series:
    seen = {"large": 0}
    out = []
    for v in s:
        if v > 1e300:
            seen["large"] += 1
        out.append(v + seen["large"])
    return pd.Series(out)


def with_the_name_of_a_handler(s: pd.Series) -> pd.Series:
    error: Any = 2.0
    out = []
    for v in s:
        try:
            out.append(1 / v)
        except ZeroDivisionError as error:  # noqa: F841
            out.append(-1.0)
    return pd.Series(out) * error


def running_sum(s: pd.Series) -> pd.Series:
    total, sums = 0.0, []
    for value in s:
        total += value
        sums.append(total)
    return pd.Series(sums)


def until_negative(s: pd.Series) -> pd.Series:
    values = []
    for value in s:
        if value < 0:
            break
        values.append(value)
    return pd.Series(values)


def beside_weights(s: pd.Series) -> pd.Series:
    return pd.Series([v * w for v, w in zip(s, [1.0, 2.0], strict=False)])


def by_place(s: pd.Series) -> pd.Series:
    return pd.Series([v * place for place, v in enumerate(s)])


def of_numbers(s: pd.Series) -> pd.Series:
    return pd.Series(list(map(lambda v, at=next(COUNTER): v + at, s)))  # type: ignore[misc] # noqa: B008


def of_another_map(s: pd.Series) -> pd.Series:
    def map(function: object, values: pd.Series) -> list[float]:
        return [value + 1 for value in values.cumsum()]

    return pd.Series(list(map(abs, s)))


def counted(s: pd.Series) -> pd.Series:
    values = [v * 2 for v in s]
    return s * len(values)


def cut_texts(s: pd.Series) -> pd.Series:
    texts = np.where(s > 0, "a", "b")
    texts[s > 1] = "long"
    return pd.Series(texts)


def with_another_index(s: pd.Series) -> pd.Series:
    s.index = pd.Index([2, 1])
    return s


def of_a_list(s: pd.Series) -> pd.Series:
    known = [2.0]
    results = s.map(lambda v: float(v in known))
    known.append(5000.0)
    return results


def of_a_list_in_a_loop(s: pd.Series) -> pd.Series:
    known = [2.0]
    results = [float(v in known) for v in s]
    known.append(5000.0)
    return pd.Series(results)


def of_a_table(s: pd.Series) -> pd.Series:
    table = pd.Series({2.0: 1.0})
    results = s.map(table)
    table[5000.0] = 3.0
    return results


def of_a_variable(s: pd.Series) -> pd.Series:
    known: tuple[float, ...] = (2.0,)
    results = s.map(lambda v: float(v in known))
    known = (2.0, 5000.0)
    return results


LATER = "it changes what a function got before"

PARTS = np.array([0.5, 0.25])


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "its type": (lambda s: s * 2 if type(s) is float else s, "the type of a column is asked for"),
    "its length's type": (
        lambda s: s * 2 if type(len(s)) is int else s,
        "the type of a column is asked for",
    ),
    "an array that may share memory": (
        lambda s: pd.Series(np.array(s.to_numpy(), copy=False)),
        "numpy.array may share the memory of an array",
    ),
    "a list that changes later": (of_a_list, LATER),
    "a loop's list that changes later": (of_a_list_in_a_loop, LATER),
    "a table that changes later": (of_a_table, LATER),
    "a variable that changes later": (of_a_variable, LATER),
    "take wraps": (
        lambda s: pd.Series(np.take(np.array([1.5, 2.5]), s.astype(int), mode="wrap")),
        'numpy.take with mode="wrap"',
    ),
    "choose wraps": (
        lambda s: pd.Series(np.choose(s.astype(int), [s, 2.0], mode="wrap")),
        'numpy.choose with mode="wrap"',
    ),
    "an aggregate": (lambda s: s - s.mean(), r"Series\.mean is no element-wise operation"),
    "other rows": (lambda s: s.cumsum(), r"Series\.cumsum"),
    "a function of one row with another column": (
        lambda s: s.apply(lambda value: value + s),
        "a function of one row uses a whole column",
    ),
    "a change in place": (lambda s: s.fillna(0, inplace=True), "fillna with these options"),
    "fills of neighbours": (lambda s: s.fillna(0, limit=1), "fillna with these options"),
    "a reason that the body catches": (caught, r"Series\.shift"),
    "a branch": (branch, "truth value of a whole column"),
    "an assignment": (assigned, "rows of a column are assigned to"),
    "a selection": (lambda s: s[s > 0], "it returns selected rows of a column"),
    "a selection with a new index": (renumbered, r"pandas\.Series of selected rows of a column"),
    "selected rows beside all": (lambda s: _put(s, s[s > 0] * s), "`mul` of selected rows"),
    "other selected rows": (lambda s: _put(s, s[s > 1]), "are assigned to other rows"),
    "the length": (lambda s: s * len(s), "the length of a column"),
    "the length of some rows": (
        lambda s: pd.Series(np.zeros(len(s[s > 0]))),
        "the length of a column",
    ),
    "the number of columns": (
        lambda s: pd.Series(np.zeros(len(pd.DataFrame({"a": s}).columns))),
        "the length of a column",
    ),
    "a length of some rows": (lambda s: s * 2 if len(s) > 1 else s, "the length of a column"),
    "values beside each other": (
        lambda s: pd.Series(np.full(len(s), [1.0, 2.0])),
        "the length of a column",
    ),
    "numbers of rows": (lambda s: s + np.arange(len(s)), "the length of a column"),
    "columns of rows": (
        lambda s: pd.Series(np.column_stack([s, s]).T.max(axis=1)),
        r"numpy\.ndarray\.T is no",
    ),
    "the highest of all rows": (lambda s: s - np.max(np.column_stack([s, s])), r"numpy\.max is no"),
    "items of an array by a condition": (
        lambda s: pd.Series(PARTS[s > 0]),
        "at places that are no integers",
    ),
    "texts that an array cuts": (cut_texts, "a text that an array of texts may cut"),
    "an index that is set": (with_another_index, "index of a column is set"),
    "a method of other rows by its name": (lambda s: s.transform("cumsum"), r"Series\.cumsum"),
    "a loop": (lambda s: pd.Series([v + 1 for v in s]), "taken one by one"),
    "a loop with a sum": (running_sum, "taken one by one"),
    "a loop that counts": (counting, "taken one by one"),
    "a loop with a handler's variable": (with_the_name_of_a_handler, "taken one by one"),
    "a loop that ends": (until_negative, "taken one by one"),
    "a loop over rows and others": (beside_weights, "taken one by one"),
    "a loop with the places of rows": (by_place, "taken one by one"),
    "a function with a default that differs": (of_numbers, "taken one by one"),
    "a function with the name of a builtin": (of_another_map, r"Series\.cumsum"),
    "the length of a loop's list": (counted, "the length of a column"),
    "a column that is there": (lambda s: s + pd.Series([1.0, 2.0]), "operand of type Series"),
    "a reduction of NumPy's": (lambda s: s * np.add.reduce(s), "numpy.add with options, or over"),
    "a function of NumPy's": (lambda s: pd.Series(np.cumsum(s)), "numpy.cumsum"),
    "no column": (lambda s: 1.0, "returns float"),
    "an array": (lambda s: np.where(s > 0, s, 0), "takes a pandas.Series"),
    "another type": (lambda s: s > 0, "returns bool, where double is declared"),
    "what differs from call to call": (lambda s: s + next(COUNTER), "do the same in each call"),
    "an exception": (lambda s: s.no_such_method(), "no_such_method"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compiled_is_refused_on_the_driver(case: str) -> None:
    function, reason = REFUSED[case]
    original = scalar(function)
    with pytest.warns(RuntimeWarning, match=reason) as caught_warnings:
        assert accelerate(original) is original
    assert len([w for w in caught_warnings if w.category is RuntimeWarning]) == 1


TEXT = spark.StringType()

BLAMED: dict[str, tuple[Callable[..., Any], Any, str]] = {
    # With a column of floats the first step fails already, for another reason.
    "what texts alone have": (lambda s: s.str.get_dummies(), TEXT, r"Series\.str\.get_dummies"),
    "among two columns": (lambda s, t: s + t.str.extractall("(a)")[0], TEXT, r"str\.extractall"),
    "what times alone have": (lambda s: s.dt.freq, TEXT, r"Series\.dt\.freq is no"),
    "pandas' own functions": (lambda s: pd.qcut(s, 4), "double", r"pandas\.qcut is no"),
    "tables": (lambda s: pd.DataFrame({"a": s}).mean(), "double", r"DataFrame\.mean with these"),
    "joined columns": (lambda s: pd.concat([s, s]), "double", r"pandas\.concat with these"),
    "a column from a table": (lambda s: s.to_frame().iloc[0], "double", r"DataFrame\.iloc is no"),
    "NumPy's classes": (lambda s: np.poly1d([1, 2])(s).cumsum(), "double", "cumsum is no"),
    "methods of arrays": (lambda s: s.to_numpy().cumsum(), "double", r"numpy\.ndarray\.cumsum is"),
    "a product of matrices": (lambda s: s @ s, "double", "`@` is no element-wise operation"),
    "a shift": (lambda s: s.astype("int64") << 1, "double", "<<: 'Series' and 'int'"),
    "a column as text": (lambda s: f"{s}", TEXT, "a column is made into text"),
    "a column that is there, first": (lambda s: pd.Series([1.0]) + s, "double", "type Series"),
}


@pytest.mark.parametrize("case", BLAMED)
def test_a_reason_names_the_operation_that_was_the_cause(case: str) -> None:
    function, returns, reason = BLAMED[case]
    original = scalar(function, returns)
    with pytest.warns(RuntimeWarning, match=reason) as actual:
        assert accelerate(original) is original
    said = [str(w.message) for w in actual if w.category is RuntimeWarning]
    assert len(said) == 1
    # No name that the user has not written or cannot look up.
    assert not re.search(r"[\s.]_\w|Traced|0x[0-9a-f]", said[0])


GENERATOR = np.random.default_rng(0)


def year() -> int:
    return time.localtime().tm_year


def with_imports(s: pd.Series) -> pd.Series:
    import random as chance
    from datetime import datetime as moment

    return s + moment.now().year * chance.random()


@dataclasses.dataclass
class Scaling:
    rate: float

    def __call__(self, s: pd.Series) -> pd.Series:
        return s * self.rate + datetime.date.today().year


clock = datetime.datetime.now
chance_of_system = os.urandom
shuffled = np.random.permutation


def with_a_module_of_modules(s: pd.Series) -> pd.Series:
    import os.path

    return s + len(os.urandom(3)) + len(os.path.sep)


def with_a_module_that_is_not_loaded(s: pd.Series) -> pd.Series:
    from secrets import randbelow

    return s + randbelow(1)


class Inherited(Scaling):
    @property
    def today(self) -> int:
        return year()


INHERITED = Inherited(2.0)

IMPURE: dict[str, tuple[Callable[..., Any], str]] = {
    # None of them differs between two calls that follow each other.
    "the day": (lambda s: s + datetime.date.today().year, r"datetime\.date\.today"),
    "the hour": (lambda s: s + time.time() // 3600, r"time\.time"),
    "a function imported by name": (lambda s: s + monotonic() // 1e9, "monotonic"),
    "a helper": (lambda s: s + year(), r"time\.localtime"),
    "a function within": (lambda s: (lambda: s + time.time_ns() // 10**18)(), r"time\.time_ns"),
    "a default": (lambda s, clock=time.time: s + clock() // 1e9, "clock"),
    "imports within": (with_imports, r"moment\.now"),
    "an object": (Scaling(2.0), r"datetime\.date\.today"),
    "a part of a function": (functools.partial(with_imports), r"moment\.now"),
    "pandas' clock": (lambda s: s + pd.Timestamp.now().year, r"pd\.Timestamp\.now"),
    "a text for now": (lambda s: s + pd.Timestamp("now").year, r"pd\.Timestamp"),
    "NumPy's clock": (lambda s: s + np.datetime64("today", "Y").astype(int), "datetime64"),
    "random numbers": (lambda s: s * np.random.default_rng(0).random(), r"np\.random"),
    "a generator of them": (lambda s: s * GENERATOR.integers(1, 2), r"GENERATOR\.integers"),
    "chance": (lambda s: s * random.randint(1, 1), r"random\.randint"),
    "identifiers": (lambda s: s + (uuid.uuid4().version or 0), r"uuid\.uuid4"),
    "a clock by another name": (lambda s: s + clock().year, "clock"),
    "the system's chance by another name": (lambda s: s + len(chance_of_system(3)), "chance_of"),
    "random numbers by another name": (lambda s: s + shuffled(1)[0], "shuffled"),
    "a package imported with its module": (with_a_module_of_modules, r"os\.urandom"),
    "what a class inherits": (Inherited(2.0), r"datetime\.date\.today"),
    "a property": (lambda s: s + INHERITED.today, r"time\.localtime"),
    "the system's chance": (lambda s: s + len(os.urandom(3)), r"os\.urandom"),
}


@pytest.mark.parametrize("case", IMPURE)
def test_what_reads_the_clock_or_is_random_is_left_to_pandas(case: str) -> None:
    function, named = IMPURE[case]
    # Spark asks only functions for their hints.
    original = pandas_udf(function, spark.DoubleType(), PandasUDFType.SCALAR)
    with pytest.warns(RuntimeWarning, match=rf"it uses \S*{named}\S*, and .*\(line \d+ of"):
        assert accelerate(original) is original


def test_a_source_of_chance_counts_before_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "secrets", raising=False)
    original = scalar(with_a_module_that_is_not_loaded)
    with pytest.warns(RuntimeWarning, match=r"it uses secrets\.randbelow, and"):
        assert accelerate(original) is original
    assert "secrets" not in sys.modules


class Unready:
    """An object that is of use on a worker alone."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"{name}: not on the driver")

    @property
    def rate(self) -> float:
        raise RuntimeError("not on the driver")


UNREADY = Unready()
ON_DRIVER = True


def with_relative_imports(s: pd.Series) -> pd.Series:
    if ON_DRIVER:
        return s * 2
    from . import helpers
    from .helpers import K

    return s * K * helpers.K


def with_an_import_that_fails(s: pd.Series) -> pd.Series:
    try:
        import fails_on_import
    except RuntimeError:
        return s * 2
    return s * fails_on_import.K


def with_an_object_that_is_not_ready(s: pd.Series) -> pd.Series:
    return s * 2 if ON_DRIVER else s * UNREADY.rate * UNREADY.other


@pytest.mark.filterwarnings("error:.*not accelerated:RuntimeWarning")
def test_a_function_is_looked_into_without_running_what_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "helpers.py").write_text("raise SystemExit('of another package')")
    (tmp_path / "fails_on_import.py").write_text("raise RuntimeError('no')")
    monkeypatch.syspath_prepend(tmp_path)
    for function in (
        with_relative_imports,
        with_an_import_that_fails,
        with_an_object_that_is_not_ready,
    ):
        original = scalar(function)
        assert accelerate(original) is not original
    assert not sys.modules.keys() & {"helpers", "fails_on_import"}


PURE: list[Callable[..., Any]] = [
    # Parameters and attributes that are called like modules and clocks.
    lambda time, random: time * random,
    lambda s: s + datetime.datetime(2020, 1, 1).year,
    lambda s: s * pd.Timestamp("2020-01-01").month,
    lambda s: pd.Series(np.where(s > 0, s, 0.0)),
]


@pytest.mark.filterwarnings("error:.*not accelerated:RuntimeWarning")
@pytest.mark.parametrize("function", PURE)
def test_a_name_alone_does_not_make_a_function_random(function: Any) -> None:
    original = scalar(function)
    assert accelerate(original) is not original


def test_a_reason_says_where() -> None:
    with pytest.warns(RuntimeWarning, match=r"^shift is not accelerated.*\(line \d+ of .*\.py\)"):
        accelerate(scalar(shift))


def test_aggregates_are_refused() -> None:
    mean = pandas_udf(lambda s: s.mean(), spark.DoubleType(), PandasUDFType.GROUPED_AGG)
    with pytest.warns(RuntimeWarning, match="it is an aggregate: give colkern.spark.udf a class"):
        assert accelerate(mean) is mean


def test_only_what_pandas_udf_returns_is_taken() -> None:
    with pytest.raises(TypeError, match="expected what pandas_udf returns"):
        accelerate(abs)


def running(total: Iterator[pd.Series]) -> Iterator[pd.Series]:
    for count, batch in enumerate(total):
        yield batch + count


def after_the_first(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    first = None
    for batch in batches:
        first = batch if first is None else first
        yield batch - first


def beside_the_third(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    seen: list[Any] = []
    for batch in batches:
        seen.append(batch)
        yield batch + (seen[-3] if len(seen) > 2 else 0.0)


def in_turn(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    state = {"turn": 0}
    for batch in batches:
        state["turn"] = (state["turn"] + 1) % 4
        yield batch if state["turn"] else -batch


@pytest.mark.parametrize("function", [running, after_the_first, beside_the_third, in_turn])
def test_iterators_that_depend_on_earlier_batches_are_refused(function: Any) -> None:
    original = pandas_udf(function, spark.DoubleType(), PandasUDFType.SCALAR_ITER)
    with pytest.warns(RuntimeWarning, match="depends? on earlier batches"):
        assert accelerate(original) is original


def test_name_type_and_determinism_are_those_of_the_original() -> None:
    def doubled(s: pd.Series) -> pd.Series:
        return s * 2

    result = accelerate(scalar(doubled).asNondeterministic())
    assert result.__name__ == "doubled"
    assert result.returnType == spark.DoubleType()
    assert not result.deterministic
    assert accelerate(scalar(doubled)).deterministic


VARYING: list[Callable[..., Any]] = [
    lambda s, rate=2.0: s * (rate if rate > 1 else 1.0),
    lambda *columns: sum(columns[1:], columns[0]),
]


@pytest.mark.filterwarnings("error:.*not accelerated:RuntimeWarning")
@pytest.mark.parametrize("function", VARYING)
def test_functions_of_a_varying_number_of_columns_are_taken(function: Any) -> None:
    original = scalar(function)
    assert accelerate(original) is not original


@pytest.mark.filterwarnings("error:.*not accelerated:RuntimeWarning")
def test_parts_that_only_other_texts_have_are_no_reason_to_refuse() -> None:
    def family(name: pd.Series) -> pd.Series:
        parts = name.str.split(" ", n=1, expand=True)
        return parts[1].fillna(parts[0])

    original = pandas_udf(family, spark.StringType())
    assert accelerate(original) is not original


# In a worker


def in_worker(function: Any, returns: spark.DataType | None = None) -> Compiled:
    returns = returns or spark.DoubleType()
    return Compiled("function", Original(function, returns, Settings()), returns)


def reasons(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as actual:
        warnings.simplefilter("always")
        result = call()
    return result, [str(w.message) for w in actual if "not accelerated" in str(w.message)]


def test_another_result_makes_the_original_run_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = in_worker(lambda s: s + 1)
    monkeypatch.setattr(compiling, "Program", lambda *_: lambda columns: pa.array([2.0, 3.5]))
    column = pa.array([1.0, 2.0])
    result, said = reasons(lambda: [compiled((column,)), compiled((column,))])
    assert [results.to_pylist() for results in result] == [[2.0, 3.0]] * 2
    assert len(said) == 1
    assert said[0].endswith("its results were not verified: for (2.0) it is 3.5, not 3.0")
    assert compiled.attempt((pa.array([1.0, None]),)) is None


def test_large_batches_go_to_the_original_where_it_is_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slow(columns: Sequence[pa.Array]) -> pa.Array:
        time.sleep(0.2)
        return pa.array(columns[0].to_numpy(zero_copy_only=False) + 1, from_pandas=True)

    compiled = in_worker(lambda s: s + 1)
    monkeypatch.setattr(compiling, "Program", lambda *_: slow)
    column = pa.array(np.arange(5000.0))
    result, said = reasons(lambda: [compiled.attempt((column[:10],)), compiled.attempt((column,))])
    assert [result[0].to_pylist(), result[1]] == [list(range(1, 11)), None]
    assert compiled((column,)).to_pylist() == list(range(1, 5001))
    assert not said


def test_signs_of_zeros_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = in_worker(lambda s: s * 0)
    monkeypatch.setattr(compiling, "Program", lambda *_: lambda columns: pa.array([0.0]))
    result, said = reasons(lambda: compiled((pa.array([-1.0]),)))
    assert str(result.to_pylist()) == "[-0.0]"
    assert len(said) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda s: np.copysign(np.floor(abs(s) + 0.5), s),  # for halves
        lambda s: np.where(s == 0, 0.0, np.rint(s)),  # for a negative zero
        lambda s: np.rint(np.nan_to_num(s)),  # for NaN and infinities
        lambda s: np.rint(s.astype(np.float32)),  # for large numbers
    ],
)
def test_extreme_values_are_compared_too(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = in_worker(lambda s: s.round())
    monkeypatch.setattr(
        compiling,
        "Program",
        lambda *_: lambda c: pa.array(wrong(c[0].to_numpy()), from_pandas=True),
    )
    result, said = reasons(lambda: compiled((pa.array([1.0, 2.0]),)))
    assert result.to_pylist() == [1.0, 2.0]
    assert len(said) == 1
    assert "its results were not verified: for (" in said[0]


def test_extreme_values_that_the_original_refuses_do_not_stop_it() -> None:
    # NaN is no integer for pandas; nor are fractions for Spark.
    compiled = in_worker(lambda s: s.astype("int64") * 2, spark.LongType())
    assert cast("Any", compiled.attempt((pa.array([1.5, 2.0]),))).to_pylist() == [2, 4]
    halved = in_worker(lambda s: s / 2, spark.IntegerType())
    assert cast("Any", halved.attempt((pa.array([4.0, 2.0]),))).to_pylist() == [2, 1]


def test_extreme_values_that_the_original_refuses_cost_few_calls_and_no_warnings() -> None:
    calls: list[int] = []

    def halved(s: pd.Series) -> pd.Series:
        calls.append(len(calls))
        warnings.warn("called", UserWarning, stacklevel=1)
        return s / 2

    compiled = in_worker(halved, spark.IntegerType())
    column = pa.array([4.0, None, 2.0])
    with warnings.catch_warnings(record=True) as actual:
        warnings.simplefilter("always")
        assert cast("Any", compiled.attempt((column,))).to_pylist() == [2, None, 1]
    assert len(calls) <= 6
    # Tracing, and the sample of what is there.
    assert len([w for w in actual if str(w.message) == "called"]) <= 4


def test_a_result_is_verified_at_extremes_beside_those_that_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = in_worker(lambda s: s.round(), spark.IntegerType())

    def wrong(columns: Any) -> Any:
        # Halves, for which pandas takes the even number.
        values = columns[0].to_numpy(zero_copy_only=False)
        return pa.array(np.trunc(values + np.copysign(0.5, values)), from_pandas=True)

    monkeypatch.setattr(compiling, "Program", lambda *_: wrong)
    result, said = reasons(lambda: compiled((pa.array([1.0, 2.0, None]),)))
    assert result.to_pylist() == [1, 2, None]
    assert len(said) == 1
    assert re.search(r"not verified: for \(-?\d+\.5\) it is", said[0])


def test_a_result_where_the_original_raises_is_a_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = in_worker(lambda s: s.astype("int64"), spark.LongType())
    monkeypatch.setattr(
        compiling,
        "Program",
        lambda *_: lambda c: pa.array(np.nan_to_num(c[0].to_numpy()).astype("int64")),
    )
    result, said = reasons(lambda: compiled((pa.array([1.0, 2.0]),)))
    assert result.to_pylist() == [1, 2]
    assert len(said) == 1
    assert "where the original raises IntCastingNaNError" in said[0]


def test_extreme_values_whose_results_have_no_column_do_not_stop_it() -> None:
    # Python's integers have no bounds, which those of a compiled function have.
    compiled = in_worker(lambda s: s.map(lambda v: v * 2).astype(str), spark.StringType())
    assert cast("Any", compiled.attempt((pa.array([1, -2]),))).to_pylist() == ["2", "-4"]
    result, said = reasons(lambda: compiled((pa.array([2**62]),)))
    assert result.to_pylist() == [str(2**63)]
    assert "does not fit int64" in said[0]


class Among:
    def __init__(self, *known: float) -> None:
        self._known = known

    def __repr__(self) -> str:
        return "Among"

    def __call__(self, value: float) -> float:
        return float(value in self._known)


def among(*known: float) -> Callable[[float], float]:
    def is_known(value: float, *, known: tuple[float, ...] = known) -> float:
        return float(value in known)

    return is_known


LONG = "|".join(map(str, range(100)))
EITHER = [re.compile(f"{LONG}|{last}") for last in ("x", "y")]


@pytest.mark.parametrize(
    "body",
    [
        lambda s: s.map(Among(2.0)) - s.map(Among(2.0, 5000.0)),
        lambda s: s.map(among(2.0)) - s.map(among(2.0, 5000.0)),
        lambda s: (
            s.astype(str)
            .replace("5000.0", "y")
            .pipe(lambda t: t.str.contains(EITHER[0]) ^ t.str.contains(EITHER[1]))
            * 1.0
        ),
    ],
)
def test_functions_that_look_alike_are_told_apart(body: Any) -> None:
    compiled = in_worker(body)
    for column in (pa.array([1.0, 2.0]), pa.array([5000.0])):
        expected = Original(body, spark.DoubleType(), Settings())((column,))
        assert compiled((column,)).to_pylist() == expected.to_pylist()


def test_each_shape_of_columns_is_compiled_and_verified() -> None:
    # To pandas, integers with nulls are floats: 2**53 + 1 is not among them.
    compiled = in_worker(lambda s: s + 1, spark.LongType())
    whole, holed = pa.array([2**53 + 1]), pa.array([2**53 + 1, None])
    result, said = reasons(lambda: [compiled.attempt((column,)) for column in (whole, holed)])
    assert [results.to_pylist() for results in result] == [[2**53 + 2], [2**53, None]]
    assert not said


def test_a_shape_that_is_refused_leaves_others_compiled() -> None:
    compiled = in_worker(lambda b: ~b, spark.BooleanType())
    with pytest.raises(TypeError, match="NoneType"):
        # As in pandas.
        reasons(lambda: compiled((pa.array([True, None]),)))
    result = compiled.attempt((pa.array([True, False]),))
    assert result is not None
    assert result.to_pylist() == [False, True]


def test_one_warning_for_all_shapes() -> None:
    compiled = in_worker(lambda s: s.isna(), spark.BooleanType())
    columns = [pa.array([0], pa.time64("us")), pa.array([0, None], pa.time64("us"))]
    result, said = reasons(lambda: [compiled((column,)).to_pylist() for column in columns])
    assert result == [[False], [False, True]]
    assert len(said) == 1
    assert "columns of time64[us] are not compiled" in said[0]


def test_what_the_original_raises_is_raised() -> None:
    compiled = in_worker(lambda s: s.astype("int64"), spark.LongType())
    assert compiled((pa.array([1.5]),)).to_pylist() == [1]
    with pytest.raises(pd.errors.IntCastingNaNError):
        reasons(lambda: compiled((pa.array([float("inf")]),)))


def test_batches_that_are_left_go_to_the_original_together() -> None:
    def total(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        started.append(1)
        for batch in batches:
            yield batch.isna()

    started: list[int] = []
    returns = spark.BooleanType()
    original = Original(total, returns, Settings(), over_batches=True)
    compiled = Compiled("total", original, returns)
    days = pa.array([0, None], pa.time64("us"))
    batches = [(column,) for column in (pa.array([1.0, None]), days, days)]
    before = len(started)
    result, said = reasons(lambda: [r.to_pylist() for r in compiled.of_batches(iter(batches))])
    assert result == [[False, True]] * 3
    assert len(said) == 1
    # Two traces of two batches in both orders, and once each for the sample, for extreme values, and for
    # the batches that are left.
    assert len(started) - before == 7


def test_a_process_has_a_pickled_function_once() -> None:
    rate = 3

    def times(s: pd.Series) -> pd.Series:
        return s * rate

    pickled = cloudpickle.dumps(AcceleratedFunction(times, spark.DoubleType()))
    first, again = cloudpickle.loads(pickled), cloudpickle.loads(pickled)
    assert first is again
    assert first(pa.array([1.5])).to_pylist() == [4.5]
    assert first(s=pa.array([2.0])).to_pylist() == [6.0]


def counted_to(number: float) -> float:
    if abs(number) > 1 << 28:
        # No test waits for it.
        raise KeyboardInterrupt
    turns = 0
    while turns < number:
        turns += 1
    return float(turns)


def looped(a: pd.Series, b: pd.Series) -> pd.Series:
    return pd.Series([counted_to(-y) for x, y in zip(a, b, strict=True)])


@pytest.mark.parametrize(
    "body",
    [
        looped,
        lambda a, b: b.map(counted_to),
        lambda a, b: pd.Series(np.vectorize(counted_to)(a - b)) + 1,
        lambda a, b: b.map(lambda v: counted_to(v / 2**24)),
        lambda a, b: b.map(lambda v: counted_to(v) if v % 2 else 0.0),
        lambda a, b: b.map(lambda v: counted_to(v) if v % 3 == 0 else 0.0),
    ],
)
def test_work_that_grows_with_a_number_is_not_done_for_extreme_ones(body: Any) -> None:
    compiled = in_worker(body, spark.DoubleType())
    # Numbers of the first type end before the work shows.
    columns = (pa.array([1, 2], pa.int8()), pa.array([3.0, -4.0]))
    result, said = reasons(lambda: compiled(columns))
    assert result.to_pylist() == body(*(c.to_pandas() for c in columns)).to_list()
    assert len(said) == 1
    assert "a row takes longer, the larger a number is" in said[0]


def test_a_body_that_is_slow_itself_is_called_few_times() -> None:
    calls: list[int] = []

    def slow(a: pd.Series, b: pd.Series) -> pd.Series:
        calls.append(len(calls))
        return a.map(lambda v: v * 2) + b

    compiled = in_worker(slow, spark.DoubleType())
    assert cast("Any", compiled.attempt((pa.array([1.5]), pa.array([2])))).to_pylist() == [5.0]
    # Two are for traces, two for results; on a busy machine, each size may be measured three times.
    assert len(calls) <= 4 + 3 * len(verification._SIZES)


def test_calls_that_raise_for_large_numbers_take_no_longer_for_being_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []
    # A millisecond for each call, however many rows it has.
    clock = SimpleNamespace(perf_counter=lambda: len(calls) / 1000)
    monkeypatch.setattr(verification, "time", clock)

    def small(columns: Sequence[pa.Array]) -> pa.Array:
        calls.append(0)
        if any(abs(number) > 1 << 20 for column in columns for number in column.to_pylist()):
            raise OverflowError("large")
        return columns[0]

    verification.require_steady(small, [pa.int64(), pa.int64()])
    assert len(calls) > 100
