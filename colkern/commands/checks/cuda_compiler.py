"""The compiler for CUDA, and the libraries of CUDA that it loads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from colkern.commands.checks.children import NoAnswerError, ask
from colkern.commands.checks.finding import Finding, missing, ok, problem
from colkern.commands.checks.requirements import meets, unmet
from colkern.cuda.adapter import MODULES, NUMBA_CUDA, chosen_compiler, is_simulated
from colkern.machine import release
from colkern.names import install_command

MAJORS = (13, 12)
"""The CUDA releases that packages are made for."""


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
    """The chosen compiler, and whether it suits the installed packages and the devices."""
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
    """The devices that the compiler has no code for."""
    for device in () if driver is None else driver["devices"]:
        if device["capability"] < oldest:
            state = f"{device['name']} has compute capability {dotted(device['capability'])}"
            yield f"{state}, less than the {dotted(oldest)} that it compiles for"


def libraries(major: int | None) -> Iterator[Finding]:
    """The libraries of CUDA, where they are, and whether the driver serves their release."""
    if release("cuda-pathfinder") is None:
        state = "not looked for: cuda-pathfinder, which comes with the compiler, is not installed"
        yield missing("CUDA libraries", state, _ENABLES, to_install(major))
        return
    for library in ask("colkern.cuda.libraries:find_libraries"):
        name, enables = _LIBRARIES[library["name"]]
        if library["error"]:
            yield missing(name, library["error"], enables, to_install(major))
            continue
        version = dotted(library["version"])
        # NVVM has the version of its language, which no driver checks.
        is_release = library["name"] != "nvvm"
        state = f"{version if is_release else f'IR {version}'}, {library['path']}, by {library['source']}"
        if is_release and major is not None and library["version"][0] > major:
            state = f"{state}, is newer than the driver, which serves CUDA up to {major}"
            yield problem(name, state, enables, to_install(major))
        else:
            yield ok(name, state, enables)
