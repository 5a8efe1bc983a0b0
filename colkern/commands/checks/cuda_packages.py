"""Packages for CUDA beside the compiler: device memory, reading, decompression, other libraries."""

from __future__ import annotations

import os
from collections.abc import Iterator

from colkern.commands.checks.children import ask
from colkern.commands.checks.cuda_compiler import MAJORS, to_install
from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.commands.checks.packages import installed
from colkern.cuda.direct_storage import is_available
from colkern.machine import release

CUPY = [*(f"cupy-cuda{number}x" for number in MAJORS), "cupy"]
"""The packages that CuPy comes in."""

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
    """CuPy, which has the device's memory."""
    enables = "device memory, and scans and sorts in it"
    trial = "import cupy" if major is None else "import cupy; cupy.empty(1)"
    return _variant("CuPy", CUPY, trial, enables, to_install(major), major)


def options(major: int | None) -> Iterator[Finding]:
    """Packages that colkern can do without, on a GPU too."""
    for name, (module, package, enables) in _OPTIONS.items():
        yield from checked(name, _option, name, module, package, enables, major)


def _option(name: str, module: str, package: str, enables: str, major: int | None) -> Finding:
    names = [*(f"{name}-cu{number}" for number in MAJORS), name]
    wanted = [package.format(number) for number in MAJORS if major in (None, number)]
    remedy = f"pip install {' or '.join(wanted) or names[0]}"
    # RAPIDS asks for a device as soon as it is imported.
    trial = "" if major is None else f"import {module}"
    return _variant(name, names, trial, enables, remedy, major)


def _variant(
    title: str, names: list[str], trial: str, enables: str, remedy: str, major: int | None
) -> Finding:
    """A package of which exactly one variant must be installed; `trial` tries it, if it is not empty."""
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
    """Whether files can be read into device memory without host memory."""
    name = "GPUDirect Storage"
    if not has_driver or not any(release(f"kvikio{suffix}") for suffix in ("-cu13", "-cu12", "")):
        return missing(name, "not looked for without a driver and kvikio", _STORAGE)
    if os.environ.get("COLKERN_DIRECT_STORAGE") == "0":
        state = "turned off by COLKERN_DIRECT_STORAGE=0"
        return missing(name, state, _STORAGE, "unset it")
    is_used, has_module = ask("colkern.commands.checks.cuda_packages:direct_storage")
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
