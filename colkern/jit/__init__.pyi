# The public names, for type checkers and for `late_names`, which imports each when it is first used.

from colkern.jit.building.builder import (
    Builder as Builder,
)
from colkern.jit.building.rows import (
    build_rows as build_rows,
)
from colkern.jit.decorator import (
    njit as njit,
)
from colkern.jit.device.kernels import (
    CudaKernel as CudaKernel,
    cuda_jit as cuda_jit,
)
from colkern.jit.generators import (
    Generator as Generator,
    generator as generator,
)
from colkern.jit.reducers import (
    Reducer as Reducer,
    reducer as reducer,
)
from colkern.jit.scalar import (
    Udf as Udf,
    udf as udf,
)
