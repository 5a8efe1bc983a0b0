"""The content hash: what changes a function's meaning changes it, and nothing else."""

from __future__ import annotations

import contextlib
import math
import random
import statistics
import subprocess
import sys
import textwrap
import threading
import types
from collections import namedtuple
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

import colkern as ck
from colkern.cpu import content
from colkern.cpu.content import content_hash, is_shared, text_hash
from colkern.jit.building.builder_type import BuilderType, child_of
from colkern.jit.building.state import builder_at
from colkern.jit.views.column_types import column_type
from colkern.schema import Map

BEFORE = {
    "helpers.py": """
        SCALE = 3

        def helper(x):
            return x * SCALE

        def unused(x):
            return x
        """,
    "package/__init__.py": "",
    "package/late.py": "DELAY = 9\n",
    "package/deep.py": """
        from collections import namedtuple

        import numpy as np

        Size = namedtuple("Size", ["width", "height"])
        FACTOR = 2.5
        OFFSET = 6
        TABLE = np.array([1, 2, 3])

        def deep(x):
            return x + 1
        """,
    "main.py": """
        from collections import namedtuple
        from enum import IntEnum

        import helpers
        import numba
        import numba.experimental
        import numba.extending
        import package.deep
        from helpers import helper

        LIMIT = 10
        PAIR = (1, 2.0)

        class Level(IntEnum):
            LOW = 1
            HIGH = 2

        Point = namedtuple("Point", ["x", "y"])

        @numba.njit
        def compiled(x):
            return helper(x) + 1

        def make(bound):
            def inner(x):
                return x < bound
            return inner

        closed = make(5)

        @numba.njit(error_model="numpy")
        def quotient(x):
            return 1 // x

        @numba.njit(locals={"y": numba.int32})
        def narrow(x):
            y = x
            return y

        def keyed(x, *, by=4):
            return x * by

        @numba.vectorize
        def twice(x):
            return 2 * x

        def special(x):
            return x

        @numba.extending.overload(special)
        def compiled_special(x):
            return lambda x: x - 3

        @numba.experimental.jitclass([("start", numba.int64)])
        class Counter:
            def __init__(self, start):
                self.start = start

            def next(self):
                return self.start + 1

            @property
            def last(self):
                return self.start - 7

        def with_module():
            import package.late as late

            def inner(x):
                return x + late.DELAY
            return inner

        reads_cell = with_module()

        def reads_deep(x):
            return x + package.deep.OFFSET

        def function(x, step=1):
            if x > LIMIT and closed(x):
                return helper(x) + helpers.SCALE + PAIR[1] + Level.HIGH
            x += quotient(x) + twice(x) + Counter(x).next() + reads_cell(x) + reads_deep(x)
            x += narrow(x) + keyed(x)
            point = Point(x, compiled(x))
            x += special(x) + package.deep.Size(x, 1).width
            return point.x + package.deep.deep(x) * package.deep.FACTOR + package.deep.TABLE[0] + step
        """,
}

EDITS = {
    "a constant in the code": ("main.py", "PAIR[1]", "PAIR[0]"),
    "an operator": ("main.py", "x > LIMIT", "x >= LIMIT"),
    "a default": ("main.py", "step=1", "step=2"),
    "a keyword's default": ("main.py", "by=4", "by=5"),
    "the type of a callee's variable": ("main.py", "numba.int32", "numba.int16"),
    "a global": ("main.py", "LIMIT = 10", "LIMIT = 11"),
    "the type of a global": ("main.py", "LIMIT = 10", "LIMIT = 10.0"),
    "a tuple's member": ("main.py", "(1, 2.0)", "(1, 3.0)"),
    "a closure's value": ("main.py", "make(5)", "make(6)"),
    "the code of a closure": ("main.py", "x < bound", "x <= bound"),
    "a compiled callee": ("main.py", "helper(x) + 1", "helper(x) + 2"),
    "the options of a compiled callee": ("main.py", 'error_model="numpy"', 'error_model="python"'),
    "a universal function": ("main.py", "2 * x", "3 * x"),
    "the compiled form of a function": ("main.py", "x - 3", "x - 4"),
    "a jitclass's method": ("main.py", "self.start + 1", "self.start + 2"),
    "a jitclass's property": ("main.py", "self.start - 7", "self.start - 8"),
    "a jitclass's field": ("main.py", '("start", numba.int64)', '("start", numba.int32)'),
    "a number of a module in a cell": ("package/late.py", "DELAY = 9", "DELAY = 8"),
    "a number of a module that a callee uses too": ("package/deep.py", "OFFSET = 6", "OFFSET = 5"),
    "a named tuple of a module": (
        "package/deep.py",
        '["width", "height"]',
        '["height", "width"]',
    ),
    "an enum's value": ("main.py", "HIGH = 2", "HIGH = 3"),
    "the order of a named tuple": ("main.py", '["x", "y"]', '["y", "x"]'),
    "a callee in another file": ("helpers.py", "x * SCALE", "x + SCALE"),
    "a global of a callee": ("helpers.py", "SCALE = 3", "SCALE = 4"),
    "a function of a module of a package": ("package/deep.py", "x + 1", "x + 2"),
    "a number of a module of a package": ("package/deep.py", "2.5", "3.5"),
    "an array of a module of a package": ("package/deep.py", "[1, 2, 3]", "[1, 2, 4]"),
}

SAME = {
    "a function that is not called": ("helpers.py", "return x\n", "return -x\n"),
    "a comment": ("main.py", "LIMIT = 10", "LIMIT = 10  # rows"),
    "a line": ("helpers.py", "def unused", "\n\ndef unused"),
}


def write(folder: Path, edit: tuple[str, str, str] | None = None) -> Path:
    for name, text in BEFORE.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        source = textwrap.dedent(text).lstrip()
        if edit and edit[0] == name:
            assert edit[1] in source
            source = source.replace(edit[1], edit[2], 1)
        path.write_text(source)
    return folder


def run_code(code: str, *, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


ASK_ALL = """
import sys
from pathlib import Path
from typing import Any
from colkern.cpu.content import content_hash
for folder in sys.argv[1:] or Path('.').iterdir():
    folder = Path(folder).absolute()
    sys.path.insert(0, str(folder))
    import main
    print(folder.name, content_hash(main.function))
    sys.path.remove(str(folder))
    for name in ('main', 'helpers', 'package', 'package.deep', 'package.late'):
        del sys.modules[name]
"""


@pytest.fixture(scope="module")
def hashes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The hash of `function` after each edit, all from one process, and from another one."""
    folder = tmp_path_factory.mktemp("edited")
    edits = {"before": None, **EDITS, **SAME}
    names = {}
    for number, (name, edit) in enumerate(edits.items()):
        names[write(folder / str(number), edit).name] = name
    result = dict(line.split() for line in run_code(ASK_ALL, folder=folder).splitlines())
    again = folder.with_name("again")
    write(again / "before")
    (line,) = run_code(ASK_ALL, folder=again).splitlines()
    return {names[number]: key for number, key in result.items()} | {"again": line.split()[1]}


@pytest.mark.parametrize("what", EDITS)
def test_edit_is_noticed(what: str, hashes: dict[str, str]) -> None:
    assert hashes[what] != hashes["before"]


@pytest.mark.parametrize("what", [*SAME, "again"])
def test_same_meaning_same_hash(what: str, hashes: dict[str, str]) -> None:
    # "again": the same files elsewhere, in another process with other hash seeds and addresses.
    assert hashes[what] == hashes["before"]


def counting_down(step: int) -> Any:
    def countdown(n: int) -> int:
        return 0 if n <= 0 else countdown(n - step)

    return countdown


def test_function_that_calls_itself() -> None:
    assert content_hash(counting_down(1)) == content_hash(counting_down(1))
    assert content_hash(counting_down(1)) != content_hash(counting_down(2))


def calling(first: Any, second: Any, third: Any) -> Any:
    def caller(x: Any) -> Any:
        return first(x) + 2 * second(x) + 3 * third(x)

    return caller


def increased(x: Any) -> Any:
    return x + 1


def doubled(x: Any) -> Any:
    return 2 * x


of_library: Callable[[int], Any] = child_of


@pytest.mark.parametrize("functions", [(increased, doubled), (of_library(0), of_library(1))])
def test_which_function_is_called_again(functions: tuple[Any, Any]) -> None:
    # The second pair is the library's, known by what they were made with.
    first, second = functions
    key = content_hash(calling(first, second, first))
    assert key == content_hash(calling(first, second, first))
    assert key != content_hash(calling(first, second, second))


def test_threads_find_a_compiled_form_once(monkeypatch: pytest.MonkeyPatch) -> None:
    both_read = threading.Barrier(2)

    class Kind:
        @property
        def templates(self) -> list[str]:
            with contextlib.suppress(threading.BrokenBarrierError):
                both_read.wait(timeout=0.2)
            return ["template"]

    function: Any = increased
    registry = SimpleNamespace(globals=[(function, Kind())])
    monkeypatch.setattr(content, "builtin_registry", registry)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map((templates := content._Templates()).of, [function, function]))
    results: list[Any] = list(templates.of(function))
    assert results == ["template"]


def test_function_of_a_namespace_without_a_name() -> None:
    namespace: dict[str, Any] = {}
    exec("def one(): return 1\ndef two(): return 2", namespace)
    assert namespace["one"].__module__ is None
    assert content_hash(namespace["one"]) != content_hash(namespace["two"])


def test_cell_that_is_still_empty() -> None:
    from colkern.cpu.content import content_hash

    def early() -> int:
        return later

    key = content_hash(early)
    later = 5
    assert content_hash(early) != key
    assert later == 5


def test_options_are_part_of_it() -> None:
    from colkern.cpu.content import content_hash

    assert content_hash(write) != content_hash(write, "fastmath")


P = namedtuple("P", "a b")
SWAPPED = namedtuple("P", "b a")  # type: ignore[name-match]


def map_of(nullable: bool) -> Any:
    entries = ck.struct(
        [ck.field("key", ck.utf8(), nullable=False), ck.field("value", ck.int64(), nullable)]
    )
    return column_type(Map(ck.field("entries", entries, nullable=False)))


ONE_NAME = {
    "fields of a named tuple": (
        numba.types.NamedUniTuple(numba.int64, 2, P),
        numba.types.NamedUniTuple(numba.int64, 2, SWAPPED),
    ),
    "whether values of a map may be null": (map_of(True), map_of(False)),
    "names of fields": (
        column_type(ck.struct([ck.field("a", ck.int64()), ck.field("b", ck.int64())])),
        column_type(ck.struct([ck.field("a: int64, b", ck.int64())])),
    ),
}


@pytest.mark.parametrize("what", ONE_NAME)
def test_types_of_one_name(what: str) -> None:
    first, second = ONE_NAME[what]
    assert str(first) == str(second)
    assert first != second
    assert content_hash((first,)) != content_hash((second,))


def test_objects_without_known_content_are_of_this_process() -> None:
    function = numba.njit(increased)
    unknown = calling(increased, doubled, object())
    for value in ((numba.typeof(function),), unknown):
        assert not is_shared(content_hash(value))
        assert not is_shared(text_hash("loop", content_hash(value)))
    assert is_shared(content_hash((numba.int64, numba.int64[::1], ck.int64())))


def module_of(**parts: Any) -> Any:
    module = types.ModuleType("settings")
    vars(module).update(parts)
    return module


class Color(Enum):
    RED = 1
    BLUE = 2


def stencil_of(number: int) -> Any:
    def shifted(a: Any) -> Any:
        return a[-1] * number

    return numba.stencil(shifted)


PARTS = {
    "an enum's member": (Color.RED, Color.BLUE),
    "a dtype": (np.dtype("f4"), np.dtype("f8")),
    "a Numba type": (numba.int32, numba.int64),
    "a stencil": (stencil_of(2), stencil_of(3)),
    "None": (None, 1),
}


@pytest.mark.parametrize("what", PARTS)
def test_parts_of_modules(what: str) -> None:
    def caller() -> Any:
        return settings.part

    keys = []
    for settings in (module_of(part=part) for part in PARTS[what]):  # noqa: B007
        assert is_shared(content_hash(caller))
        keys.append(content_hash(caller))
    assert keys[0] != keys[1]


def test_a_stencil_keeps_the_globals_that_it_was_defined_with() -> None:
    assert content_hash(stencil_of(2)) == content_hash(stencil_of(2))
    assert content_hash(stencil_of(2)) != content_hash(stencil_of(3))


def with_cell(value: int) -> tuple[Any, Any]:
    def scaled(x: Any) -> Any:
        return x * value

    compiled = numba.njit(scaled)
    (cell,) = compiled.py_func.__closure__
    return compiled, cell


def test_code_of_another_content_is_of_this_process() -> None:
    # What stands in a tuple is linked to as it is; a global is compiled anew.
    seen, of_seen = with_cell(1)
    key = content_hash((seen,))
    seen.compile((numba.int64,))
    assert is_shared(key)
    assert content_hash((seen,)) == key
    of_seen.cell_contents = 2
    assert not is_shared(content_hash((seen,)))
    assert is_shared(content_hash(calling(seen, seen, seen)))


def test_code_that_was_there_before_anybody_looked_is_of_this_process() -> None:
    compiled, _ = with_cell(1)
    compiled.compile((numba.int64,))
    assert not is_shared(content_hash((compiled,)))


def test_methods_of_pythons_own_are_known_by_its_version() -> None:
    assert is_shared(content_hash(calling(random.randint, math.erf, statistics.mean)))


def test_functions_of_the_library_differ_by_what_they_were_made_with() -> None:
    kinds = [ck.list_(ck.int64()), ck.fixed_size_list(ck.int64(), 1)]
    first, second, again = (builder_at(BuilderType(kind)) for kind in (*kinds, kinds[0]))
    assert content_hash(first) == content_hash(again)
    assert content_hash(first) != content_hash(second)


def test_functions_of_a_row_count_as_what_is_compiled_of_them() -> None:
    def calling(step: int) -> Any:
        @ck.udf
        def called(x: Any) -> Any:
            return x + step

        def caller(x: Any) -> Any:
            return called(x)

        return caller

    assert content_hash(calling(1)) == content_hash(calling(1))
    assert content_hash(calling(1)) != content_hash(calling(2))
