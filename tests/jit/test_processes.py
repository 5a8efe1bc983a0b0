"""Code that one process compiled is loaded by others; code that changed in between is compiled anew."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from colkern.jit import Udf, udf

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import json, sys
import pyarrow as pa
import colkern.schema as s
from colkern.jit import generator, reducer, udf
from helpers import fee

RATE = {rate}

def local(x):
    return x * RATE

@udf
def price(x: float) -> float:
    return local(x) + fee(x)

@udf(nulls="pass")
def label(x: str | None):
    return "none" if x is None else x[:2] if len(x) > 2 else str(x).upper()

@udf
def number(x: str) -> float:
    return float(x)

def even(n):
    return True if n == 0 else odd(n - 1)

def odd(n):
    return False if n == 0 else even(n - 1)

@udf
def is_even(x: int) -> bool:
    return even(x)

@reducer
class total:
    def init():
        return 0.0
    def update(state, x: float):
        return state + fee(x)
    def merge(left, right):
        return left + right

@generator
def fees(x: float) -> float:
    yield x
    yield fee(x)

results = [
    price(pa.array([10.0, None])).to_pylist(),
    label(pa.array(["abc", None, "x"])).to_pylist(),
    number(pa.array(["1.25", "0.1234567890123456789"])).to_pylist(),
    total(pa.array([1.0, 2.0])),
    fees(pa.array([1.0])).to_pylist(),
    is_even(pa.array([3, 4])).to_pylist(),
]
from colkern.cache import compilations
print(json.dumps([results, compilations() | {{"modules": sorted(sys.modules)}}]))
"""

# What only compiling needs, by how the names of the modules begin.
COMPILING = (
    "colkern.jit.compiling.replacements",
    "colkern.jit.compiling.explanations",
    "colkern.jit.compiling.functions",
    "colkern.jit.building.methods",
    "colkern.jit.values.decimal_numbers",
    "colkern.jit.elements.",
    "colkern.jit.views.columns",
    "colkern.jit.views.elements",
    "colkern.jit.views.slots",
    "numba.cpython.unicode",
    "numba.np.arrayobj",
)


def run(folder: Path, *arguments: str, **variables: str) -> str:
    environment = os.environ | {
        "COLKERN_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
        # Bytecode of a file edited within the same second would be taken for the new one.
        "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(folder: Path, rate: float, fee: int) -> None:
    (folder / "script.py").write_text(SCRIPT.format(rate=rate))
    (folder / "helpers.py").write_text(f"def fee(x):\n    return inner() + {fee}\n\n")
    with (folder / "helpers.py").open("a") as file:
        file.write("def inner():\n    return 1\n")


def outcome(folder: Path, **variables: str) -> tuple[list[Any], dict[str, Any]]:
    results, counts = json.loads(run(folder, "script.py", **variables).splitlines()[-1])
    return results, counts


def test_a_second_process_compiles_nothing_and_an_edit_is_noticed(tmp_path: Path) -> None:
    write(tmp_path, rate=2.0, fee=1)
    numbers = [1.25, 0.1234567890123456789]
    expected = [[22.0, None], ["ab", "none", "X"], numbers, 4.0, [[1.0, 2.0]], [False, True]]
    results, counts = outcome(tmp_path)
    assert results == expected
    assert counts["compiled"] > 0

    results, counts = outcome(tmp_path)
    assert results == expected
    assert counts["compiled"] == 0
    assert counts["loaded"] > 0
    assert [name for name in counts["modules"] if name.startswith(COMPILING)] == []

    # A constant of the script, then a helper in another file.
    write(tmp_path, rate=3.0, fee=1)
    assert outcome(tmp_path)[0][0] == [32.0, None]
    write(tmp_path, rate=3.0, fee=5)
    results, _ = outcome(tmp_path)
    assert (results[0], *results[3:5]) == ([36.0, None], 12.0, [[1.0, 6.0]])


LANGUAGE = """
import numba
from numba import types
from numba.extending import overload_method

@overload_method(types.Array, "first_or")
def first_or(items, default):
    def implementation(items, default):
        return items[0] if len(items) else default + {added}
    return implementation
"""

NJIT = """
import json, sys
import numpy as np
import colkern as ck
import language
from helpers import fee

LIMIT = {limit}

def make(step):
    @ck.njit
    def stepped(items, by=2):
        return total(items) + step * by
    return stepped

@ck.njit
def total(items):
    found = 0
    for item in items:
        if item < LIMIT:
            found += item + fee(item)
    return found

@ck.njit
def first(items):
    return items.first_or(5)

@ck.njit
def at(items, i):
    return items[i]

namespace = {{"__name__": "made"}}
exec("def third(x): return x / 3", namespace)
items = np.array([1, 2, 30])
results = [make(1)(items), make(2)(items), total(items), first(items[:0]), ck.njit(namespace["third"])(9)]
try:
    at(np.zeros(8)[:4], 6)
    results.append("unchecked")
except IndexError:
    results.append("checked")
from colkern.cache import compilations
print(json.dumps([results, compilations()]))
"""


def write_njit(folder: Path, limit: int = 10, fee: int = 1, added: int = 1) -> None:
    write(folder, rate=1.0, fee=fee)
    (folder / "language.py").write_text(LANGUAGE.format(added=added))
    (folder / "script.py").write_text(NJIT.format(limit=limit))


def test_njit_finds_its_code_again_until_what_it_follows_from_changes(tmp_path: Path) -> None:
    write_njit(tmp_path)
    results, counts = outcome(tmp_path)
    assert results == [7 + 2, 7 + 4, 7, 6, 3.0, "unchecked"]
    assert counts["compiled"] > 0

    results, counts = outcome(tmp_path)
    assert results == [9, 11, 7, 6, 3.0, "unchecked"]
    assert counts["compiled"] == 0

    # A helper in another file; what Numba was taught in one; the environment.
    write_njit(tmp_path, fee=2, added=3)
    assert outcome(tmp_path)[0] == [9 + 2, 9 + 4, 9, 8, 3.0, "unchecked"]
    results, counts = outcome(tmp_path, CK_CHECKED="1")
    assert results == [11, 13, 9, 8, 3.0, "checked"]
    assert outcome(tmp_path, NUMBA_BOUNDSCHECK="1")[0][-1] == "checked"


CLASSES = """
from collections import namedtuple
import numpy as np
import colkern as ck

class Refused(Exception):
    pass

Pair = namedtuple("Pair", ["low", "high"])

@ck.njit
def pair(x):
    if x > 3:
        raise Refused("too much")
    return Pair(x, x + 1)

assert isinstance(pair(1), Pair)
try:
    pair(4)
except Refused:
    print("refused")
"""


def test_classes_of_a_script_are_its_own_in_every_process(tmp_path: Path) -> None:
    # Numba pickles them into the machine code: what another process compiled has others of the name.
    (tmp_path / "classes.py").write_text(CLASSES)
    for _ in range(2):
        assert run(tmp_path, "classes.py").strip() == "refused"


NOTEBOOK = r"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()

def cell(source):
    done = shell.run_cell(source)
    done.raise_error()

cell("import colkern as ck, numpy as np")
cell("def helper(x): return x + 1")
cell("@ck.njit\ndef last(items): return helper(items[-1])")
cell("first = last(np.array([1, 2]))")
cell("def helper(x): return x - 1")
cell("@ck.njit\ndef last(items): return helper(items[-1])")
cell("second = last(np.array([1, 2]))")
assert (shell.user_ns["first"], shell.user_ns["second"]) == (3, 1)
from colkern.cache import compilations
print(compilations()["compiled"])
"""


def test_a_notebook_finds_the_code_of_its_cells(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    (tmp_path / "notebook.py").write_text(NOTEBOOK)
    home = {"HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
    first, second = (run(tmp_path, "notebook.py", **home).splitlines()[-1] for _ in range(2))
    assert (int(first) > 0, int(second)) == (True, 0)


CIRCLE = """
from colkern.jit import njit

def is_even(n):
    return True if n == 0 else is_odd(n - 1)

def is_odd(n):
    return False if n == 0 else is_even(n - 1)

@njit
def even(n):
    return is_even(n)

print([even(4), even(7)])
"""


def test_functions_that_call_each_other_in_a_circle_run_in_every_process(tmp_path: Path) -> None:
    # Their machine code links to symbols of the process that compiled it: loading it would abort.
    (tmp_path / "circle.py").write_text(CIRCLE)
    for _ in range(2):
        assert run(tmp_path, "circle.py").strip() == "[True, False]"


CHANGED = """
import sys
import numpy as np
import pyarrow as pa
from colkern.jit import udf

TABLE = np.array([1, 2, 3])

@udf
def scaled(x):
    return TABLE[1] * x

before = scaled(pa.array([1], pa.int64())).to_pylist()
TABLE[:] = int(sys.argv[1])
print(before + [scaled(pa.array([1], kind())).to_pylist()[0] for kind in (pa.float64, pa.int32)])
"""


def test_an_array_that_changes_after_the_first_compilation_spoils_no_cache(tmp_path: Path) -> None:
    (tmp_path / "changed.py").write_text(CHANGED)
    for value in (10, 20):
        assert run(tmp_path, "changed.py", str(value)).strip() == f"[2, {value}.0, {value}]"
    constant = CHANGED.replace("[1, 2, 3]", "[20, 20, 20]")
    (tmp_path / "changed.py").write_text(constant)
    assert run(tmp_path, "changed.py", "20").strip() == "[20, 20.0, 20]"


def test_importing_imports_no_compiler(tmp_path: Path) -> None:
    run(tmp_path, "-c", "import sys, colkern.jit; assert 'numba' not in sys.modules")


PICKLING = """
import sys
from pyspark import cloudpickle
from colkern.jit import generator, njit, reducer, udf
from pathlib import Path
import numpy as np
import pyarrow as pa

FACTOR = 3

def helper(x):
    return x * FACTOR

@udf
def tripled(x: int) -> int:
    return helper(x)

@reducer
class total:
    def init():
        return 0
    def update(state, x: int):
        return state + helper(x)

@generator
def pair(x: int):
    yield x
    yield helper(x)

@njit(nogil=True)
def summed(items, start=1):
    for item in items:
        start += helper(item)
    return start

assert tripled(pa.array([1, None])).to_pylist() == [3, None]
assert total(pa.array([1, None])) == 3
assert pair(pa.array([1, None])).to_pylist() == [[1, 3], None]
Path("udf.pickle").write_bytes(cloudpickle.dumps((tripled, total, pair)))
assert summed(np.array([1, 2])) == 10
Path("njit.pickle").write_bytes(cloudpickle.dumps(summed))
"""

UNPICKLING = """
import pickle, sys
from pathlib import Path
made, total, pair = pickle.loads(Path("udf.pickle").read_bytes())
assert "numba" not in sys.modules
import pyarrow as pa
assert made(pa.array([2, None])).to_pylist() == [6, None]
assert total(pa.array([2, None])) == 6
assert pair(pa.array([2, None])).to_pylist() == [[2, 6], None]
assert repr(made) == "<colkern udf tripled(x: int) -> int64>", repr(made)
import numpy as np
assert pickle.loads(Path("njit.pickle").read_bytes())(np.array([1, 2])) == 10
from colkern.cache import compilations
print(compilations()["compiled"])
"""


def test_a_function_of_main_goes_through_cloudpickle_and_is_not_compiled_again(
    tmp_path: Path,
) -> None:
    (tmp_path / "main.py").write_text(PICKLING)
    run(tmp_path, "main.py")
    assert run(tmp_path, "-c", UNPICKLING).strip() == "0"


@udf("(int64) -> int64")
def module_level(x):
    return x


POOLS = """
import copy, multiprocessing, pickle
import colkern as ck

@ck.udf
def up(x: int) -> int:
    return x + 1

@ck.reducer
class total:
    def init():
        return 0

    def update(state, x: int):
        return state + x

@ck.generator
def twice(x: int) -> int:
    yield x
    yield x

@ck.njit
def size(column):
    return len(column)

def plain(x: int) -> int:
    return x * 2

doubled = ck.udf(plain)

class Functions:
    @ck.udf
    def down(x: int) -> int:
        return x - 1

def call(function):
    found = function(ck.array([1, 2]))
    return found if isinstance(found, int) else found.to_pylist()

def returned(function):
    return function

if __name__ == "__main__":
    named = [up, total, twice, Functions.down]
    for function in named:
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.map(returned, [up])[0] is up
            assert [array.to_pylist() for array in pool.map(up, [ck.array([3])])] == [[4]]
            if method == "spawn":
                assert pool.map(call, [*named, size, doubled]) == [
                    [2, 3], 3, [[1, 1], [2, 2]], [0, 1], 2, [2, 4]
                ]
"""


def test_functions_of_a_script_are_sent_to_pools_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(POOLS)
    run(tmp_path, "script.py")


def test_a_function_of_a_module_is_pickled_by_its_name() -> None:
    sys.modules.setdefault(module_level.__module__, sys.modules[__name__])
    again = pickle.loads(pickle.dumps(module_level))
    assert again is module_level


def test_a_function_in_a_function_cannot_be_pickled_plainly() -> None:
    def inner(x: int):
        return x

    result = udf(inner)
    assert isinstance(result, Udf)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(result)


BUILDING = """
import json
import numba, numpy as np
import colkern as ck
from colkern.jit import build_rows

@numba.njit(cache=True)
def count_down(numbers, out):
    for number in numbers:
        while number > 0:
            out.values.append(number)
            number -= 1
        out.end_list()

def squared(i, numbers, out):
    out.append(numbers[i] * numbers[i])

numbers = np.array([2, 0, 100])
out = ck.Builder(ck.list_(ck.int8()))
count_down(numbers, out)
rows = build_rows(squared, 3, numbers, returns=ck.int16())
hits = sum(count_down.stats.cache_hits.values())
print(json.dumps([out.finish().to_pylist()[:2], rows.to_pylist(), hits]))
"""


def test_functions_with_builders_are_loaded_by_other_processes(tmp_path: Path) -> None:
    # What makes room stands elsewhere in each process.
    (tmp_path / "building.py").write_text(BUILDING)
    actual = [json.loads(run(tmp_path, "building.py").splitlines()[-1]) for _ in range(2)]
    assert actual == [[[[2, 1], []], [4, 0, 10_000], hits] for hits in (0, 1)]
