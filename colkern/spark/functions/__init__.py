"""Every kind of function that Spark runs in Python, as functions of colkern's columns.

Each kind has a module: a function for the driver, and a class whose instances the workers call. Names are
imported when they are first used: a worker loads the module of the class that it calls, not those of the
other kinds, nor native plans, which only the driver makes.
"""

from colkern.names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
