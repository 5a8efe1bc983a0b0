"""Every kind of function that Spark runs in Python, as functions of colkern columns.

Modules have a function for the driver, and a class whose instances the workers call. This module
imports none of them, so that a worker loads only the module of the class that it calls.
"""
