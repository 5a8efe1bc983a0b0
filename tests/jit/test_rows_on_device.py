"""Rows that are built on a device: in the simulator, and by the PTX that the kernels compile to."""

from __future__ import annotations

import pytest
from jit.device_rows import CASES, REPEATED, repeat, repeated
from jit.ptx_rows import rows_by_ptx

import colkern as ck

SIMULATED = "jit.device_rows"


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
def test_in_the_simulator(case: str, simulated_cases: dict[str, str]) -> None:
    assert simulated_cases[case] == ""


def test_compiled_kernels_write_what_they_have_measured() -> None:
    texts = ["ab", None, "é", "four", ""]
    actual = rows_by_ptx(repeat, 5, ck.array(texts), returns=REPEATED, capability=(9, 0))
    actual.validate(full=True)
    assert actual.to_pylist() == list(map(repeated, texts))
    with pytest.raises(ValueError, match="too long") as caught:
        rows_by_ptx(repeat, 3, ck.array(["a", "12345", "123456"]), returns=REPEATED)
    assert caught.value.__notes__ == ["repeat: row 2"]
