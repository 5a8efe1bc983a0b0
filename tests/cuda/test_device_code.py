"""Compiled device code on disk: found by other processes, and compiled anew where it would be another."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.silent_device import ROOT, has_compiler, process

import colkern as ck
from colkern.cache import compilations
from colkern.cpu.content import content_hash, is_shared
from colkern.cuda import adapter, device_code
from colkern.cuda.compiler import compile_grid, parameters
from colkern.cuda.device_code import DeviceCode, KernelSource
from colkern.cuda.toolkit import CUBIN, assembled, find_library, ptxas
from colkern.jit.device.kernels import type_of
from colkern.kernels import KERNELS, offsets

HOPPER, AMPERE = (9, 0), (8, 0)

LENGTHS = parameters([offsets.lengths_of], [next(offsets.lengths_of.variants())])

needs_ptxas = pytest.mark.skipif(ptxas() is None, reason="ptxas is not installed")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache."""
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "kernels"
    device_code.package_key.cache_clear()


def files(cache: Path) -> list[Path]:
    return sorted(cache.glob("*.cubin"))


def code_and_counts(
    capability: tuple[int, int] = HOPPER, kernel: KernelSource | None = None
) -> tuple[DeviceCode | None, dict[str, int]]:
    """The code of a kernel as a process has it at first, and what was done for it."""
    before = compilations()
    compile_grid.cache_clear()
    kernel = kernel or compile_grid(((offsets.lengths_of, 1),), 256)
    code = kernel.code(LENGTHS, capability)
    return code, {what: count - before[what] for what, count in compilations().items()}


COMPILED = {"compiled": 1, "loaded": 0, "saved": 1}
LOADED = {"compiled": 0, "loaded": 1, "saved": 0}


def test_code_is_compiled_once(cache: Path) -> None:
    first, counts = code_and_counts()
    assert counts == COMPILED
    assert code_and_counts() == (first, LOADED)
    assert first is not None
    assert "lengths_of" in first.entry
    (file,) = files(cache)
    assert file.name.startswith("lengths_of-sm_90-")


def test_a_compute_capability_has_code_of_its_own(cache: Path) -> None:
    hopper, _ = code_and_counts()
    ampere, counts = code_and_counts(AMPERE)
    assert counts == COMPILED
    assert ampere != hopper
    assert code_and_counts(HOPPER) == (hopper, LOADED)
    assert code_and_counts(AMPERE) == (ampere, LOADED)


@pytest.mark.parametrize("package", ["numba-cuda", "numba", "llvmlite"])
def test_another_release_of_the_compiler_compiles_anew(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code_and_counts()
    version = metadata.version
    device_code.package_key.cache_clear()
    monkeypatch.setattr(metadata, "version", lambda name: version(name) + "1" * (name == package))
    assert code_and_counts()[1] == COMPILED


def test_another_toolkit_compiles_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code_and_counts()
    other = tmp_path / "libnvvm.so.4"
    other.write_bytes(b"another build")
    find = find_library
    device_code.package_key.cache_clear()

    def find_other(name: str) -> Any:
        result = find(name)
        return type(result)(name, str(other), "", (2, 0), "") if name == "nvvm" else result

    monkeypatch.setattr(device_code, "find_library", find_other)
    assert code_and_counts()[1] == COMPILED


@pytest.mark.parametrize("damage", ["cut off", "changed", "empty"])
def test_damaged_files_are_compiled_anew(damage: str, cache: Path) -> None:
    code_and_counts()
    (file,) = files(cache)
    content = file.read_bytes()
    middle = len(content) // 2
    changed = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    file.write_bytes({"cut off": content[:middle], "changed": changed, "empty": b""}[damage])
    code, counts = code_and_counts()
    assert counts == COMPILED
    assert code_and_counts() == (code, LOADED)


def test_without_a_directory_code_is_compiled_in_each_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(name: str = "") -> Path:
        raise PermissionError("no private directory for cached files; set COLKERN_CACHE_DIR")

    monkeypatch.setattr(device_code, "cache_dir", none)
    code, counts = code_and_counts()
    assert code is not None
    assert counts == {"compiled": 1, "loaded": 0, "saved": 0}


@needs_ptxas
def test_code_is_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    code, _ = code_and_counts()
    assert code is not None
    assert code.image.startswith(CUBIN)
    assert code.entry.encode() in code.image


def test_without_an_assembler_code_is_ptx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("colkern.cuda.toolkit._linked", lambda *given: None)
    monkeypatch.setattr("colkern.cuda.toolkit.ptxas", lambda: None)
    code, _ = code_and_counts()
    assert code is not None
    assert f".entry {code.entry}" in code.image.decode()


def test_ptx_that_an_assembler_does_not_take_is_left_to_the_driver() -> None:
    text = ".version 99.0\n.target sm_90\n"
    assert assembled(text, HOPPER) == text.encode()


def test_kernels_of_others_are_not_mistaken_for_each_other(cache: Path) -> None:
    """A kernel of another package may have the name of one of colkern's."""

    def lengths_of(out):  # type: ignore[no-untyped-def]
        out[0] = 1

    taken = [("i8", True)]
    KernelSource("lengths_of", lambda: lengths_of, lambda: None).code(taken, HOPPER)
    assert files(cache) == []
    KernelSource("lengths_of", lambda: lengths_of, lambda: "one").code(taken, HOPPER)
    KernelSource("lengths_of", lambda: lengths_of, lambda: "other").code(taken, HOPPER)
    assert len(files(cache)) == 2


def test_types_and_options_have_code_of_their_own(cache: Path) -> None:
    def first(out, a):  # type: ignore[no-untyped-def]
        out[0] = a[0] / a[1]

    def kernel(**options: Any) -> KernelSource:
        return KernelSource("first", lambda: first, lambda: "first", options=options)

    for code in ("f4", "f8"):
        kernel().code([(code, True)] * 2, HOPPER)
    kernel(fastmath=True).code([("f4", True)] * 2, HOPPER)
    assert len(files(cache)) == 3
    assert len({file.read_bytes() for file in files(cache)}) == 3


def test_kernels_that_need_other_code_are_left_to_the_compiler(cache: Path) -> None:
    """A kernel whose blocks wait for each other is linked with CUDA's device runtime."""

    def waits(out):  # type: ignore[no-untyped-def]
        adapter_module.cg.this_grid().sync()
        out[0] = 1

    adapter_module: Any = adapter.compiler()
    kernel = KernelSource("waits", lambda: waits, lambda: "waits")
    assert kernel.code([("i8", True)], HOPPER) is None
    assert files(cache) == []


@pytest.mark.parametrize("options", [{"debug": True}, {"link": ["other.cu"]}])
def test_options_that_more_than_code_follows_from(options: dict[str, Any]) -> None:
    assert not adapter.has_plain_launches(options)


def test_functions_with_arrays_in_device_memory_are_of_one_process() -> None:
    """Compiled code has the address of an array that a function names."""

    class OnDevice:
        dtype, __cuda_array_interface__ = np.dtype("i8"), {"data": (4096, True)}

        def tobytes(self) -> bytes:
            return b"12345678"

    table: Any = OnDevice()

    def function(out):  # type: ignore[no-untyped-def]
        out[0] = table[0]

    assert not is_shared(content_hash(function))


def test_functions_with_code_for_cuda_of_earlier_globals_are_of_one_process() -> None:
    step = 1

    def inner(x):  # type: ignore[no-untyped-def]
        return x + step

    called: Any = adapter.separate_function(inner)

    def function(out):  # type: ignore[no-untyped-def]
        out[0] = called(out[0])

    assert is_shared(content_hash(function))
    adapter.ptx(function, [("i8", True)], HOPPER)
    assert not is_shared(content_hash(function))


# Other processes


def run(code: str, cwd: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
    """A process that runs the code."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )


def said(done: subprocess.Popen[str]) -> Any:
    """The output of a process, read as JSON."""
    out, errors = done.communicate(timeout=120)
    assert done.returncode == 0, errors
    return json.loads(out)


COMPILE = """
import json, sys
from colkern.cache import compilations
from colkern.cuda.compiler import compile_grid, parameters
from colkern.kernels import offsets
variant = next(offsets.lengths_of.variants())
compile_grid(((offsets.lengths_of, 1),), 256).code(parameters([offsets.lengths_of], [variant]), (9, 0))
print(json.dumps([compilations(), "numba" in sys.modules]))
"""


def test_processes_that_start_at_once_all_have_the_code(cache: Path) -> None:
    at_once = [run(COMPILE) for _ in range(3)]
    for done in at_once:
        counts, _ = said(done)
        assert counts["compiled"] + counts["loaded"] == 1
    assert said(run(COMPILE)) == [LOADED, False]
    # Nothing half written is left.
    assert len([path for path in cache.iterdir() if path.suffix != ".sources"]) == 1


def test_a_changed_source_compiles_anew(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "colkern", tmp_path / "colkern", ignore=shutil.ignore_patterns("*.pyc"))
    assert said(run(COMPILE, tmp_path)) == [COMPILED, True]
    assert said(run(COMPILE, tmp_path)) == [LOADED, False]
    with (tmp_path / "colkern" / "kernels" / "primitives.py").open("a") as file:
        file.write("# a change below the kernel\n")
    assert said(run(COMPILE, tmp_path)) == [COMPILED, True]


@pytest.mark.skipif(not has_compiler(), reason="the driver needs a C compiler")
def test_a_second_process_launches_without_a_compiler(tmp_path: Path) -> None:
    program = Path(__file__).with_name("silent_operations.py")
    first, second = (json.loads(process(tmp_path, program)) for _ in range(2))
    assert first["counts"]["compiled"] == first["counts"]["saved"] >= 2
    assert second["counts"] == {"compiled": 0, "loaded": first["counts"]["saved"], "saved": 0}
    assert second["launches"] == first["launches"] > 0
    # Typing is the compiler's, too.
    assert second["compilers"] == []
    assert "numba.cuda" in first["compilers"]


WARM = """
from colkern.functions.warming import warm
print(warm("sqrt", (9, 0))["saved"])
"""

CALL = """
from cuda.silent_device import install
from cuda.silent_operations import column
import colkern as ck
from colkern.cache import compilations
install()
ck.sqrt(column([1.0, None]))
print(compilations()["compiled"])
"""


@pytest.mark.skipif(not has_compiler(), reason="the driver needs a C compiler")
def test_a_function_that_was_compiled_ahead_launches_without_a_compiler(tmp_path: Path) -> None:
    assert int(process(tmp_path, "-c", WARM)) > 0
    assert int(process(tmp_path, "-c", CALL)) == 0


@pytest.mark.skipif(not has_compiler(), reason="the driver needs a C compiler")
@pytest.mark.parametrize("absent", ["_numba_cuda_redirector", "cuda.core"])
def test_a_device_without_the_compiler_is_none(absent: str, tmp_path: Path) -> None:
    code = f"""
import sys
sys.modules["{absent}"] = None
from colkern.cuda import adapter
from colkern.errors import DeviceUnavailableError
try:
    adapter.require_device()
except DeviceUnavailableError as error:
    print(error)
"""
    assert process(tmp_path, "-c", code).startswith("no CUDA compiler:")


# Functions of users


def greeting(name: str, count: int) -> str:
    return name.upper() * count


@ck.cuda_jit
def filled(out, prices):  # type: ignore[no-untyped-def]
    for i in range(len(prices)):
        x = prices[i]
        out[i] = 0.0 if x is None else x


def user_kernels() -> Iterator[tuple[KernelSource, list[tuple[str, bool]]]]:
    """The kernels of a row function and of `cuda_jit`, made anew, and the types of their arguments."""
    from rows.ptx_rows import ByPtx

    plan = ck.udf(greeting).plan(ck.utf8(), ck.int64())
    by_ptx = ByPtx(plan)  # type: ignore[arg-type]
    given: list[Any] = []

    class Enough(Exception):
        pass

    def made(arguments: Any) -> Any:
        given.extend((v.dtype.str[1:], isinstance(v, np.ndarray)) for v in arguments)
        raise Enough

    by_ptx._made = made  # type: ignore[assignment,method-assign]
    with pytest.raises(Enough):
        by_ptx.run([ck.array(["a"]), ck.array([2])])
    yield by_ptx._on_device.kernel, given
    kernel = ck.cuda_jit(filled.function)
    made_of = kernel._specialised((None, type_of(ck.array([1.0]))), False)
    needs: Any = made_of.needs
    types = [("i8" if need.name in ("length", "null_count") else "u8", False) for need in needs]
    yield made_of.kernel, [("f8", True), *types]


def test_functions_of_users_are_compiled_once() -> None:
    def codes() -> tuple[list[DeviceCode | None], dict[str, int]]:
        kernels = list(user_kernels())
        before = compilations()
        result = [kernel.code(taken, HOPPER) for kernel, taken in kernels]
        return result, {what: count - before[what] for what, count in compilations().items()}

    first, counts = codes()
    assert None not in first
    assert counts == {"compiled": 2, "loaded": 0, "saved": 2}
    assert codes() == (first, {"compiled": 0, "loaded": 2, "saved": 0})


factor = 1.0


@ck.cuda_jit
def scaled(out, prices):  # type: ignore[no-untyped-def]
    out[0] = factor * len(prices)


def test_code_is_that_of_the_globals_at_its_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may change before the first launch with arrays of other items, for which it is compiled."""
    taken, kind = [("f8", True), ("i8", False)], type_of(ck.array([1.0]))
    early = scaled._specialised((None, kind), False).kernel
    monkeypatch.setattr(sys.modules[__name__], "factor", 2.0)
    late = ck.cuda_jit(scaled.function)._specialised((None, kind), False).kernel
    assert code_and_counts_of(early, taken) == COMPILED
    assert code_and_counts_of(late, taken) == COMPILED


def code_and_counts_of(kernel: KernelSource, taken: list[tuple[str, bool]]) -> dict[str, int]:
    before = compilations()
    kernel.code(taken, HOPPER)
    return {what: count - before[what] for what, count in compilations().items()}


def test_each_kernel_of_the_package_has_a_key() -> None:
    assert None not in [compile_grid(((kernel, 1),), 256)._key() for kernel in KERNELS.values()]
