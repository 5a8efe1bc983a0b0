"""Every kind of function that Spark runs in Python, as functions of colkern's columns.

Each kind has a module: a function for the driver, and a class whose instances the workers call. Nothing is
imported here: a worker loads the module of the class that it calls, not those of the other kinds.
"""
