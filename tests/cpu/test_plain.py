"""Few items before Numba is loaded: kernels run as the plain Python they are, and nothing is compiled."""

from __future__ import annotations

import json
import subprocess
import sys

SMALL = """
import io, json, sys
import colkern as ck

column = ck.array(["a", None, "a longer text than twelve", "ü"], ck.utf8_view())
batch = ck.RecordBatch.from_arrays([column, ck.array([[1], None, [2, 3], []])], ["x", "y"])
sink = io.BytesIO()
ck.ipc.write_file(sink, batch.slice(1), compression="zstd")
(read,) = ck.ipc.open(sink.getvalue())
read.validate(full=True)
taken = ck.take(read["x"], ck.array([2, 0]))
print(json.dumps([read.to_pydict(), taken.to_pylist(), "numba" in sys.modules]))
"""

OFTEN = """
import json, sys
import colkern as ck

values, indices = ck.array(list(range(100))), ck.array(list(range(100)))
equal, loaded = set(), []
for _ in range(100_000):
    equal.add(ck.take(values, indices).to_pylist() == list(range(100)))
    loaded.append("numba" in sys.modules)
    if loaded[-1]:
        break
print(json.dumps([list(equal), loaded[0], loaded[-1]]))
"""

LONG = """
import json, sys
import colkern as ck

lists = ck.array([list(range(5000)), []])
before = "numba" in sys.modules
taken = ck.take(lists, ck.array([1, 0]))
print(json.dumps([taken.to_pylist() == [[], list(range(5000))], before, "numba" in sys.modules]))
"""

WIDE = """
import json, sys
import colkern as ck

narrow = ck.cast(ck.array([1e300, float("nan"), -1e300, 1.5]), ck.float32())
print(json.dumps([str(narrow.to_pylist()), "numba" in sys.modules]))
"""


def printed(code: str) -> list[object]:
    # A warning of NumPy's would be an overflow that compiled code does not have.
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    result: list[object] = json.loads(done.stdout)
    return result


def test_small_arrays_need_no_compiler() -> None:
    columns, taken, numba_is_loaded = printed(SMALL)
    assert columns == {"x": [None, "a longer text than twelve", "ü"], "y": [None, [2, 3], []]}
    assert taken == ["ü", None]
    assert not numba_is_loaded


def test_a_float_that_is_too_wide_is_infinite_without_a_warning() -> None:
    assert printed(WIDE) == ["[inf, nan, -inf, 1.5]", False]


def test_a_kernel_that_is_asked_for_often_is_compiled() -> None:
    equal, at_first, in_the_end = printed(OFTEN)
    assert equal == [True]
    assert not at_first
    assert in_the_end


def test_few_slots_of_many_elements_are_compiled() -> None:
    assert printed(LONG) == [True, False, True]
