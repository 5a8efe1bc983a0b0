"""Every kernel has all the proofs that need no GPU: this fails for one that lacks any of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import simulator
from kernels import test_machine, test_plain, test_simulator, test_target
from kernels.cases import kernels_with_cases, variants

import colkern
from colkern.kernels import KERNELS

FOLDER = Path(colkern.__file__).parent / "kernels"

PROOFS: dict[str, Callable[..., Any]] = {
    "plain Python against an oracle": test_plain.test_plain_python,
    "compiled": test_target.test_compiled,
    "PTX, run by a machine": test_machine.test_ptx_keeps_the_rules_and_computes_what_is_expected,
    "simulator": test_simulator.test_simulated,
}


@pytest.mark.parametrize("proof", PROOFS)
def test_every_kernel_has(proof: str) -> None:
    (mark,) = (m for m in PROOFS[proof].pytestmark if m.name == "parametrize")  # type: ignore[attr-defined]
    proved = set(mark.args[1])
    assert {name.partition("[")[0] for name in proved} == set(KERNELS)
    # What needs a compilation of seconds takes some variants of each.
    assert proved == set(variants()) or proof.startswith("PTX")


def test_every_kernel_has_cases() -> None:
    assert kernels_with_cases() == set(KERNELS)


def test_the_simulator_runs_every_variant() -> None:
    assert set(simulator.runs(None)) >= {f"test_simulated[{name}]" for name in variants()}


def test_every_declared_kernel_is_known() -> None:
    """A file that nothing imports has kernels without any proof."""
    declared = [name for path in FOLDER.glob("*.py") for name in kernels_in(path)]
    assert sorted(declared) == sorted(KERNELS)


def kernels_in(path: Path) -> Iterator[str]:
    """The functions of a file that are marked `@kernel(…)`."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            marks = [m.func for m in node.decorator_list if isinstance(m, ast.Call)]
            if any(isinstance(mark, ast.Name) and mark.id == "kernel" for mark in marks):
                yield node.name
