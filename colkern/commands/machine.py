"""`colkern info` without a file: versions, the machine, the cache, devices."""

from __future__ import annotations

from colkern.commands.output import print_json, printable, size_text


def print_machine(*, as_json: bool) -> None:
    """Print the versions, the machine, the devices and the cache.

    Args:
        as_json: Whether to print one object: `versions` (name → release), `processor`, `cores`,
            `memory_bytes`, `system`, `cuda` (why it is unavailable, or null), `cache` (a path).
    """
    from colkern.cache import cache_dir
    from colkern.machine import machine, versions

    here, releases, without_cuda = machine(), versions(), _why_no_cuda()
    if as_json:
        print_json({"versions": releases, **here, "cuda": without_cuda, "cache": str(cache_dir())})
        return
    facts = {
        **releases,
        "processor": f"{here['processor']}, {here['cores']} cores",
        "memory": size_text(here["memory_bytes"]),
        "system": here["system"],
        "cuda": "available" if without_cuda is None else f"unavailable: {without_cuda}",
        "cache": str(cache_dir()),
    }
    # Not a table: paths must not be cut, so that they can be copied.
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}} {printable(value)}")


def _why_no_cuda() -> str | None:
    from colkern.cuda.memory import require_device
    from colkern.errors import DeviceUnavailableError

    try:
        require_device()
    except DeviceUnavailableError as error:
        return " ".join(str(error).split())
    return None
