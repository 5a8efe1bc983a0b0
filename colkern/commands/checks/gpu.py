"""The GPU: its driver and devices, what compiles for it, and whose memory colkern uses on it."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from colkern.commands.checks.children import NoAnswerError, ask
from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.commands.checks.packages import installed
from colkern.commands.checks.requirements import meets, unmet
from colkern.commands.output import size_text
from colkern.cuda.adapter import HINTS, NUMBA_CUDA, chosen_compiler, is_simulated
from colkern.cuda.direct_storage import is_available
from colkern.cuda.driver import PINNED
from colkern.machine import release

_MAJORS = (13, 12)
"""The CUDA releases that packages are made for."""

_CUPY = [*(f"cupy-cuda{number}x" for number in _MAJORS), "cupy"]

_COMPILER = "kernels and users' functions on the GPU"
_PINNED = "copies to the device that overlap with reading and decompression"
_STORAGE = "files straight into device memory, past that of the host"

_LIBRARIES = {
    "cudart": ("CUDA runtime", "headers and calls that CuPy and the compiler share"),
    "nvrtc": ("NVRTC", "CUDA C++ that is compiled when it is needed, CuPy's scans and sorts"),
    "nvvm": ("NVVM", _COMPILER),
}

_OPTIONS = {
    "kvikio": ("kvikio", "kvikio-cu{}", "GPUDirect Storage"),
    "nvidia-nvcomp": (
        "nvidia.nvcomp",
        "'colkern[nvcomp{}]'",
        "Zstandard bodies of writers that are trusted, decompressed on the device",
    ),
    "rmm": ("rmm", "rmm-cu{}", "device memory out of RMM's pools, beside cuDF's"),
    "cudf": ("cudf", "cudf-cu{}", "columns to and from cuDF, without a copy"),
    "pylibcudf": ("pylibcudf", "pylibcudf-cu{}", "columns to and from libcudf, without a copy"),
}
"""What is imported of each, what to install for a CUDA release, and what it is good for."""

Answer = Mapping[str, Any]
"""What the driver says, as JSON has it: the fields of `colkern.cuda.driver.Driver`."""


def gpu() -> Iterator[Finding]:
    """The section about the GPU."""
    driver, trouble = _asked_driver()
    major = None
    if driver is None:
        yield from trouble
    else:
        yield from checked("driver", _driver, driver)
        major = driver["cuda"][0]
        yield from checked('device="cuda"', _device, major)
    yield from checked("pinned memory", _pinned_memory, driver)
    yield from checked("compiler", _compiler, driver)
    yield from checked("CUDA libraries", _libraries, major)
    yield from checked("CuPy", _cupy, major)
    for name, (module, package, enables) in _OPTIONS.items():
        yield from checked(name, _option, name, module, package, enables, major)
    yield from checked("GPUDirect Storage", _direct_storage, driver)


def _asked_driver() -> tuple[Answer | None, list[Finding]]:
    """The driver's answer; None, and what to say instead, if there is none."""
    enables = "columns in device memory"
    try:
        answer = ask("colkern.cuda.driver:find_driver")
    except NoAnswerError as error:
        return None, [problem("driver", str(error), enables, "see what `nvidia-smi` says")]
    if isinstance(answer, str):
        remedy = "with a GPU, install NVIDIA's driver, or run the container with `--gpus all`"
        return None, [missing("driver", answer, enables, remedy)]
    return answer, []


def _driver(driver: Answer) -> Iterator[Finding]:
    release_text = driver["release"] or "of an unknown release"
    yield ok("driver", f"{release_text}, CUDA up to {_dotted(driver['cuda'])}")
    for device in driver["devices"]:
        name = f"device {device['ordinal']}"
        capability = _dotted(device["capability"])
        found = f"{device['name']}, compute capability {capability}, {_memory_of(device)}"
        if device["error"]:
            remedy = "see what `nvidia-smi` says, and which processes use it"
            yield problem(
                name, f"{found}; {device['error']}", f'device="cuda:{device["ordinal"]}"', remedy
            )
        else:
            yield ok(name, found, f'device="cuda:{device["ordinal"]}"')


def _device(major: int) -> Iterator[Finding]:
    """Whether all that colkern needs of a device goes together."""
    name, enables = 'device="cuda"', "columns, operations and users' functions on the GPU"
    if release(chosen_compiler()) is None or not any(map(release, _CUPY)):
        found = "without the compiler and CuPy there is only the CPU"
        yield missing(name, found, enables, _to_install(major))
        return
    try:
        ask("colkern.cuda.memory:require_device")
    except NoAnswerError as error:
        yield problem(name, str(error), enables, "see what is missing in the lines below")
    else:
        yield ok(name, "works", enables)


def _memory_of(device: Answer) -> str:
    if device["free"] is None:
        return size_text(device["total"])
    return f"{size_text(device['free'])} of {size_text(device['total'])} free"


def _pinned_memory(driver: Answer | None) -> Iterator[Finding]:
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    text = "unlimited" if limit == resource.RLIM_INFINITY else size_text(limit)
    # The driver pins by itself: what `mlock` may lock does not bound it.
    bound = f"`ulimit -l`, which does not bound it, is {text}"
    if driver is None or not driver["devices"]:
        yield missing("pinned memory", f"no device to pin it for; {bound}", _PINNED)
    elif all(device["pinned"] for device in driver["devices"]):
        yield ok("pinned memory", f"{size_text(PINNED)} pinned as a trial; {bound}", _PINNED)
    else:
        found = f"{size_text(PINNED)} cannot be pinned; {bound}"
        yield problem("pinned memory", found, _PINNED, "free memory of the host")


def _compiler(driver: Answer | None) -> Iterator[Finding]:
    if is_simulated():
        found = "Numba's simulator, by NUMBA_ENABLE_CUDASIM: plain Python over host memory"
        yield ok("compiler", found, "tests without a GPU")
        return
    try:
        name = chosen_compiler()
    except ValueError as error:
        yield problem("compiler", str(error), _COMPILER, "set it to one of them, or not at all")
        return
    there, major = release(name), None if driver is None else driver["cuda"][0]
    if there is None:
        yield missing(name, "not installed", _COMPILER, _to_install(major))
        return
    try:
        capabilities = ask("colkern.cuda.adapter:capabilities")
    except NoAnswerError as error:
        yield problem(name, f"{there} does not work: {error}", _COMPILER, _to_install(major))
        return
    conflicts = [*_conflicts(name), *unmet(name), *_too_old(driver, capabilities[0])]
    if conflicts:
        yield problem(name, f"{there}, but {'; '.join(conflicts)}", _COMPILER, _to_install(major))
        return
    range_text = f"{_dotted(capabilities[0])} to {_dotted(capabilities[-1])}"
    by = "COLKERN_CUDA_COMPILER" if "COLKERN_CUDA_COMPILER" in os.environ else "default"
    yield ok(name, f"{there}, by {by}, for compute capabilities {range_text}", _COMPILER)


def _conflicts(compiler: str) -> Iterator[str]:
    """What is known to clash, though no package's metadata says so."""
    there, numpy = release(compiler), release("numpy")
    if compiler != NUMBA_CUDA or there is None or numpy is None:
        return
    if meets(there, "<0.31") and meets(numpy, ">=2.5"):
        yield (
            f"it looks for np.row_stack, which NumPy {numpy} has not: colkern puts it there, "
            "`from numba import cuda` before that fails; numpy<2.5 has it"
        )


def _too_old(driver: Answer | None, oldest: list[int]) -> Iterator[str]:
    """The devices that the compiler has no code for."""
    for device in () if driver is None else driver["devices"]:
        if device["capability"] < oldest:
            found = f"{device['name']} has compute capability {_dotted(device['capability'])}"
            yield f"{found}, less than the {_dotted(oldest)} that it compiles for"


def _libraries(major: int | None) -> Iterator[Finding]:
    if release("cuda-pathfinder") is None:
        found = "not looked for: cuda-pathfinder, which comes with the compiler, is not installed"
        yield missing("CUDA libraries", found, _COMPILER, _to_install(major))
        return
    for library in ask("colkern.cuda.libraries:find_libraries"):
        name, enables = _LIBRARIES[library["name"]]
        if library["error"]:
            yield missing(name, library["error"], enables, _to_install(major))
            continue
        version = _dotted(library["version"])
        # NVVM tells the version of its language, which no driver looks at.
        is_release = library["name"] != "nvvm"
        found = f"{version if is_release else f'IR {version}'}, {library['path']}, by {library['source']}"
        if is_release and major is not None and library["version"][0] > major:
            found = f"{found}, is newer than the driver, which serves CUDA up to {major}"
            yield problem(name, found, enables, _to_install(major))
        else:
            yield ok(name, found, enables)


def _cupy(major: int | None) -> Iterator[Finding]:
    enables = "device memory, and scans and sorts in it"
    trial = "import cupy" if major is None else "import cupy; cupy.empty(1)"
    yield from _variant("CuPy", _CUPY, trial, enables, _to_install(major), major)


def _option(
    name: str, module: str, package: str, enables: str, major: int | None
) -> Iterator[Finding]:
    names = [*(f"{name}-cu{number}" for number in _MAJORS), name]
    wanted = [package.format(number) for number in _MAJORS if major in (None, number)]
    remedy = f"pip install {' or '.join(wanted) or names[0]}"
    # RAPIDS asks for a device as soon as it is imported.
    trial = "" if major is None else f"import {module}"
    yield from _variant(name, names, trial, enables, remedy, major)


def _variant(
    title: str, names: list[str], trial: str, enables: str, remedy: str, major: int | None
) -> Iterator[Finding]:
    """A package that there is for each CUDA release, of which one must be installed.

    Args:
        title: What to call it if it is not installed.
        names: The packages; those for a CUDA release in the order of `_MAJORS`.
        trial: What to run; empty if that takes a device that is not there.
        enables: What it is good for.
        remedy: How to get it.
        major: The CUDA release that the driver serves; None without a driver.
    """
    there = [name for name in names if release(name) is not None]
    if not there:
        yield missing(title, "not installed", enables, remedy)
        return
    if len(there) > 1:
        yield problem(
            title,
            f"{' and '.join(there)} are in each other's place",
            enables,
            f"pip uninstall {' '.join(there)}, then {remedy}",
        )
        return
    (name,) = there
    made_for = dict(zip(names, _MAJORS, strict=False)).get(name)
    if major is not None and made_for is not None and made_for > major:
        found = f"{name} is for CUDA {made_for}, the driver serves CUDA up to {major}"
        yield problem(title, found, enables, f"pip uninstall {name}, then {remedy}")
    elif trial:
        yield from installed(name, trial, enables)
    else:
        yield ok(name, f"{release(name)}, not tried without a driver", enables)


def _direct_storage(driver: Answer | None) -> Iterator[Finding]:
    name = "GPUDirect Storage"
    if driver is None or not any(release(f"kvikio{suffix}") for suffix in ("-cu13", "-cu12", "")):
        yield missing(name, "not looked for without a driver and kvikio", _STORAGE)
        return
    if os.environ.get("COLKERN_DIRECT_STORAGE") == "0":
        found = "turned off by COLKERN_DIRECT_STORAGE=0"
        yield missing(name, found, _STORAGE, "unset it")
        return
    is_used, has_module = ask("colkern.commands.checks.gpu:direct_storage")
    if is_used and has_module:
        yield ok(name, "available", _STORAGE)
        return
    found = "kvikio is in its compatibility mode" if not is_used else "nvidia-fs is not loaded"
    remedy = (
        "load the kernel module nvidia-fs; in a container, run it with "
        "`--volume /run/udev:/run/udev:ro`; KVIKIO_COMPAT_MODE must not be ON"
    )
    yield missing(name, f"{found}: reads go through the host's memory", _STORAGE, remedy)


def direct_storage() -> tuple[bool, bool]:
    """Whether colkern uses kvikio, and whether the driver for GPUDirect Storage is there."""
    from kvikio import cufile_driver

    return is_available(), bool(cufile_driver.get("is_gds_available"))


def _to_install(major: int | None) -> str:
    """What brings compiler, libraries and CuPy."""
    chosen = os.environ.get("COLKERN_CUDA_COMPILER") or NUMBA_CUDA
    if major in _MAJORS and chosen == NUMBA_CUDA:
        return f'pip install "colkern[cuda{major}]"'
    return HINTS.get(chosen, HINTS[NUMBA_CUDA])


def _dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))
