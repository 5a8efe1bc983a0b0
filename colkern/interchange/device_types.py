"""Kinds of devices, by the numbers that the C Device data interface shares with DLPack.

C Device data interface: "ArrowDeviceType".
"""

from __future__ import annotations

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.memory import HOST, Device

CPU = 1
CUDA = 2
CUDA_HOST = 3
CUDA_MANAGED = 13

NAMES = {
    CPU: "CPU",
    CUDA: "CUDA",
    CUDA_HOST: "CUDA host",
    4: "OpenCL",
    7: "Vulkan",
    8: "Metal",
    9: "VPI",
    10: "ROCm",
    11: "ROCm host",
    12: "extension",
    CUDA_MANAGED: "CUDA managed",
    14: "oneAPI",
    15: "WebGPU",
    16: "Hexagon",
}

_NO_ID = -1
"""The number of the one CPU, as Arrow's own libraries have it."""


def require_known_type(device_type: int) -> None:
    """Raise `UnsupportedError` if colkern does not use memory of that kind."""
    if device_type not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        name = NAMES.get(device_type, "unknown")
        raise UnsupportedError(
            f"memory of device type {device_type} ({name}); colkern takes that of CPU and CUDA devices"
        )


def device_of_type(device_type: int, device_id: int) -> Device:
    """The device that uses memory of that kind. Page-locked memory of CUDA is the host's."""
    require_known_type(device_type)
    if device_type in (CPU, CUDA_HOST):
        return HOST
    if device_id < 0:
        raise InvalidArrowError(f"CUDA device {device_id}")
    return Device("cuda", device_id)


def type_of_device(device: Device) -> tuple[int, int]:
    """The kind of a device, and its number."""
    return (CPU, _NO_ID) if device.kind == "cpu" else (CUDA, device.ordinal)
