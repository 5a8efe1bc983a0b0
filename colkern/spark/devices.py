"""The device of a Spark task: the GPU that Spark has given it, or the CPU."""

from __future__ import annotations

import os

from pyspark import TaskContext

from colkern.errors import DeviceUnavailableError
from colkern.memory import HOST, Device


def task_device() -> Device:
    """Returns the device on which the functions of this task run.

    That is the first GPU that Spark's scheduler has given to the task (`spark.task.resource.gpu.amount`),
    by its address; the CPU if the task has no GPU, and outside of tasks. The GPU itself is not accessed.

    An address is a GPU's number as `nvidia-smi` counts, or its UUID. Where `CUDA_VISIBLE_DEVICES` names
    GPUs, CUDA counts only those, so the device number is the place of the address among them.

    Raises:
        DeviceUnavailableError: If the process cannot see the GPU of the task.
    """
    context = TaskContext.get()
    gpus = context.resources().get("gpu") if context is not None else None
    if gpus is None or not gpus.addresses:
        return HOST
    return Device("cuda", _ordinal(gpus.addresses[0]))


def _ordinal(address: str) -> int:
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    if address in visible:
        return visible.index(address)
    if "CUDA_VISIBLE_DEVICES" in os.environ or not address.isdecimal():
        raise DeviceUnavailableError(
            f"the task's GPU has the address {address}, which CUDA_VISIBLE_DEVICES does not name; "
            f"set spark.executorEnv.CUDA_VISIBLE_DEVICES to the addresses of the executor's GPUs"
        )
    return int(address)
