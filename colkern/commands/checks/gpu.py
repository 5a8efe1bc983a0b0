"""The GPU: its driver, its devices and the packages for it."""

from __future__ import annotations

import resource
from collections.abc import Iterator

from colkern.commands.checks.children import NoAnswerError, ask
from colkern.commands.checks.cuda_compiler import Answer, compiler, dotted, libraries, to_install
from colkern.commands.checks.cuda_packages import CUPY, cupy, options, storage
from colkern.commands.checks.finding import Finding, checked, missing, ok, problem
from colkern.commands.output import size_text
from colkern.cuda.adapter import chosen_compiler
from colkern.cuda.driver import PINNED
from colkern.machine import release

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
    """The driver's answer; None, and a finding that says why, if there is none."""
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
    # The driver pins memory by itself: the limit of `mlock` does not bound it.
    bound = f"`ulimit -l`, which does not bound it, is {text}"
    if driver is None or not driver["devices"]:
        return missing("pinned memory", f"no device to pin it for; {bound}", _PINNED)
    if all(device["pinned"] for device in driver["devices"]):
        return ok("pinned memory", f"{size_text(PINNED)} pinned as a trial; {bound}", _PINNED)
    state = f"{size_text(PINNED)} cannot be pinned; {bound}"
    return problem("pinned memory", state, _PINNED, "free memory of the host")
