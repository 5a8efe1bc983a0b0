"""Exported structures, the memory that they keep alive, capsules, and release functions as machine code.

Every structure has an *anchor*: a tuple of the objects that must live as long as the structure. Its
`private_data` is a reference to that tuple, which the native release function drops. Children have
their own anchors, so that a consumer may move them out of their parent and keep them longer.

A release function made by ctypes would run Python code, and consumers call release where Python code
must not run: while an exception is on its way up (the exception would be lost, and the process
aborted if Python fails on the way), and after the interpreter's end (a crash). So the release
functions are a page of LLVM, compiled once a process by the compiler that Numba brings along. They
touch Python in one place: the reference that `private_data` holds is dropped, under the GIL.

The code is never freed: a consumer may call it as late as it likes.

C Data interface: "Release callback semantics"; PyCapsule interface: "Lifetime semantics".
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from typing import Any, NamedTuple

from colkern.interchange import abi


class Native(NamedTuple):
    """The addresses of the native functions and names for one of the structures."""

    release: int  #: The release function, of the structure and of its children.
    drop: int  #: The destructor of the capsule around the structure.
    name: int  #: The capsule's name, as a C string.


# `Py_DecRef` under the GIL. It does nothing once the interpreter ends, as its memory goes anyway.
_SHARED = """
declare i32 @Py_IsInitialized()
declare i32 @colkern_is_finalizing()
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare void @Py_DecRef(ptr)
declare ptr @PyCapsule_GetName(ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare ptr @PyCapsule_GetContext(ptr)

define internal void @drop_reference(ptr %object) {
  %initialized = call i32 @Py_IsInitialized()
  %gone = icmp eq i32 %initialized, 0
  br i1 %gone, label %done, label %ask
ask:
  %finalizing = call i32 @colkern_is_finalizing()
  %going = icmp ne i32 %finalizing, 0
  br i1 %going, label %done, label %drop
drop:
  %state = call i32 @PyGILState_Ensure()
  call void @Py_DecRef(ptr %object)
  call void @PyGILState_Release(i32 %state)
  br label %done
done:
  ret void
}

define internal void @release_if_live(ptr %struct, i64 %position) {
  %absent = icmp eq ptr %struct, null
  br i1 %absent, label %done, label %look
look:
  %slot = getelementptr ptr, ptr %struct, i64 %position
  %release = load ptr, ptr %slot
  %released = icmp eq ptr %release, null
  br i1 %released, label %done, label %call
call:
  call void %release(ptr %struct)
  br label %done
done:
  ret void
}
"""

# A child that the consumer has moved out is marked as released in its parent, and lives on.
_RELEASE_PARTS = """
define internal void @{kind}_release_parts(ptr %struct) {{
entry:
  %count_slot = getelementptr i64, ptr %struct, i64 {n_children}
  %count = load i64, ptr %count_slot
  %children_slot = getelementptr ptr, ptr %struct, i64 {children}
  %children = load ptr, ptr %children_slot
  br label %test
test:
  %i = phi i64 [ 0, %entry ], [ %next, %each ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %each, label %done
each:
  %child_slot = getelementptr ptr, ptr %children, i64 %i
  %child = load ptr, ptr %child_slot
  call void @release_if_live(ptr %child, i64 {release})
  %next = add i64 %i, 1
  br label %test
done:
  %dictionary_slot = getelementptr ptr, ptr %struct, i64 {dictionary}
  %dictionary = load ptr, ptr %dictionary_slot
  call void @release_if_live(ptr %dictionary, i64 {release})
  ret void
}}
"""

_NO_PARTS = """
define internal void @{kind}_release_parts(ptr %struct) {{
  ret void
}}
"""

# The name is asked for, since a consumer may have renamed the capsule.
_RELEASE_AND_DROP = """
@{kind}_name = constant [{name_bytes} x i8] c"{kind}\\00"

define void @{kind}_release(ptr %struct) {{
  call void @{kind}_release_parts(ptr %struct)
  %release_slot = getelementptr ptr, ptr %struct, i64 {release}
  store ptr null, ptr %release_slot
  %private_slot = getelementptr ptr, ptr %struct, i64 {private_data}
  %private = load ptr, ptr %private_slot
  call void @drop_reference(ptr %private)
  ret void
}}

define void @{kind}_drop(ptr %capsule) {{
  %name = call ptr @PyCapsule_GetName(ptr %capsule)
  %struct = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr %name)
  call void @release_if_live(ptr %struct, i64 {release})
  %memory = call ptr @PyCapsule_GetContext(ptr %capsule)
  call void @Py_DecRef(ptr %memory)
  ret void
}}
"""

_PYTHON_FUNCTION_NAMES = """
    Py_IsInitialized PyGILState_Ensure PyGILState_Release Py_DecRef PyCapsule_GetName
    PyCapsule_GetPointer PyCapsule_GetContext
"""
_PYTHON_FUNCTIONS = tuple(_PYTHON_FUNCTION_NAMES.split())


def _source(cls: abi.StructClass) -> str:
    kind = abi.CAPSULE_NAMES[cls]
    positions = {name: position for position, name in enumerate(cls._fields)}
    parts = _RELEASE_PARTS if "children" in positions else _NO_PARTS
    return (parts + _RELEASE_AND_DROP).format(kind=kind, name_bytes=len(kind) + 1, **positions)


def _function_address(function: Any) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


@functools.cache
def native() -> dict[abi.StructClass, Native]:
    """The native functions for each structure; compiled at the first call (about 10 ms)."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # LLVM is told the addresses; its own search misses a Python library that was loaded privately.
    for name in _PYTHON_FUNCTIONS:
        llvm.add_symbol(name, _function_address(getattr(ctypes.pythonapi, name)))
    public = hasattr(ctypes.pythonapi, "Py_IsFinalizing")  # from Python 3.13 on
    name = "Py_IsFinalizing" if public else "_Py_IsFinalizing"
    llvm.add_symbol("colkern_is_finalizing", _function_address(getattr(ctypes.pythonapi, name)))
    module = llvm.parse_assembly(_SHARED + "".join(map(_source, abi.CAPSULE_NAMES)))
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    functions = {
        cls: Native(
            engine.get_function_address(f"{kind}_release"),
            engine.get_function_address(f"{kind}_drop"),
            engine.get_global_value_address(f"{kind}_name"),
        )
        for cls, kind in abi.CAPSULE_NAMES.items()
    }
    engine.detach()
    return functions


_take_reference = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_set_context = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(
    ("PyCapsule_SetContext", ctypes.pythonapi)
)


class Export:
    """Structures being built, a root and all below it; ordinary Python objects until handed over."""

    __slots__ = ("_anchors", "_cls", "_private", "release")

    def __init__(self, cls: abi.StructClass) -> None:
        self._cls = cls
        self._private = cls._fields.index("private_data")
        self._anchors: list[tuple[object, ...]] = []
        self.release = native()[cls].release

    def anchor(self, words: array[int], *kept: object) -> None:
        """Let the structure at the start of `words` keep `words` and `kept` alive."""
        anchor = (words, *kept)
        words[self._private] = id(anchor)
        self._anchors.append(anchor)

    # References first: an interrupt in between leaks memory, but leaves no dangling pointer.
    def _hand_over(self) -> None:
        for anchor in self._anchors:
            _take_reference(anchor)
        self._anchors.clear()

    def into_capsule(self, root: array[int]) -> object:
        """A capsule that owns the structure at the start of `root`."""
        functions = native()[self._cls]
        self._hand_over()
        _take_reference(root)
        capsule = _new_capsule(abi.address_of(root), functions.name, functions.drop)
        _set_context(capsule, id(root))
        return capsule

    def move_to(self, root: array[int], address: int) -> None:
        """Write the structure at the start of `root` to `address`; its owner must release the structure."""
        self._hand_over()
        ctypes.memmove(address, abi.address_of(root), len(self._cls._fields) * abi.WORD)
