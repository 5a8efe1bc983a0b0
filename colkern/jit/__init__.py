"""Arrow columns in code that Numba compiles: `udf`, `reducer`, `generator`, `njit` and their objects.

Importing this package does not import Numba; a name's module is imported when the name is first used.
"""

from colkern.cpu.sources import hash_as_whole
from colkern.names import late_names

hash_as_whole(__name__)

__getattr__, __dir__, __all__ = late_names(__name__)
