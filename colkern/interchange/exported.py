"""Exported structures, the memory that they keep alive, and capsules around them.

Every structure has an *anchor*: a tuple of the objects that must live as long as the structure. Its
`private_data` is a reference to that tuple, which the native release function drops. Children have
anchors of their own, so that a consumer may move them out of their parent and keep them longer.

C Data interface: "Release callback semantics"; PyCapsule interface: "Lifetime semantics".
"""

from __future__ import annotations

import ctypes
from array import array

from colkern.interchange.abi import WORD, StructClass, address_of
from colkern.interchange.native import native

_take_reference = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_set_context = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(
    ("PyCapsule_SetContext", ctypes.pythonapi)
)


class Export:
    """Structures in the making, a root and all below: plain garbage until they are handed over."""

    __slots__ = ("_anchors", "_cls", "_private", "release")

    def __init__(self, cls: StructClass) -> None:
        self._cls = cls
        self._private = cls._fields.index("private_data")
        self._anchors: list[tuple[object, ...]] = []
        self.release = native()[cls].release

    def anchor(self, words: array[int], *kept: object) -> None:
        """Let the structure at the start of `words` keep `words` and `kept` alive."""
        anchor = (words, *kept)
        words[self._private] = id(anchor)
        self._anchors.append(anchor)

    # References first: an interrupt in between then leaves memory behind, and no dangling pointer.
    def _hand_over(self) -> None:
        for anchor in self._anchors:
            _take_reference(anchor)
        self._anchors.clear()

    def into_capsule(self, root: array[int]) -> object:
        """A capsule that owns the structure at the start of `root`."""
        functions = native()[self._cls]
        self._hand_over()
        _take_reference(root)
        capsule = _new_capsule(address_of(root), functions.name, functions.drop)
        _set_context(capsule, id(root))
        return capsule

    def move_to(self, root: array[int], address: int) -> None:
        """Write the structure at the start of `root` to `address`, whose owner must release it."""
        self._hand_over()
        ctypes.memmove(address, address_of(root), len(self._cls._fields) * WORD)
