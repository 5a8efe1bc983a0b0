"""Every kernel as real PTX, which needs the CUDA compiler but no GPU."""

from __future__ import annotations

import pytest
from kernels.cases import variants

from colkern.cuda.compiler import ptx

CAPABILITIES = [(8, 0), (9, 0)]


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
@pytest.mark.parametrize("name", variants())
def test_ptx(name: str, capability: tuple[int, int]) -> None:
    kernel, variant = variants()[name]
    text = ptx(kernel, variant, capability)
    assert ".target sm_{}{}".format(*capability) in text
    assert ".entry" in text
    # Local memory is where registers are spilled to.
    assert ".local" not in text
    # What is not inlined is called through memory, and is compiled for a driver that is not there.
    assert "call.uni" not in text
    # 64-bit floats come from a signed index that met an unsigned one.
    declared = [kernel.returns, *(argument.item for argument in variant)]
    assert ".f64" not in text or any(item.startswith("f") for item in declared)
    if kernel.name == "count_set_bits":
        assert "popc.b64" in text
