"""Arrow columns as arguments of users' CUDA kernels: in the simulator, and as the PTX they compile to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from jit import element_cases
from jit.checksums import checksum, kernel_source
from jit.device_kernels import CASES, decimal_totals, kernel_of, kernel_of_case, parts_of, searched
from jit.ptx_kernels import run_ptx
from nestings import LENGTH, WRAPPERS, leaf
from numba import cuda, njit

import colkern as ck
from colkern.jit.device.emitter import Member
from colkern.kernels import slot_values

THREADS = 6


SIMULATED = "jit.device_kernels"


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_in_the_simulator(case: str, simulated_cases: dict[str, str]) -> None:
    assert simulated_cases[case] == ""


# What the compiler makes of it


def _nested(names: str) -> dict[str, Any]:
    random = np.random.default_rng(len(names))
    child = pa.int16()
    return {name: WRAPPERS[name](leaf(child, random), random, LENGTH) for name in names.split()}


def _leaves(*types: pa.DataType) -> dict[str, Any]:
    random = np.random.default_rng(len(types))
    return {f"column{k}": leaf(type_, random) for k, type_ in enumerate(types)}


COMPILED = {
    "fixed-size primitive": lambda: _leaves(
        pa.bool_(), pa.uint64(), pa.float16(), pa.decimal256(76, 10), pa.decimal32(7, 2), pa.null()
    ),
    "binary": lambda: _leaves(pa.binary(3), pa.large_utf8(), pa.string_view()),
    "lists": lambda: _nested("list list_view fixed_size_list map"),
    "others": lambda: _nested("struct dictionary run_end_encoded sparse_union dense_union"),
}
"""Each layout once; all in one kernel would take the compiler longer."""


@pytest.mark.parametrize("what", COMPILED)
def test_compiled_kernels_read_every_layout(what: str) -> None:
    arrays = COMPILED[what]()
    columns = [from_pyarrow(array) for array in arrays.values()]
    source = kernel_source(dict(zip(arrays, (c.type for c in columns), strict=True)))
    out = np.zeros(THREADS, np.int64)
    actual = run_ptx(kernel_of(source), (9, 0), out, *columns)
    assert actual[:-1] == [sum(checksum(a, i) for a in arrays.values()) for i in range(THREADS)]


def test_compiled_kernels_call_functions_with_columns() -> None:
    lists = ck.array([["l", "long"], None, [None, "x"]])
    out = np.zeros(3, np.int64)
    assert run_ptx(searched, (8, 0), out, lists, ck.array(["n", "oh"])) == [204, 0, 199, 0]


def products(x):
    y = x
    y *= x
    return x * 10 - 1, x**2 - 0.010000000000000002, y - 0.010000000000000002


def test_products_are_rounded_before_they_are_added_to_as_in_python() -> None:
    """A fused multiply-add rounds once: 0.1 * 10 - 1 would be 5.55e-17."""

    def kernel(out, column):
        if cuda.grid(1) == 0:
            out[0], out[1], out[2] = products(column.value(0))
            out[3] = column.value(0)
            out[3] *= 10
            out[3] -= 1

    actual, column, out = ck.cuda_jit(kernel), ck.array([0.1]), np.ones(4)
    assert "fma." not in actual.ptx([out, column], (9, 0))
    assert products(0.1) == njit(products)(0.1) == (0.0, 0.0, 0.0)
    assert run_ptx(actual, (9, 0), out, column)[:4] == [0.0] * 4


def test_products_of_float16_are_rounded_before_they_are_added_to() -> None:
    """PTX fuses `mul.f16`, which has no rounding of its own; single precision holds such a product."""

    def kernel(out, column):
        out[0] = out[1] * out[2] - out[3]
        out[1] *= out[2]
        out[2] = out[2] ** 2 - out[3]

    ptx = ck.cuda_jit(kernel).ptx([np.ones(4, np.float16), ck.float64()], (9, 0))
    assert "mul.rn.f32" in ptx
    assert "fma." not in ptx
    assert "mul.f16" not in ptx


def test_compiled_quotients_wrap_around_as_all_integers() -> None:
    def quotients(out, column):
        if cuda.grid(1) == 0:
            a, b = column.value(0), column.value(1)
            out[0] = a // b
            out[1], out[2] = divmod(a, b)
            a //= -1
            out[3] = a

    least, column = -(2**63), ck.array([-(2**63), -1])
    actual = run_ptx(ck.cuda_jit(quotients), (9, 0), np.ones(4, np.int64), column)
    assert actual[:4] == [least, least, 0, least]


ELEMENTS: dict[Callable[..., Any], list[tuple[Any, ...]]] = {
    element_cases.compare: [("aé", "a"), ("", ""), ("é", "€")],
    element_cases.find: [("abab", "ab", 1, -1), ("é€ab€", "€", -3, 9), ("", "", 0, 0)],
    element_cases.cut: [("abc", -2, 9), ("aé€😀b", 1, -1)],
    element_cases.strip: [(" \té a".encode(), b" a"), (b"abba", b"ab")],
    element_cases.made: [("aé", "é", 2), ("a", "b", 0)],
    element_cases.literals: [("éab",), ("b",)],
    element_cases.to_float: [("1.5e3",), ("-0.1",)],
    element_cases.of_an_instant: [(datetime(2020, 2, 29, 23, 59, 59, 999_999),)],
    element_cases.of_a_span: [(timedelta(-3, microseconds=7),)],
}


@pytest.mark.parametrize("function", ELEMENTS, ids=lambda function: function.__name__)
def test_compiled_kernels_do_what_python_does(function: Callable[..., Any]) -> None:
    rows = ELEMENTS[function]
    results = [element_cases.plain(function(*row)) for row in rows]
    actual = [[part for _, part in parts_of(result)] for result in results]
    columns = [*zip(*rows, strict=True), *zip(*actual, strict=True)]
    out = np.zeros(len(rows), np.int64)
    kernel = kernel_of_case(function, results[0])
    given = [ck.array(list(values)) for values in columns]
    assert run_ptx(kernel, (9, 0), out, *given) == [(1 << len(actual[0])) - 1] * len(rows) + [0]


def test_compiled_checks_note_what_is_wrong_and_touch_nothing() -> None:
    def beyond(out, col):
        for k in range(len(out)):
            out[k] = col.value(k)

    kernel = ck.cuda_jit(boundscheck=True)(beyond)
    *actual, noted = run_ptx(kernel, (9, 0), np.ones(3, np.int64), ck.array([5, 6]))
    assert actual == [5, 6, 0]
    assert noted == 1


def test_compiled_decimals_are_added_up() -> None:
    values = [pa.scalar(n, pa.int64()).cast(pa.decimal128(38, 0)) for n in (7, -(2**62), 2**40)]
    column = from_pyarrow(pa.array([value.as_py() for value in values], pa.decimal128(38, 0)))
    out = np.zeros(3, np.int64)
    assert run_ptx(decimal_totals, (9, 0), out, column)[:3] == [7 - 2**62 + 2**40, -1, 1]


# The bodies, as plain Python


def test_each_half_precision_float_is_the_same_number_as_a_wider_one() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    address = np.uint64(bits.ctypes.data)
    with np.errstate(all="ignore"):
        actual = [
            slot_values.half_at(bits[:1], address, np.uint64(k), True) for k in range(len(bits))
        ]
    np.testing.assert_array_equal(np.array(actual, np.float32), bits.view(np.float16))


# What is asked for


def test_naming_the_decorator_imports_no_compiler() -> None:
    program = (
        "import sys, colkern as ck\n"
        "@ck.cuda_jit\n"
        "def kernel(out, col): pass\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_a_function_without_source_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec("def kernel(out, col): pass", namespace)
    with pytest.raises(ck.CompileError, match="its source cannot be read"):
        ck.cuda_jit(namespace["kernel"]).ptx([np.zeros(1), ck.int64()], (9, 0))


def test_what_does_not_compile_is_named() -> None:
    def unknown(out, col):
        out[0] = scale(col.value(0))  # noqa: F821

    def misused(out, col):
        out[0] = np.linalg.norm(col.value(0))

    def divided(out, col):
        out[0] = float(col.value(0) / 2)

    def rounded(out, col):
        out[0] = divmod(col.value(0), 2)[0]

    arguments = [np.zeros(1), ck.int64()]
    with pytest.raises(ck.CompileError, match=r"'scale' is not defined(.|\n)*out\[0\] = scale"):
        ck.cuda_jit(unknown).ptx(arguments, (9, 0))
    with pytest.raises(ck.CompileError, match=r"misused does not compile.*norm"):
        ck.cuda_jit(misused).ptx(arguments, (9, 0))
    for function in (divided, rounded):
        with pytest.raises(ck.CompileError, match=r"decimals have \+, - and \*"):
            ck.cuda_jit(function).ptx([np.zeros(1), ck.decimal128(9, 2)], (9, 0))


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a Python function"):
        ck.cuda_jit(len)


def test_columns_that_are_not_read_are_not_handed_over() -> None:
    def first(out, batch):
        out[0] = batch.wanted.value(0)

    schema = ck.Schema([ck.field(f"field{k}", ck.utf8()) for k in range(200)])
    schema = ck.Schema([*schema, ck.field("wanted", ck.int32())])
    kernel = ck.cuda_jit(first)
    kernel._specialised((None, schema), False)
    (specialisation,) = kernel._specialisations.values()
    assert {need.path.steps for need in specialisation.needs if isinstance(need, Member)} <= {
        (),
        (200,),
    }
    assert len(specialisation.needs) <= 4
