"""colkern: Arrow columns through Numba kernels, on the CPU and on the GPU.

A few lines of it::

    import colkern as ck

    prices = ck.array([9.5, None, 3.0])
    batch = ck.ipc.open("lineitem.arrow").get_batch(0)

    @ck.udf
    def discounted(price: float, discount: float) -> float:
        return price * (1 - discount)

    discounted(batch["l_extendedprice"], batch["l_discount"])

Names are imported when they are first used. Numba is imported when the first kernel runs.
"""

from colkern.habits import OF_PACKAGE
from colkern.methods import bind_methods
from colkern.names import late_names

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = late_names(__name__, OF_PACKAGE)
__all__ += ["__version__"]

bind_methods()
