"""Every kernel compiled and launched by a target: the CPU, or a GPU (COLKERN_TEST_DEVICE=cuda)."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from kernels.cases import variants
from kernels.running import target_failures

from colkern.cpu import compiler, streaming
from colkern.cpu import target as cpu_target
from colkern.cpu.threads import GRAIN, set_num_threads


@pytest.mark.parametrize("name", variants())
def test_compiled(name: str, target: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = cache(compiler.compile_kernel.__wrapped__)
    monkeypatch.setattr(compiler, "compile_kernel", fresh)
    monkeypatch.setattr(cpu_target, "_loops", {})
    assert list(target_failures(name, target)) == []
    if target.device.kind == "cpu":
        # `colkern warm` compiles what calls ask for, and nothing else is ever asked for.
        kernel, variant = variants()[name]
        assert fresh(kernel).signatures == [compiler.signature(variant)]


@pytest.mark.parametrize("name", variants())
def test_compiled_over_several_threads(
    name: str, target: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if target.device.kind != "cpu":
        pytest.skip("a GPU has its own threads")
    monkeypatch.setattr(cpu_target, "WORTH_WAKING", 0)
    set_num_threads(3)
    try:
        assert list(target_failures(name, target, work=GRAIN)) == []
    finally:
        set_num_threads(0)


@pytest.mark.parametrize("name", [n for n, (kernel, _) in variants().items() if kernel.streams])
def test_results_past_the_caches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LARGE", 0)
    monkeypatch.setattr(streaming, "BLOCK", 64)
    monkeypatch.setattr(compiler, "compile_kernel", cache(compiler.compile_kernel.__wrapped__))
    monkeypatch.setattr(cpu_target, "_loops", {})
    failures = target_failures(name, cpu_target.CpuTarget())
    # From a wrong index on, a result of `take_items` is not to be read.
    assert [f for f in failures if not f.startswith(("index ", "no values "))] == []


@pytest.mark.parametrize(
    ("count", "error", "text"),
    [
        (1.5, TypeError, "count: expected an integer, got float 1.5"),
        ("a", TypeError, "count: expected an integer, got str 'a'"),
        (-1, ValueError, "count: must not be negative, got -1"),
    ],
)
def test_numbers_of_threads_are_integers(count: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        set_num_threads(count)
