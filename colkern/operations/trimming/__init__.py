"""`trim`: what an array shows, and nothing else: how it leaves the process.

Columnar format 1.5: "Physical Memory Layout"; "Security Considerations" on what must not be sent.
"""

from colkern.operations.trimming.recursion import trim

__all__ = ["trim"]
