"""A kernel of each pattern, and users' functions, compiled for a GPU and launched there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from jit.checksums import checksum, kernel_source
from jit.device_kernels import CASES as KERNEL_CASES
from jit.device_kernels import (
    COLUMNS,
    a_launch_uses_one_stream_and_waits_for_what_others_will_find,
    each_type_at_three_levels,
    kernel_of,
)
from jit.device_rows import CASES as ROW_CASES
from jit.device_rows import (
    a_function_that_appends_what_it_reads_copies_a_column,
    arguments_are_on_one_device,
    rows_have_any_number_of_values,
)
from kernels.cases import variants
from kernels.running import target_failures
from operations.samples import sample, samples
from rows.device_cases import integers_do_not_wrap_around, texts_are_made_in_arenas
from tiers import kernels_of_patterns

import colkern as ck
from colkern.cuda import memory
from colkern.targets import target_of

pytestmark = pytest.mark.gpu

Check = Callable[[], None]

BY_HAND = [
    # They replace parts of the library by those of the simulator.
    a_launch_uses_one_stream_and_waits_for_what_others_will_find,
    arguments_are_on_one_device,
    # A kernel for each of hundreds of types, which takes the compiler many minutes.
    each_type_at_three_levels,
    a_function_that_appends_what_it_reads_copies_a_column,
]
"""Cases for the simulator alone; below is one kernel for all columns of a layout."""

VARIANTS = {kernel.name: name for name, (kernel, _) in variants().items()}


@pytest.mark.smoke
@pytest.mark.parametrize("kernel", kernels_of_patterns())
def test_a_kernel_of_each_pattern(kernel: str) -> None:
    assert list(target_failures(VARIANTS[kernel], target_of(ck.Device("cuda")))) == []


@pytest.mark.smoke
@pytest.mark.parametrize(
    "case",
    [
        COLUMNS["positions"],
        rows_have_any_number_of_values,
        integers_do_not_wrap_around,
        texts_are_made_in_arenas,
    ],
    ids=lambda case: case.__name__,
)
def test_a_function_of_each_kind(case: Check) -> None:
    case()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "case",
    [case for case in [*KERNEL_CASES, *ROW_CASES] if case not in BY_HAND],
    ids=lambda case: case.__name__,
)
def test_functions_of_users(case: Check) -> None:
    case()


@pytest.mark.parametrize(
    "name", [n for n in samples() if n not in {"null", "struct without fields"}]
)
def test_kernels_of_users_read_every_layout(name: str) -> None:
    array, expected = sample(name), samples()[name]
    kernel = kernel_of(kernel_source({"column": array.type}))
    out: Any = memory.on_device(np.zeros(len(array), np.int64))
    kernel[1, len(array)](out, ck.to_device(array))
    assert memory.on_host(out).tolist() == [checksum(expected, i) for i in range(len(array))]
