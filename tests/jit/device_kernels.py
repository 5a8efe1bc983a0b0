"""Users' CUDA kernels over Arrow columns, and what each of them should write: for the simulator.

Each case is a function that ends with an assertion; `simulated_kernels` runs them all.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from arrow_strategies import arrays
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jit.checksums import checksum, kernel_source
from jit.column_cases import CASES as COLUMN_CASES
from jit.column_cases import Case as ColumnCase
from jit.column_cases import name_of
from jit.element_cases import CASES as ELEMENT_CASES
from jit.element_cases import Case, outcome, plain

import colkern as ck
from colkern.cuda import adapter, memory
from colkern.jit.device import launching
from colkern.memory import Buffer
from colkern.operations.moving import to_device

cuda = adapter.compiler()


def kernel_of(source: str, checked: bool | None = None, thread_bytes: int = 0, **names: Any) -> Any:
    """The kernel `checksums` of a source that stands in no file, as that of a notebook's cell."""
    name = f"<kernel {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"cuda": cuda, "__name__": __name__, **names}
    exec(compile(source, name, "exec"), namespace)
    actual = ck.cuda_jit(boundscheck=checked, thread_bytes=thread_bytes)
    return actual(namespace["checksums"])


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(arrays(depth=3), st.booleans())
def each_type_at_three_levels(array: pa.Array, checked: bool) -> None:
    column = from_pyarrow(array)
    out = np.zeros(len(array), np.int64)
    if len(array):
        kernel = kernel_of(kernel_source({"a": column.type}), checked)
        kernel[1, len(array)](out, to_device(column))
    assert out.tolist() == [checksum(array, i) for i in range(len(array))]


def column(values: list[Any], kind: ck.DataType | None = None) -> ck.Array:
    return to_device(ck.array(values, kind))


def run(kernel: Any, count: int, *columns: Any, dtype: Any = np.int64) -> list[Any]:
    """The items that a kernel writes to `out` with one thread for each of `count` items."""
    out = np.zeros(count, dtype)
    kernel[1, count](out, *columns)
    return out.tolist()


def raised(wanted: type[Exception], words: str, call: Callable[[], Any]) -> None:
    """Make sure that a call raises what says this."""
    with pytest.raises(wanted, match=re.escape(words)):
        call()


# Functions of columns


def _written(case: ColumnCase) -> Callable[[], None]:
    """Compares what a function of columns gives in a kernel with what is expected."""

    def check() -> None:
        names = [f"a{k}" for k in range(len(case.columns))]
        lines = [f"def checksums(out, {', '.join(names)}):", "    if cuda.grid(1) == 0:"]
        lines.append(f"        found = function({', '.join(names)})")
        lines += [f"        out[{k}] = found[{k}]" for k in range(len(case.expected))]
        kernel = kernel_of("\n".join([*lines, ""]), function=case.function)
        columns = map(to_device, case.columns)
        assert run(kernel, len(case.expected), *columns, dtype=np.float64) == list(case.expected)

    check.__name__ = name_of(case)
    return check


COLUMNS = {name_of(case): _written(case) for case in COLUMN_CASES}


# What loops on the CPU do not have


@ck.cuda_jit
def reduced(out, col):
    least = None
    for x in col:
        if x is not None and (least is None or x < least):
            least = x
    out[0] = least or 99
    out[1] = -1 if least is None else least
    out[2] = least == 7


def a_variable_is_a_number_or_none() -> None:
    assert run(reduced, 3, column([9, None, 7], ck.uint64())) == [7, 7, 1]
    assert run(reduced, 3, column([None], ck.uint64())) == [99, -1, 0]


@ck.cuda_jit
def days(out, col):
    for x in col:
        if x is not None:
            months, d, nanoseconds = x
            out[0] += months + 10 * x.days + nanoseconds + x[1] - d


def intervals_have_named_parts() -> None:
    values = column([(1, 2, 3), None, (0, 0, -1)], ck.month_day_nano_interval())
    assert run(days, 1, values) == [23]


# Texts, byte strings, dates and times


def parts_of(value: Any, code: str = "found") -> Iterator[tuple[str, Any]]:
    """The code and the value of each item of a result."""
    if not isinstance(value, tuple):
        yield code, value
        return
    for k, item in enumerate(value):
        yield from parts_of(item, f"{code}[{k}]")


def kernel_of_case(function: Callable[..., Any], result: Any) -> Any:
    """A kernel of columns of arguments, and of the items of results: which of these are as expected."""
    given = [f"a{k}" for k in range(function.__code__.co_argcount)]
    parts = [code for code, _ in parts_of(result)]
    names = [*given, *(f"e{k}" for k in range(len(parts)))]
    lines = [f"def checksums(out, {', '.join(names)}):", "    i = cuda.grid(1)", "    same = 0"]
    lines.append(f"    found = function({', '.join(f'{name}.value(i)' for name in given)})")
    for k, code in enumerate(parts):
        lines.append(f"    same += {1 << k} * int({code} == e{k}.value(i))")
    source = "\n".join([*lines, "    out[i] = same", ""])
    return kernel_of(source, thread_bytes=8192, function=function)


def _checked(number: int, case: Case) -> Callable[[], None]:
    """Compares what a function gives in a kernel with what it gives in Python."""
    kernels: list[tuple[Any, Any]] = []

    def launched(rows: list[tuple[Any, ...]], results: list[Any]) -> list[Any]:
        if not kernels:
            kernels.append((kernel_of_case(case.function, results[0]), results[0]))
        kernel, example = kernels[0]
        actual = [
            [part for _, part in parts_of(result)] for result in results or [example] * len(rows)
        ]
        columns = [
            column(list(values))
            for values in (*zip(*rows, strict=True), *zip(*actual, strict=True))
        ]
        return run(kernel, len(rows), *columns)

    @settings(max_examples=5, deadline=None, derandomize=True)
    @given(st.lists(case.arguments, min_size=1, max_size=8))
    def check(rows: list[tuple[Any, ...]]) -> None:
        outcomes = [(row, outcome(case.function, *row)) for row in [*case.examples, *rows]]
        fine = [(row, plain(result)) for row, result in outcomes if not isinstance(result, type)]
        try:
            wanted = [(1 << len(list(parts_of(result)))) - 1 for _, result in fine]
            actual = launched([row for row, _ in fine], [r for _, r in fine]) if fine else []
            assert actual == wanted, fine
        except ck.UnsupportedError:
            for row, result in fine:
                same = outcome(launched, [row], [result])
                assert same in (ck.UnsupportedError, [(1 << len(list(parts_of(result)))) - 1]), row
        for row, error in outcomes:
            if kernels and isinstance(error, type):
                assert outcome(launched, [row], []) in (error, ck.UnsupportedError), row

    check.__name__ = f"{case.function.__name__}_{number}"
    return check


ELEMENTS = [_checked(k, case) for k, case in enumerate(ELEMENT_CASES) if not case.makes_lists]


@ck.cuda_jit(thread_bytes=1024)
def pieces(out, texts):
    i = cuda.grid(1)
    words = texts[i].split(" ")
    if words[-1:]:
        out[i] = 100 * len(words) + len(words[0])
    for word in words:
        if word == "to":
            out[i] += 10_000
    out[i] += 100_000 * ("-".join(words) == "to-be")
    head, middle, tail = words[0].partition("o")
    out[i] += 1_000_000 * (len(head) + 2 * len(middle) + 4 * len(tail))


def lists_of_pieces_are_gone_over() -> None:
    assert run(pieces, 3, column(["to be", "é to to", ""])) == [3_110_202, 1_020_301, 100]


@ck.cuda_jit(thread_bytes=64)
def too_long(out, texts):
    out[0] = len(texts[0] * 100)


@ck.cuda_jit
def without_memory(out, texts):
    out[0] = len(texts[0] * 100)


def what_methods_make_has_the_room_that_is_given() -> None:
    raised(MemoryError, "out[0] = len(texts[0] * 100)", lambda: run(too_long, 1, column(["ab"])))
    words = "@ck.cuda_jit(thread_bytes=1024)"
    raised(ck.CompileError, words, lambda: run(without_memory, 1, column(["ab"])))
    raised(ValueError, "multiple of 8", lambda: ck.cuda_jit(thread_bytes=9))


@ck.cuda_jit(boundscheck=False)
def other_types(out, texts, stamps):
    out[0] = int(texts[0]) + 100 * texts.as_bytes()[0][-1]
    out[1] = stamps.as_integers()[0]
    if out[1] < 0 and stamps[0].year == 1900:
        out[1] = 0


def columns_are_those_of_other_types_and_what_methods_raise_is_found_without_checks() -> None:
    stamps = column([1 << 50], ck.timestamp("s"))
    assert run(other_types, 2, column(["12"]), stamps) == [5012, 1 << 50]
    raised(ValueError, "int(texts[0])", lambda: run(other_types, 2, column(["x"]), stamps))
    stamps = column([-(1 << 50)], ck.timestamp("s"))
    words = "timestamp[s] of these values has no compiled form"
    raised(ck.UnsupportedError, words, lambda: run(other_types, 2, column(["1"]), stamps))


# Decimals


@ck.cuda_jit
def decimal_sums(out, signs, left, right):
    i = cuda.grid(1)
    a, b = left[i], right[i]
    if a is None or b is None:
        return
    total = a + b - a * 2
    out[i] = float(total)
    signs[i] = (a < b) + 2 * (a == b) + 4 * (a >= b) + 8 * (a > 0) + 16 * (-b <= abs(b))
    signs[i] += 32 * (a * b == b * a) + 64 * (a.rescale(6) == a) + 128 * a.scale + 4096 * int(b)
    signs[i] += 2048 * (bool(a) == bool(b))


PRICES = st.none() | st.integers(-(10**9), 10**9).map(lambda n: Decimal(n).scaleb(-4))
WEIGHTS = st.none() | st.integers(-(10**4), 10**4).map(lambda n: Decimal(n).scaleb(-2))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(st.tuples(PRICES, WEIGHTS), min_size=1, max_size=6))
def decimals_are_computed_with(pairs: list[tuple[Decimal | None, Decimal | None]]) -> None:
    left, right = map(list, zip(*pairs, strict=True))
    signs = np.zeros(len(pairs), np.int64)
    columns = column(left, ck.decimal128(38, 4)), column(right, ck.decimal32(9, 2))
    actual = run(decimal_sums, len(pairs), signs, *columns, dtype=np.float64)
    for (a, b), total, sign in zip(pairs, actual, signs.tolist(), strict=True):
        if a is None or b is None:
            assert (total, sign) == (0, 0)
            continue
        assert total == float(a + b - a * 2)
        expected = (a < b) + 2 * (a == b) + 4 * (a >= b) + 8 * (a > 0) + 16 + 32 + 64
        expected += 2048 * (bool(a) == bool(b))
        assert sign == expected + 128 * 4 + 4096 * int(b)


# On a GPU, checks are made where they are asked for.
@ck.cuda_jit(boundscheck=True)
def decimal_totals(out, col):
    total = 0
    for x in col:
        if x is not None:
            total += x
    out[0] = int(total)
    out[1] = np.int64(total.words[1])
    out[2] = total.rescale(0) * 3 == total * 3


def an_integer_becomes_a_decimal_that_is_added_to_it() -> None:
    values = [Decimal(10**18), None, Decimal(9 * 10**18), Decimal(-1)]
    large = column(values, ck.decimal128(38, 0))
    raised(OverflowError, "64 bits", lambda: run(decimal_totals, 3, large))
    small = column([Decimal(5), None, Decimal(-7)], ck.decimal64(18, 0))
    assert run(decimal_totals, 3, small) == [-2, -1, 1]


# Functions


def first_long(items, least=2, prefix="l"):
    for item in items:
        if item is not None and len(item) >= least and item.startswith(prefix):
            return item
    return None


def size_of(item, otherwise):
    return otherwise if item is None else len(item)


@ck.cuda_jit
def searched(out, lists, others):
    i = cuda.grid(1)
    if i < len(lists) and lists[i] is not None:
        out[i] = size_of(first_long(lists[i]), -1)
        out[i] += 100 * size_of(first_long(others, least=1, prefix="o"), 50) + size_of(None, 0)


def functions_take_and_return_what_is_read_from_columns() -> None:
    lists = column([["l", "long"], None, [None, "x"]])
    assert run(searched, 3, lists, column(["n", "oh"])) == [204, 0, 199]


def scaled_by(scale: Callable[[Any], Any]) -> Any:
    def my_value(col):
        i = cuda.grid(1)
        return scale(col[i]) if i < len(col) else 0

    @ck.cuda_jit
    def summed(out, col, seen):
        shared = cuda.shared.array(4, np.int64)
        me = cuda.threadIdx.x
        shared[me] = my_value(col)
        cuda.syncthreads()
        if me == 0:
            out[0] = shared[0] + shared[1] + shared[2] + shared[3] + seen[0, 1]
        cuda.atomic.add(seen, (0, 0), 1)

    return summed


def all_else_is_left_to_the_compiler() -> None:
    seen = np.array([[0, 1000]])
    out = np.zeros(1, np.int64)
    scaled_by(lambda value: 2 * value)[1, 4](out, column([1, 2, 3]), seen)
    assert (out.tolist(), seen.tolist()) == ([1012], [[4, 1000]])
    # The compiler copies no arrays of the host on other streams.
    stream, placed = cuda.stream(), [memory.on_device(array) for array in (out, seen)]
    tripled = scaled_by(lambda value: 3 * value).forall(4, 4, stream)
    tripled(placed[0], column([1, 2, 3]), placed[1])
    stream.synchronize()
    assert memory.on_host(placed[0]).tolist() == [1018]


# What goes wrong


@ck.cuda_jit(boundscheck=True)
def beyond(out, col):
    i = cuda.grid(1)
    out[i] = col[i + 1]


@ck.cuda_jit
def long_enough(out, col):
    out[0] = len(col[0])


@ck.cuda_jit
def two_things(out, col):
    x = col[0]
    if len(out) > 3:
        x = col
    out[0] = x


@ck.cuda_jit
def written(out, col):
    col[0] = 1


@ck.cuda_jit
def misspelt(out, col):
    out[0] = col.nul_count


def errors_name_the_line() -> None:
    numbers = column([1, 2])
    raised(IndexError, "out[i] = col[i + 1]", lambda: run(beyond, 2, numbers))
    raised(TypeError, "null", lambda: run(beyond, 1, column([1, None])))
    raised(
        ck.CompileError, "x is a number or None in one place", lambda: run(two_things, 1, numbers)
    )
    raised(ck.CompileError, "immutable", lambda: run(written, 1, numbers))
    raised(ck.CompileError, "out[0] = col.nul_count", lambda: run(misspelt, 1, numbers))
    raised(ck.UnsupportedError, "col is in host memory", lambda: run(beyond, 1, ck.array([1])))
    raised(TypeError, "import it with", lambda: run(beyond, 1, pa.array([1])))
    stream = ck.RecordBatchStream(ck.Schema([]), [])
    raised(ck.UnsupportedError, "one at a time", lambda: run(beyond, 1, stream))
    broken = ck.Array(
        ck.utf8(),
        1,
        [None, Buffer(np.array([0, 99], np.int32).view(np.uint8)), Buffer.from_object(b"a")],
    )
    raised(ck.InvalidArrowError, "col", lambda: run(long_enough, 1, to_device(broken)))


@ck.cuda_jit
def compare_words(out, words, numbers):
    i = cuda.grid(1)
    if i < len(words):
        out[i] = numbers.value(i) if words[i] == "two words, one view" else 0


def a_launch_uses_one_stream_and_waits_for_what_others_will_find() -> None:
    words = column(["two words, one view", "b"], ck.utf8_view())
    octets = np.frombuffer(b"?" + np.array([5, 7], np.int64).tobytes(), np.uint8)[1:]
    unaligned = ck.Array(ck.int64(), 2, [None, Buffer(octets, ck.Device("cuda"))], null_count=0)
    steps: list[str] = []

    @contextmanager
    def on_stream(stream: Any) -> Iterator[None]:
        steps.append("begin")
        yield
        steps.append("end")

    out = np.zeros(2, np.int64)
    with (
        patch.object(memory, "on_stream", on_stream),
        patch.object(memory, "finish", lambda _: steps.append("finish")),
        patch.object(launching, "require_valid", lambda *_: steps.append("validate")),
    ):
        for _ in range(2):
            compare_words[1, 2, 3](out, words, unaligned)
    assert out.tolist() == [5, 0]
    validated = ["begin", "validate", "validate"]
    # The view's table, the strings of the source, the aligned copy: made once, and waited for.
    assert steps == [*validated, *["finish"] * 3, "end", *validated, "end"]


CASES: list[Callable[[], None]] = [
    each_type_at_three_levels,
    *COLUMNS.values(),
    a_variable_is_a_number_or_none,
    intervals_have_named_parts,
    *ELEMENTS,
    lists_of_pieces_are_gone_over,
    what_methods_make_has_the_room_that_is_given,
    columns_are_those_of_other_types_and_what_methods_raise_is_found_without_checks,
    decimals_are_computed_with,
    an_integer_becomes_a_decimal_that_is_added_to_it,
    functions_take_and_return_what_is_read_from_columns,
    all_else_is_left_to_the_compiler,
    errors_name_the_line,
    a_launch_uses_one_stream_and_waits_for_what_others_will_find,
]
