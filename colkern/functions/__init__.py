"""Functions of columns that are row functions: numbers, text, dates, nested values.

Each is one line or a few lines of Python, compiled for the types of its columns, on the host or a
device. Names are imported when they are first used.
"""

from colkern.names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
