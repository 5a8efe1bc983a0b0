"""The CUDA target: the same kernels on a GPU. Importing this package needs no GPU and no CUDA.

`adapter` and the primitives of each compiler are the only modules that meet a CUDA compiler, `cupy_library`
is the only one that imports CuPy. COLKERN_CUDA_COMPILER chooses the compiler; see `adapter`. What device
memory is asked for stands in `device_library`; CuPy gives it, and where there is no GPU a `stand_in`.
"""

from typing import TYPE_CHECKING

from colkern.cuda.counting import Transfers, count_transfers
from colkern.cuda.memory import is_available
from colkern.names import late_names

if TYPE_CHECKING:
    from colkern.operations.moving import to_device, to_host

__all__ = ["Transfers", "count_transfers", "is_available", "to_device", "to_host"]

__getattr__, __dir__ = late_names(
    __name__, dict.fromkeys(("to_device", "to_host"), "colkern.operations.moving")
)
