"""Arrow columns in code that Numba compiles: `udf`, `reducer`, `generator`, `njit`, and what they work
with.

Importing this package does not import Numba, nor what is not named.
"""

from colkern.cpu.sources import hash_as_whole
from colkern.names import late_names

hash_as_whole(__name__)

__getattr__, __dir__, __all__ = late_names(__name__)
