"""The GPU: its driver and its devices, the compiler for CUDA and its libraries, other packages for CUDA."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from colkern.commands.checks.children import NoAnswerError, ask
from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.commands.checks.packages import installed, meets, unmet
from colkern.commands.output import size_text
from colkern.cuda.adapter import MODULES, NUMBA_CUDA, chosen_compiler, is_simulated
from colkern.cuda.direct_storage import is_available
from colkern.cuda.driver import PINNED
from colkern.machine import release
from colkern.names import install_command

MAJORS = (13, 12)
"""The CUDA releases for which there are packages."""


def to_install(major: int | None) -> str:
    """The command that installs compiler, libraries and CuPy."""
    chosen = os.environ.get("COLKERN_CUDA_COMPILER") or NUMBA_CUDA
    if major in MAJORS and chosen == NUMBA_CUDA:
        return f'pip install "colkern[cuda{major}]"'
    return install_command(MODULES.get(chosen, MODULES[NUMBA_CUDA]))


def dotted(version: Sequence[int]) -> str:
    """A release as text, such as 13.2."""
    return ".".join(map(str, version))


_ENABLES = "kernels and users' functions on the GPU"

_LIBRARIES = {
    "cudart": ("CUDA runtime", "headers and calls that CuPy and the compiler share"),
    "nvJitLink": ("nvJitLink", "machine code that is kept, which the driver need not assemble"),
    "nvrtc": ("NVRTC", "CUDA C++ that is compiled when it is needed, CuPy's scans and sorts"),
    "nvvm": ("NVVM", _ENABLES),
}

Answer = Mapping[str, Any]
"""The driver's answer: the fields of `colkern.cuda.driver.Driver`, from JSON."""


def compiler(driver: Answer | None) -> Finding:
    """Returns the chosen compiler, and whether it suits the installed packages and the devices."""
    if is_simulated():
        state = "Numba's simulator, by NUMBA_ENABLE_CUDASIM: plain Python over host memory"
        return ok("compiler", state, "tests without a GPU")
    try:
        name = chosen_compiler()
    except ValueError as error:
        return problem("compiler", str(error), _ENABLES, "set it to one of them, or not at all")
    there, major = release(name), None if driver is None else driver["cuda"][0]
    if there is None:
        return missing(name, "not installed", _ENABLES, to_install(major))
    try:
        capabilities = ask("colkern.cuda.adapter:capabilities")
    except NoAnswerError as error:
        return problem(name, f"{there} does not work: {error}", _ENABLES, to_install(major))
    conflicts = [*_conflicts(name), *unmet(name), *_too_old(driver, capabilities[0])]
    if conflicts:
        return problem(name, f"{there}, but {'; '.join(conflicts)}", _ENABLES, to_install(major))
    range_text = f"{dotted(capabilities[0])} to {dotted(capabilities[-1])}"
    by = "COLKERN_CUDA_COMPILER" if "COLKERN_CUDA_COMPILER" in os.environ else "default"
    return ok(name, f"{there}, by {by}, for compute capabilities {range_text}", _ENABLES)


def _conflicts(compiler: str) -> Iterator[str]:
    """Known conflicts that no package's metadata states."""
    there, numpy = release(compiler), release("numpy")
    if compiler != NUMBA_CUDA or there is None or numpy is None:
        return
    if meets(there, "<0.31") and meets(numpy, ">=2.5"):
        yield (
            f"it looks for np.row_stack, which NumPy {numpy} has not: colkern puts it there, "
            "`from numba import cuda` before that fails; numpy<2.5 has it"
        )


def _too_old(driver: Answer | None, oldest: list[int]) -> Iterator[str]:
    """Yields the devices for which the compiler has no code."""
    for device in () if driver is None else driver["devices"]:
        if device["capability"] < oldest:
            state = f"{device['name']} has compute capability {dotted(device['capability'])}"
            yield f"{state}, less than the {dotted(oldest)} that it compiles for"


def libraries(major: int | None) -> Iterator[Finding]:
    """Yields the CUDA libraries, their locations, and whether the driver supports their release."""
    if release("cuda-pathfinder") is None:
        state = "not looked for: cuda-pathfinder, which comes with the compiler, is not installed"
        yield missing("CUDA libraries", state, _ENABLES, to_install(major))
        return
    for library in ask("colkern.cuda.toolkit:find_libraries"):
        name, enables = _LIBRARIES[library["name"]]
        if library["error"]:
            yield missing(name, library["error"], enables, to_install(major))
            continue
        version = dotted(library["version"])
        # The version of NVVM is that of its language, which the driver does not limit.
        is_release = library["name"] != "nvvm"
        state = f"{version if is_release else f'IR {version}'}, {library['path']}, by {library['source']}"
        if is_release and major is not None and library["version"][0] > major:
            state = f"{state}, is newer than the driver, which serves CUDA up to {major}"
            yield problem(name, state, enables, to_install(major))
        else:
            yield ok(name, state, enables)


CUPY = [*(f"cupy-cuda{number}x" for number in MAJORS), "cupy"]
"""The names of CuPy's packages."""

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
"""Package → module to import, package to install for a CUDA release, and its use."""

_STORAGE = "files straight into device memory, past that of the host"


def cupy(major: int | None) -> Finding:
    """Returns a finding about CuPy, which manages the device's memory."""
    enables = "device memory, and scans and sorts in it"
    trial = "import cupy" if major is None else "import cupy; cupy.empty(1)"
    return _variant("CuPy", CUPY, trial, enables, to_install(major), major)


def options(major: int | None) -> Iterator[Finding]:
    """Yields findings about packages that colkern can do without, also on a GPU."""
    for name, (module, package, enables) in _OPTIONS.items():
        yield from checked(name, _option, name, module, package, enables, major)


def _option(name: str, module: str, package: str, enables: str, major: int | None) -> Finding:
    names = [*(f"{name}-cu{number}" for number in MAJORS), name]
    wanted = [package.format(number) for number in MAJORS if major in (None, number)]
    remedy = f"pip install {' or '.join(wanted) or names[0]}"
    # RAPIDS needs a device when it is imported.
    trial = "" if major is None else f"import {module}"
    return _variant(name, names, trial, enables, remedy, major)


def _variant(
    title: str, names: list[str], trial: str, enables: str, remedy: str, major: int | None
) -> Finding:
    """A package of which exactly one variant must be installed; `trial`, if any, is the test of it."""
    there = [name for name in names if release(name) is not None]
    if not there:
        return missing(title, "not installed", enables, remedy)
    if len(there) > 1:
        return problem(
            title,
            f"{' and '.join(there)} are in each other's place",
            enables,
            f"pip uninstall {' '.join(there)}, then {remedy}",
        )
    (name,) = there
    made_for = dict(zip(names, MAJORS, strict=False)).get(name)
    if major is not None and made_for is not None and made_for > major:
        state = f"{name} is for CUDA {made_for}, the driver serves CUDA up to {major}"
        return problem(title, state, enables, f"pip uninstall {name}, then {remedy}")
    if trial:
        return installed(name, trial, enables)
    return ok(name, f"{release(name)}, not tried without a driver", enables)


def storage(has_driver: bool) -> Finding:
    """Whether files can be read into device memory without passing through host memory."""
    name = "GPUDirect Storage"
    if not has_driver or not any(release(f"kvikio{suffix}") for suffix in ("-cu13", "-cu12", "")):
        return missing(name, "not looked for without a driver and kvikio", _STORAGE)
    if os.environ.get("COLKERN_DIRECT_STORAGE") == "0":
        state = "turned off by COLKERN_DIRECT_STORAGE=0"
        return missing(name, state, _STORAGE, "unset it")
    is_used, has_module = ask("colkern.commands.checks.gpu:direct_storage")
    if is_used and has_module:
        return ok(name, "available", _STORAGE)
    state = "kvikio is in its compatibility mode" if not is_used else "nvidia-fs is not loaded"
    remedy = (
        "load the kernel module nvidia-fs; in a container, run it with "
        "`--volume /run/udev:/run/udev:ro`; KVIKIO_COMPAT_MODE must not be ON"
    )
    return missing(name, f"{state}: reads go through the host's memory", _STORAGE, remedy)


def direct_storage() -> tuple[bool, bool]:
    """Whether colkern uses kvikio, and whether the driver for GPUDirect Storage is there."""
    from kvikio import cufile_driver

    return is_available(), bool(cufile_driver.get("is_gds_available"))


_PINNED = "copies to the device that overlap with reading and decompression"


def findings() -> Iterator[Finding]:
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
    yield from checked("compiler", compiler, driver)
    yield from checked("CUDA libraries", libraries, major)
    yield from checked("CuPy", cupy, major)
    yield from options(major)
    yield from checked("GPUDirect Storage", storage, driver is not None)


def _asked_driver() -> tuple[Answer | None, list[Finding]]:
    """Returns the driver's answer; None, and a finding with the reason, if there is none."""
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
    yield ok("driver", f"{release_text}, CUDA up to {dotted(driver['cuda'])}")
    for device in driver["devices"]:
        name = f"device {device['ordinal']}"
        capability = dotted(device["capability"])
        state = f"{device['name']}, compute capability {capability}, {_memory_of(device)}"
        if device["error"]:
            remedy = "see what `nvidia-smi` says, and which processes use it"
            yield problem(
                name, f"{state}; {device['error']}", f'device="cuda:{device["ordinal"]}"', remedy
            )
        else:
            yield ok(name, state, f'device="cuda:{device["ordinal"]}"')


def _device(major: int) -> Finding:
    """Whether driver, compiler and CuPy work together."""
    name, enables = 'device="cuda"', "columns, operations and users' functions on the GPU"
    if release(chosen_compiler()) is None or not any(map(release, CUPY)):
        state = "without the compiler and CuPy there is only the CPU"
        return missing(name, state, enables, to_install(major))
    try:
        ask("colkern.cuda.memory:require_device")
    except NoAnswerError as error:
        return problem(name, str(error), enables, "see what is missing in the lines below")
    return ok(name, "works", enables)


def _memory_of(device: Answer) -> str:
    if device["free"] is None:
        return size_text(device["total"])
    return f"{size_text(device['free'])} of {size_text(device['total'])} free"


def _pinned_memory(driver: Answer | None) -> Finding:
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    text = "unlimited" if limit == resource.RLIM_INFINITY else size_text(limit)
    # The driver pins memory itself, so the limit of `mlock` does not apply.
    bound = f"`ulimit -l`, which does not bound it, is {text}"
    if driver is None or not driver["devices"]:
        return missing("pinned memory", f"no device to pin it for; {bound}", _PINNED)
    if all(device["pinned"] for device in driver["devices"]):
        return ok("pinned memory", f"{size_text(PINNED)} pinned as a trial; {bound}", _PINNED)
    state = f"{size_text(PINNED)} cannot be pinned; {bound}"
    return problem("pinned memory", state, _PINNED, "free memory of the host")
