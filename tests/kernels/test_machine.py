"""Every kernel's PTX, looked at, and run by a machine in Python: what a GPU would compute."""

from __future__ import annotations

import numpy as np
import pytest
from cuda.ptx_machine import Kernel as Machine
from cuda.ptx_running import LANES, THREADS, compiled, one_of_each, ptx_failures
from cuda.races import Races
from kernels.architectures import capabilities_in_turn, ptx_of_each
from kernels.cases import variants
from kernels.ptx_rules import check_each

CAPABILITY = (8, 0)

MOST_CASES = 2


@pytest.mark.parametrize("name", one_of_each())
def test_ptx_keeps_the_rules_and_computes_what_is_expected(name: str) -> None:
    kernel, variant = variants()[name]
    texts = ptx_of_each(kernel, variant, capabilities_in_turn(kernel), THREADS, LANES)
    check_each(kernel, variant, texts)
    assert list(ptx_failures(name, texts[CAPABILITY], MOST_CASES)) == []


def test_wrong_ptx_is_found() -> None:
    text = compiled("first_descent[i4]", CAPABILITY)
    assert "min.u64" in text
    # As a compiler did that took an unsigned minimum for a signed one.
    assert list(ptx_failures("first_descent[i4]", text.replace("min.u64", "min.s64"), 100))


def test_what_is_in_no_array_is_not_loaded() -> None:
    text = compiled("lengths_of[i8]", CAPABILITY)
    machine = Machine(text)
    with pytest.raises(MemoryError, match="in no array"):
        machine.launch(1, 4, [1, 16, *[0] * (len(machine.parameters) - 2)], [])


NEIGHBOURS = """
.visible .entry neighbours(.param .u64 out)
{
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    BARRIER
    xor.b64 %rd4, %rd2, 4;
    add.s64 %rd5, %rd1, %rd4;
    ld.global.u32 %r2, [%rd5];
    st.global.u32 [%rd3+BEHIND], %r2;
    ret;
}
"""
"""Each thread writes its number, and reads that of the other one of its pair."""

PAIRS = "and.b32 %r3, %r1, 2; shl.b32 %r4, 3, %r3; bar.warp.sync %r4;"


def neighbours(barrier: str, threads: int = 4) -> list[int]:
    """The numbers that threads have read."""
    out = np.full(2 * threads, 9, np.uint32)
    begin = out.ctypes.data
    text = NEIGHBOURS.replace("BARRIER", barrier).replace("BEHIND", str(4 * threads))
    Machine(text).launch(1, threads, [begin], [(begin, begin + out.nbytes)])
    result: list[int] = out[threads:].tolist()
    return result


def races_of_neighbours(barrier: str) -> set[str]:
    out = np.full(8, 9, np.uint32)
    begin, result = out.ctypes.data, Races()
    text = NEIGHBOURS.replace("BARRIER", barrier).replace("BEHIND", "16")
    Machine(text).launch(1, 4, [begin], [(begin, begin + out.nbytes)], result)
    return result.reports


def test_bytes_that_no_barrier_orders_are_races() -> None:
    assert races_of_neighbours("bar.sync 0;") == races_of_neighbours(PAIRS) == set()
    words = "by two threads of a block without a barrier"
    assert races_of_neighbours("") == {
        f"a byte is written and read {words}",
        f"a byte is read and written {words}",
    }


def test_bytes_of_two_blocks_are_races() -> None:
    out, actual = np.zeros(8, np.uint32), Races()
    begin = out.ctypes.data
    text = NEIGHBOURS.replace("BARRIER", "bar.sync 0;").replace("BEHIND", "16")
    Machine(text).launch(2, 4, [begin], [(begin, begin + out.nbytes)], actual)
    assert "a byte is written twice by threads of two blocks" in actual.reports


def test_threads_of_a_warp_wait_for_those_that_they_name() -> None:
    assert neighbours(PAIRS) == neighbours("bar.sync 0;") == [1, 0, 3, 2]
    assert neighbours("") == [9, 0, 9, 2]
    assert neighbours("bar.warp.sync -1;", 64) == [number ^ 1 for number in range(64)]
    # One pair waits more often than the other, and only then for the whole block.
    more = "setp.lt.u32 %p1, %r1, 2; @%p1 " + PAIRS.split("; ")[-1]
    assert neighbours(f"{PAIRS} {more} bar.sync 0;") == [1, 0, 3, 2]


def test_threads_that_wait_for_some_that_do_not_come_are_found() -> None:
    with pytest.raises(RuntimeError, match="not all of which come"):
        neighbours(
            "setp.eq.u32 %p1, %r1, 1; @%p1 bra $L_past; " + PAIRS + " $L_past: mov.u32 %r5, 0;"
        )
