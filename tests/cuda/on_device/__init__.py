"""Operations for the simulator and for a GPU, one file a concern; each has `OPERATIONS`.

An entry is the name of a sample and what is done: a function of the array and of some positions in it,
both where it runs.
"""

from __future__ import annotations

from cuda.on_device import (
    aggregates,
    booleans,
    casts,
    columns,
    dictionaries,
    encodings,
    everything,
    lists,
    rearranging,
    strings,
    views,
)
from cuda.on_device.operation import Operation

OPERATIONS: dict[str, tuple[str, Operation]] = {
    what: operation
    for module in (
        everything,
        booleans,
        dictionaries,
        encodings,
        views,
        strings,
        lists,
        rearranging,
        casts,
        columns,
        aggregates,
    )
    for what, operation in module.OPERATIONS.items()
}
