"""Without a GPU or CUDA packages: imports work, and asking for a device says what is missing."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import colkern
import colkern.ipc
from colkern.errors import DeviceUnavailableError

FOLDER = Path(colkern.__file__).parent / "cuda"

MODULES = (
    "adapter",
    "compiler",
    "loops",
    "memory",
    "primitives",
    "simulated_primitives",
    "target",
)


def run(code: str, *missing: str, **environment: str) -> str:
    """The output of the code in a process where those modules cannot be imported."""
    hidden = "import sys\n" + "".join(f"sys.modules[{name!r}] = None\n" for name in missing)
    done = subprocess.run(
        [sys.executable, "-c", hidden + code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


ASK = """
from colkern.errors import DeviceUnavailableError
from colkern.memory import Device
from colkern.targets import target_of
try:
    target_of(Device("cuda"))
except DeviceUnavailableError as error:
    print(error)
"""

NO_DEVICE = {"CUDA_VISIBLE_DEVICES": "-1"}


def test_imports_need_no_cuda_package() -> None:
    code = "".join(f"import colkern.cuda.{module}\n" for module in MODULES) + "print('imported')"
    missing = ("cupy", "numba.cuda", "numba_cuda", "_numba_cuda_redirector")
    assert run(code, *missing) == "imported"


def test_no_device() -> None:
    message = run(ASK, **NO_DEVICE)
    assert message.startswith("no CUDA device:")
    assert "nvidia-smi" in message


def test_no_device_is_available_where_there_is_none() -> None:
    assert run("import colkern as ck; print(ck.cuda.is_available())", **NO_DEVICE) == "False"


@pytest.mark.parametrize("missing", ["_numba_cuda_redirector", "numba.cuda"])
def test_no_compiler(missing: str) -> None:
    message = run(ASK, missing, **NO_DEVICE)
    assert message.startswith("no CUDA compiler:")
    assert "pip install 'colkern[cuda13]' (or 'colkern[cuda12]'" in message


def test_no_successor_of_the_compiler() -> None:
    chosen = {"COLKERN_CUDA_COMPILER": "numba-cuda-mlir"}
    message = run(ASK, "numba_cuda_mlir", **NO_DEVICE, **chosen)
    assert message.startswith("no CUDA compiler:")
    assert "pip install 'colkern[mlir13]' (or 'colkern[mlir12]'" in message


def test_unknown_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    from colkern.cuda.adapter import chosen_compiler

    monkeypatch.delenv("COLKERN_CUDA_COMPILER", raising=False)
    assert chosen_compiler() == "numba-cuda"
    monkeypatch.setenv("COLKERN_CUDA_COMPILER", "nvcc")
    with pytest.raises(ValueError, match="expected 'numba-cuda' or 'numba-cuda-mlir', got 'nvcc'"):
        chosen_compiler()


def test_no_device_memory() -> None:
    code = """
from colkern.cuda.memory import array_library
from colkern.errors import DeviceUnavailableError
try:
    array_library()
except DeviceUnavailableError as error:
    print(error)
"""
    message = run(code, "cupy")
    assert message.startswith("no device memory:")
    assert "CuPy is not installed: pip install 'colkern[cuda13]'" in message


def test_to_device_without_a_device() -> None:
    code = """
from colkern.arrays import Array
from colkern.operations.moving import to_device
from colkern.errors import DeviceUnavailableError
from colkern.schema import null
try:
    to_device(Array(null(), 3, []))
except DeviceUnavailableError as error:
    print(type(error).__mro__[2].__name__, error)
"""
    assert run(code, **NO_DEVICE).startswith("RuntimeError no CUDA device:")


OPEN = """
import io, sys
import colkern as ck
sink = io.BytesIO()
ck.ipc.write_file(sink, ck.record_batch({"n": ck.array([1, 2])}))
for opened in (ck.ipc.open, ck.ipc.open_file):
    try:
        opened(sink.getvalue(), device="cuda")
    except ck.DeviceUnavailableError as error:
        print(error)
(batch,) = ck.ipc.open(sink.getvalue(), device="cpu", columns=["n"])
print(batch.to_pylist(), bool(sys.modules.get("cupy")))
"""


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ((), "no CUDA device: the driver does not load or finds none; see `nvidia-smi`"),
        (("cupy", "numba.cuda", "_numba_cuda_redirector"), "no CUDA compiler: "),
    ],
    ids=["no device", "no packages"],
)
def test_reading_to_a_device_without_one(missing: tuple[str, ...], message: str) -> None:
    *errors, read = run(OPEN, *missing, **NO_DEVICE).splitlines()
    assert len(errors) == 2
    assert all(error.startswith(message) for error in errors)
    assert read == "[{'n': 1}, {'n': 2}] False"


@pytest.mark.parametrize(
    "device", ["gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:\u0661", "CUDA", "", "cpu:0"]
)
def test_names_of_no_device(device: str) -> None:
    source = io.BytesIO(b"not looked at")
    with pytest.raises(ValueError, match="device: expected 'cpu', 'cuda' or 'cuda:N', got"):
        colkern.ipc.open(source, device=device)
    assert source.tell() == 0


def test_a_device_too_many() -> None:
    from colkern.cuda import stand_in

    with stand_in.installed():
        for device in ("cuda:1", colkern.Device("cuda", 7)):
            with pytest.raises(DeviceUnavailableError, match=r"no device cuda:[17]: there are 1"):
                colkern.ipc.open(b"", device=device)
            with pytest.raises(DeviceUnavailableError, match=r"no device cuda:[17]: there are 1"):
                colkern.to_device(colkern.array([1]), device)
        with pytest.raises(ValueError, match="device: expected a CUDA device, got rocm:0"):
            colkern.ipc.open(b"", device=colkern.Device("rocm"))


def test_other_devices_have_no_kernels() -> None:
    from colkern.errors import UnsupportedError
    from colkern.memory import Device
    from colkern.targets import target_of

    with pytest.raises(UnsupportedError, match="no kernels for memory on rocm:1"):
        target_of(Device("rocm", 1))


def test_compiling_needs_no_device() -> None:
    code = """
from colkern.cuda.compiler import ptx
from colkern.kernels import KERNELS
kernel = KERNELS["copy_bits"]
print(".target sm_90" in ptx(kernel, next(kernel.variants()), (9, 0)))
"""
    assert run(code, **NO_DEVICE) == "True"


def intrinsics(module: str) -> set[str]:
    """The functions that a module gives a compiler as its own."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    made = [node for node in tree.body if isinstance(node, ast.Assign)]
    makers = ("intrinsic", "instructions", "_of_one", "_of_two")
    return {
        f.name
        for f in functions
        if any(ast.unparse(d).partition("(")[0] in makers for d in f.decorator_list)
    } | {
        ast.unparse(m.targets[0]) for m in made if ast.unparse(m.value).partition("(")[0] in makers
    }


def imported(module: str) -> set[str]:
    """The names of a module for objects of others."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname for node in imports for alias in node.names if alias.asname}


def test_each_compiler_has_the_same_primitives() -> None:
    from colkern.cuda import simulated_primitives

    names = intrinsics("primitives")
    assert "load_word" in names
    # Plain functions serve a compiler where it has no instruction of its own.
    assert intrinsics("mlir_primitives") | imported("mlir_primitives") >= names
    for name in names:
        assert callable(getattr(simulated_primitives, name))
