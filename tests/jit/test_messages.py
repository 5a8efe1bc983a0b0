"""A function that does not compile says so in a few lines: what, and where."""

from __future__ import annotations

import ast
import datetime
import inspect
import itertools
import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colkern as ck
from colkern.errors import CompileError, UnsupportedError
from colkern.interchange import import_array
from colkern.jit import udf
from colkern.rows import expressions
from colkern.rows.functions import MISTAKE


def message(function: Callable[..., Any], **options: Any) -> str:
    with pytest.raises(CompileError) as caught:
        udf(function, **options)
    text, _, advice = str(caught.value).rpartition("\n")
    assert advice == "with fallback=True, it runs in Python"
    assert len(text.splitlines()) <= 3
    return text


def line_of(function: Callable[..., Any], marker: str = "HERE") -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if marker in line)


def unknown_method(x: str):
    y = len(x)
    parts = x.spilt(",")  # HERE
    return y + len(parts)


def global_object(x: int):
    return THING.speed * x  # HERE


def global_call(x: int):
    return THING(x)  # HERE


def changed_global(x: str):
    WORDS.append(x)  # HERE
    return len(x)


def library_call(x: str):
    return json.loads(x)["a"]  # HERE


def builtin(x: str):
    return callable(x)  # HERE


def context_manager(x: str):
    with open(str(x)) as file:  # HERE
        return len(file.read())


def mixed_variable(x: int):
    actual = 1 if x > 1 else {x}  # HERE
    return len(str(actual))


def either(x: int):
    if x > 1:
        return "many"
    return x  # HERE


def added(x: str, y: int):
    return x + y  # HERE


def wrong_argument(x: str):
    return x.find(1.5)  # HERE


def number_as_bound(x: float):
    return [*reversed(range(x))]  # type: ignore[call-overload]  # HERE


def number_as_start(x: float):
    return [*enumerate("ab", x)]  # type: ignore[arg-type]  # HERE


def sum_of_texts(x: str):
    return sum([x], "")  # type: ignore[call-overload]  # HERE


def number_as_stop(x: float):
    return [*itertools.islice("ab", x)]  # type: ignore[call-overload]  # HERE


def number_as_times(x: int):
    return [*itertools.product("ab", repeat=x)]  # HERE


def unknown_in_tuple(x: float):
    return x, complex(x, 1).imag  # HERE


def unknown_in_dict(x: float) -> dict:
    return {"x": x, "y": [complex(x, 1).imag]}  # HERE


def unknown_in_match(x: float) -> dict:
    match = re.search(str(x), "1.0")  # HERE
    return {"x": x, "y": match.group(1) if match else None}


def never_returned(x: float) -> tuple:
    def failed(text: str) -> str:
        raise ValueError(text)  # HERE

    word = failed(str(x))
    return x, word


def unknown_or_none(x: float) -> tuple:
    return x, complex(x, 1).imag if x > 0 else None  # HERE


def of_series(x: float) -> float:
    return x.fillna(0.0)  # type: ignore[attr-defined, no-any-return]  # HERE


def of_package(x: float) -> bool:
    return bool(pc.is_nan(x))  # HERE


def printed(x: float) -> float:
    print(x)  # HERE
    return x


def drawn(x: float) -> float:
    return x + random.random()  # HERE


def mixed_items(x: int) -> list[Any]:
    return [x, {x}]  # HERE


def clock(x: float) -> float:
    return x + time.time()  # HERE


def caught_number(x: str) -> int:
    try:
        return int(x)
    except 3:  # noqa: B030  # HERE
        return 0


def shadowed(x: int) -> str:
    str = "n"
    return str(x)  # HERE


class Thing:
    rate = 2


WORDS = ["a", "b"]
THING = Thing()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (unknown_method, "str has no 'spilt'"),
        (of_series, "float has no 'fillna': it is one value, and no Series"),
        (of_package, "pyarrow.compute.is_nan has no compiled form"),
        (printed, "print(float) has no compiled form: a row function has no output"),
        (drawn, "Random.random() has no compiled form: it gives something else each time"),
        (mixed_items, "an item of a container is int in one place and set[int] in another"),
        (global_object, "Thing has no 'speed'"),
        (global_call, "Thing is not callable"),
        (changed_global, "a constant that changes has no compiled form"),
        (library_call, "each row with a result would be left to Python: json.loads"),
        (unknown_in_tuple, "would be left to Python: complex"),
        (unknown_in_dict, "would be left to Python: complex"),
        (unknown_or_none, "would be left to Python: complex"),
        (unknown_in_match, "would be left to Python: a pattern that depends on the row"),
        (never_returned, "would be left to Python: an exception is raised"),
        (shadowed, "'n' is not callable"),
        (clock, "time.time() has no compiled form"),
        (caught_number, "the exceptions of a handler must be known classes"),
        (builtin, "callable(str) has no compiled form"),
        (context_manager, "`with` has no compiled form"),
        (mixed_variable, "int or set[int]"),
        (either, "it returns str in one place and int in another"),
        (added, "+(str, int) has no compiled form"),
        (wrong_argument, "str.find(str, float) has no compiled form"),
        (number_as_bound, "range() of float"),
        (number_as_start, "enumerate() from float"),
        (number_as_stop, "islice() of float"),
        (sum_of_texts, "sum() of str raises TypeError: join them instead"),
        (number_as_times, "product() has a compiled form only with a constant as `repeat`"),
    ],
)
def test_what_and_where(function: Callable[..., Any], words: str) -> None:
    text = message(function)
    assert text.startswith(f"{function.__name__} does not compile: ")
    assert words in text
    assert f'File "{__file__}", line {line_of(function)}' in text
    lines, _ = inspect.getsourcelines(function)
    assert next(line for line in lines if "HERE" in line).rstrip() in f"    {text.splitlines()[-1]}"


def test_a_mistake_of_the_compiler_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(expressions._EXPRESSIONS, ast.BinOp, lambda emitter, node: {}["kind"])
    text = message(added)
    assert f"KeyError: 'kind', {MISTAKE}" in text
    assert f'File "{__file__}", line {line_of(added)}' in text


def helper(x):
    return x.splitline()  # HERE


def calls_helper(x: str):
    return len(helper(x))


def test_the_place_is_the_innermost_one_that_is_the_users() -> None:
    text = message(calls_helper)
    assert "does not compile: str has no 'splitline'" in text
    assert f"line {line_of(helper)}" in text


def test_a_function_without_source_says_so() -> None:
    namespace: dict[str, Any] = {}
    exec("def labelled(x: float):\n    return str((x, 1))\n", namespace)
    assert "its source cannot be read" in message(namespace["labelled"])


def test_comparisons_with_none_are_booleans() -> None:
    def beyond(x: int | None) -> bool:
        return x is not None and x > 5

    def missing_or_beyond(x: int | None) -> bool:
        return x is None or x > 5

    def begins(x: str | None) -> bool:
        return x is not None and x.startswith("a")

    numbers, texts = [1, 7, None], ["a", "b", None]
    for function, values in [(beyond, numbers), (missing_or_beyond, numbers), (begins, texts)]:
        expected = [function(value) for value in values]  # type: ignore[operator]
        assert udf(function)(ck.array(values)).to_pylist() == expected


class Opaque:
    @staticmethod
    def __call__(x: int) -> int:
        return x


@pytest.mark.parametrize(
    "make",
    [
        lambda: udf(Opaque()),
        lambda: ck.generator(Opaque()),
        lambda: ck.njit(Opaque()),
        lambda: ck.Builder(Opaque()),  # type: ignore[arg-type]
        lambda: ck.cuda_jit(Opaque()),
        lambda: udf(lambda x: x, signature="(int64) -> int64", nulls=Opaque()),
        lambda: udf(lambda x: x, returns=Opaque()),
        lambda: udf(lambda x: OPAQUE.value + x, signature="(int64) -> int64"),
        lambda: udf(lambda x: OPAQUE.of(x), signature="(int64) -> int64"),
        lambda: udf(lambda x: [OPAQUE, x], signature="(int64) -> int64"),
        lambda: ck.njit(lambda x: OPAQUE)(1),
    ],
)
def test_no_message_shows_an_address(make: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError, CompileError, numba.NumbaError)) as caught:
        make()
    text = str(caught.value)
    assert text
    assert not re.search("0x[0-9a-f]{6,}", text)
    assert not re.search(r"_ol_\w+|OverloadSelector", text)


OPAQUE = Opaque()


def test_a_function_of_sparks_is_told_apart() -> None:
    functions = pytest.importorskip("pyspark.sql.functions")
    types = pytest.importorskip("pyspark.sql.types")
    with pytest.raises(TypeError, match="is a function of Spark's columns"):
        udf(functions.udf(lambda x: x, types.IntegerType()))


def test_a_reason_names_variables_as_the_user_does() -> None:
    def numbers(text: str) -> int:
        part = text
        while len(str(part)) != 3:
            part = {1}  # type: ignore[assignment]
        return len(str(part))

    compiled = udf(numbers)
    compiled(ck.array(["1, 2"]))
    (site,) = compiled.report().sites
    assert "part is str in one place and set[int] in another" in site.reason


def test_returning_what_no_column_holds() -> None:
    def classes(x: int):
        return [type(x)]

    def mixed(x: int) -> list[Any]:
        return [x, str(x)]

    with pytest.raises(UnsupportedError, match="results that are functions or classes"):
        udf(classes)
    with pytest.raises(UnsupportedError, match="results that are int or str"):
        udf(mixed)


def test_returning_another_type_than_declared() -> None:
    def half(x: int) -> int:
        return x / 2

    assert message(half) == "half returns float where int64 is declared"

    def number(x: int) -> str:
        return x

    assert message(number) == "number returns int where string is declared"

    def raw(x: bytes) -> str:
        return x

    assert message(raw) == "raw returns bytes where string is declared"

    def parsed(x: str):
        return datetime.datetime.fromisoformat(x)

    with pytest.raises(
        CompileError, match=r"returns datetime where .*; \.replace\(tzinfo=.*moment"
    ):
        udf(returns=ck.timestamp("us", "UTC"))(parsed)


def test_returning_only_none() -> None:
    def nothing(x: int):
        return None

    assert udf(nothing)(ck.array([1])).to_pylist() == [None]


def test_without_hints_the_first_call_tells() -> None:
    @udf
    def unknown(x):
        return x.nothing

    with pytest.raises(CompileError, match="float has no 'nothing'"):
        unknown(import_array(pa.array([1.5])))


def test_a_misspelt_name_is_found_at_the_first_call() -> None:
    @udf
    def misspelt(x: int):
        return lenght(x)  # noqa: F821

    with pytest.raises(CompileError, match="name lenght is not defined"):
        misspelt(import_array(pa.array([1])))


@pytest.mark.parametrize(
    "edit", ["half = (\n[ an edit\n", "def added(x: int) -> int:\n    return x + 3\n"]
)
def test_a_source_that_has_changed_since_is_not_taken_for_the_function(
    tmp_path: Path, edit: str
) -> None:
    """As when a file is edited while a session that has imported it goes on."""
    path = tmp_path / "edited.py"
    source = "def added(x: int) -> int:\n    return x + 2\n"
    namespace: dict[str, Any] = {"__name__": "edited"}
    exec(compile(source, str(path), "exec", dont_inherit=True), namespace)
    path.write_text(edit)
    assert "its source cannot be read" in message(namespace["added"])
    with pytest.warns(UserWarning, match="its source cannot be read"):
        result = udf(namespace["added"], fallback=True)
    assert result(ck.array([2, None])).to_pylist() == [4, None]
