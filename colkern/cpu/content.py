"""The content of a compiled function, as one hash.

Numba's own cache looks at the function alone; here everything that its machine code depends on is
looked at: code, constants, and the content of whatever globals and closure cells it names, down to
helpers in other files. So a function from a notebook, from `__main__` or out of a pickle is found
again by another process, and an edit anywhere below it is noticed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import os
import re
import sys
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum, EnumType
from functools import cache
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

from numba.core import ir
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.types import Literal, Type
from numba.core.types.functions import WeakType
from numba.core.types.misc import ClassInstanceType, ClassType, DeferredType, Omitted
from numba.core.typing.templates import FunctionTemplate, builtin_registry
from numba.stencils.stencil import StencilFunc

from colkern import schema as s
from colkern.cpu.dispatcher import CachedDispatcher, HelperDispatcher
from colkern.cpu.sources import package_of, source_key
from colkern.forks import Lock

_COMPILERS = ("numba", "llvmlite", "numpy")

_PYTHON = os.path.dirname(os.__file__)

# Stands for what only this process can tell apart: an object that is known by its address alone.
_OF_THIS_PROCESS = b"of this process"


class _Linked(bytes):
    """Stands for a dispatcher whose compiled code becomes part of the code that is hashed."""

    dispatcher: CPUDispatcher

    def __new__(cls, dispatcher: Dispatcher) -> _Linked:
        linked = super().__new__(cls, b"linked")
        linked.dispatcher = dispatcher
        return linked


# At the end of the hash of what such an object is part of, and what sets it apart from others'.
_SUFFIX, _PROCESS = "-unshared", os.urandom(16)

# Types that stand for one object of this process: functions as arguments, and instances of jitclasses.
_TYPES_OF_OBJECTS = WeakType | ClassType | ClassInstanceType | DeferredType


def content_hash(function: object, *extra: str) -> str:
    """A hash of all that the function's meaning follows from, and of `extra`."""
    return _hash(extra, parts_of(function))


def text_hash(*parts: str) -> str:
    """A hash of texts that say all of a function's meaning."""
    return _hash(parts, ())


def is_shared(key: str) -> bool:
    """Whether other processes have the same hash for the same content."""
    # They have not where it is that of an object of no known content, or of texts with such a hash.
    return not key.endswith(_SUFFIX)


def is_copied(value: object) -> bool:
    """Whether a user's function that names a dispatcher is compiled with a copy of it."""
    # Not if it was declared for argument types: it converts its arguments to them, and a copy does not.
    return (
        isinstance(value, CPUDispatcher)
        and _is_users(value)
        and value._can_compile
        and bool(value.targetoptions.get("nopython"))
    )


def note_content(dispatcher: Dispatcher) -> None:
    """Note the content of a dispatcher's function now, as it may be compiled next."""
    content = _plain_hash(dispatcher)
    if dispatcher.overloads and _AS_COMPILED.get(dispatcher) != content:
        # Its code for some types is of one content, and for others of another.
        content = b""
    _AS_COMPILED[dispatcher] = content


_AS_COMPILED: WeakKeyDictionary[Dispatcher, bytes] = WeakKeyDictionary()


def _is_out_of_date(part: bytes) -> bool:
    """Whether a part is a dispatcher with code that may not be of what its function reads now."""
    # Numba compiles it once for the same types, whatever becomes of the globals. What they were then is
    # known if it was looked at before.
    if not isinstance(part, _Linked):
        return False
    if not part.dispatcher.overloads:
        note_content(part.dispatcher)
    return _AS_COMPILED.get(part.dispatcher) != _plain_hash(part.dispatcher)


def _plain_hash(value: object) -> bytes:
    digest = hashlib.sha256()
    for part in parts_of(value):
        digest.update(part)
    return digest.digest()


def _hash(texts: tuple[str, ...], parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256(repr((sys.version_info[:2], texts)).encode())
    suffix = "" if all(map(is_shared, texts)) else _SUFFIX
    for part in parts:
        # Where a part ends is not to be mistaken.
        digest.update(b"%d " % len(part) + part)
        if part is _OF_THIS_PROCESS or _is_out_of_date(part):
            suffix = _SUFFIX
            digest.update(_PROCESS)
    return digest.hexdigest()[:32] + suffix


def parts_of(value: object) -> Iterator[bytes]:
    """The parts of the content of a function, or of whatever a function may name."""
    return _walk(value, {})


def _walk(value: Any, seen: dict[int, int]) -> Iterator[bytes]:
    """The parts of a value's content; `seen` numbers the functions on the way, and breaks cycles."""
    yield from _options(value, seen)
    yield from _linked(value)
    value = _unwrapped(value)
    if isinstance(value, types.FunctionType):
        yield from _reached(value, seen)
    elif isinstance(value, types.BuiltinFunctionType):
        yield f"{value.__module__}.{value.__qualname__}".encode()
    elif isinstance(value, types.MethodType):
        yield from _walk(value.__func__, seen)
        if not _is_known_by_version(value.__func__.__module__):
            yield from _walk(value.__self__, seen)
    elif isinstance(value, Type):
        yield from _type(value, seen)
    elif isinstance(value, s.DataType | s.Field):
        yield from _text(_described(value))
    elif isinstance(value, StencilFunc):
        yield from _stencil(value, seen)
    elif isinstance(value, Enum):
        yield value.name.encode()
        yield from _walk(type(value), seen)
    elif isinstance(value, type):
        yield from _class(value, seen)
    elif isinstance(value, types.ModuleType):
        yield f"module {value.__name__} {getattr(value, '__version__', '')}".encode()
    elif isinstance(value, tuple | list | frozenset | set):
        # The order of a set differs from process to process.
        parts = sorted(value, key=repr) if isinstance(value, frozenset | set) else value
        yield f"{type(value).__name__} {len(parts)}".encode()
        if hasattr(value, "_fields"):
            yield from _walk(type(value), seen)
        for part in parts:
            yield from _walk(part, seen)
    elif isinstance(value, types.CodeType):
        yield from _code(value, seen)
    elif hasattr(value, "__cuda_array_interface__"):
        # Compiled code has its address.
        yield _OF_THIS_PROCESS
    elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes()
    else:
        yield type(value).__qualname__.encode()
        yield from _text(repr(value))


def _reached(function: types.FunctionType, seen: dict[int, int]) -> Iterator[bytes]:
    """A function: its content the first time, and after that which of those met before it is."""
    if _is_known_by_version(function.__module__):
        # Their functions hold caches that fill up as the process runs; their version says all.
        compiler = function.__module__.partition(".")[0]
        version = getattr(sys.modules.get(compiler), "__version__", "")
        yield f"{function.__module__}.{function.__qualname__} {version}".encode()
        return
    package = _hashed_as_whole(function)
    if package is not None:
        yield f"{function.__module__}.{function.__qualname__} {source_key(package)}".encode()
    is_new = id(function) not in seen
    # Which of those that were met it is, if it was.
    yield f"function {seen.setdefault(id(function), len(seen))}".encode()
    if is_new and package is not None:
        # Its code is known by then, but not the values of its cells.
        yield from _walk(tuple(_contents(function)), seen)
    elif is_new:
        yield from _function(function, seen)


def _class(kind: Any, seen: dict[int, int]) -> Iterator[bytes]:
    """A class as compiled functions see it: an enum's members, a named tuple's or a jitclass's fields."""
    yield f"{kind.__module__}.{kind.__qualname__}".encode()
    if isinstance(kind, EnumType):
        members: dict[str, Any] = dict(kind.__members__)
        yield from _walk(tuple((name, m.value) for name, m in members.items()), seen)
    elif issubclass(kind, tuple):
        yield from _walk(getattr(kind, "_fields", ()), seen)
        yield from _walk(tuple(getattr(kind, "_field_defaults", {}).items()), seen)
    elif hasattr(kind, "class_type"):
        yield from _jitclass(kind.class_type, seen)


def _text(text: str) -> Iterator[bytes]:
    """A text without the addresses that the default repr contains."""
    stable = re.sub(r" at 0x[0-9a-f]+", "", text)
    yield stable.encode()
    if stable != text:
        yield _OF_THIS_PROCESS


def _is_known_by_version(module: str | None) -> bool:
    """Whether a module is of a compiler package or of Python itself."""
    package = (module or "").partition(".")[0]
    if package not in sys.stdlib_module_names:
        return package in _COMPILERS
    # Users' own files may have names of modules of Python.
    file = getattr(sys.modules.get(package), "__file__", None)
    return package != "__main__" and (file is None or file.startswith(_PYTHON))


def _type(kind: Type, seen: dict[int, int]) -> Iterator[bytes]:
    """The content of a Numba type: two types may have one name."""
    yield f"{type(kind).__module__}.{type(kind).__qualname__}".encode()
    if isinstance(kind, _TYPES_OF_OBJECTS):
        yield _OF_THIS_PROCESS
    elif isinstance(kind, Literal):
        yield from _walk(kind.literal_value, seen)
    elif isinstance(kind, Omitted):
        yield from _walk(kind.value, seen)
    else:
        yield from _text(kind.name)
        if kind.key != kind.name:
            yield from _walk(kind.key, seen)


def _described(value: object) -> str:
    """All that a data type or a field differs from others in; a batch may have thousands of columns."""
    if isinstance(value, tuple):
        return f"({','.join(map(_described, value))})"
    if not isinstance(value, s.DataType | s.Field):
        return repr(value)
    kind: Any = type(value)
    parts = [_described(getattr(value, name)) for name in _compared(kind)]
    return f"{kind.__qualname__}({','.join(parts)})"


@cache
def _compared(kind: type[s.DataType | s.Field]) -> tuple[str, ...]:
    """The names of the attributes that two data types of a class, or two fields, are compared by."""
    return tuple(part.name for part in dataclasses.fields(kind) if part.compare)


def _stencil(value: StencilFunc, seen: dict[int, int]) -> Iterator[bytes]:
    """A stencil: its function, with globals as they were when it was defined."""
    yield from _walk((value.mode, tuple(sorted(value.options.items()))), seen)
    yield from _code(value.kernel_ir.func_id.func.__code__, seen)
    for block in value.kernel_ir.blocks.values():
        for statement in block.body:
            read = getattr(statement, "value", None)
            if isinstance(read, ir.Global | ir.FreeVar):
                yield read.name.encode()
                yield from _walk(read.value, seen)


def _hashed_as_whole(function: types.FunctionType) -> str | None:
    """The package by whose files the function is hashed; None for a user's that says it is from there."""
    # Code that is run in a namespace without a name makes functions without a module.
    name = function.__module__ or ""
    package = package_of(name)
    is_own = function.__globals__ is getattr(sys.modules.get(name), "__dict__", None)
    return package if is_own else None


def _contents(function: types.FunctionType) -> Iterator[object]:
    """The values of a function's own variables of outer functions."""
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # a cell that nothing has been put into
            yield cell.cell_contents


def _unwrapped(value: object) -> object:
    """The plain function behind a dispatcher, universal function, intrinsic, row function or cache."""
    value = _dispatcher(value)
    if isinstance(value, functools._lru_cache_wrapper):
        return value.__wrapped__
    for attribute in ("py_func", "_defn", "row_function"):
        inner = getattr(value, attribute, None)
        if isinstance(inner, types.FunctionType):
            return inner
    return value


def _dispatcher(value: object) -> object:
    """The dispatcher of a universal function; anything else as it is."""
    return getattr(value, "_dispatcher", None) or value


def _linked(value: object) -> Iterator[bytes]:
    """A dispatcher of somebody else's, which may have been compiled at any time."""
    dispatcher = _dispatcher(value)
    if _is_users(dispatcher):
        yield _Linked(dispatcher)
    elif not isinstance(dispatcher, Dispatcher) and getattr(dispatcher, "overloads", None):
        # One for CUDA, with code of what its globals were once.
        yield _OF_THIS_PROCESS


def _is_users(dispatcher: object) -> TypeGuard[CPUDispatcher]:
    """Whether it is a dispatcher, and none of colkern's or Numba's own, whose globals stay as they are."""
    return (
        isinstance(dispatcher, Dispatcher)
        and type(dispatcher) not in (CachedDispatcher, HelperDispatcher)
        and not _is_known_by_version(dispatcher.py_func.__module__)
    )


def _options(value: object, seen: dict[int, int]) -> Iterator[bytes]:
    """The options of a dispatcher: with others, the same code means something else."""
    dispatcher = _dispatcher(value)
    options = getattr(dispatcher, "targetoptions", None)
    if isinstance(options, dict):
        local_types = getattr(dispatcher, "locals", {})
        pipeline = getattr(getattr(dispatcher, "_compiler", None), "pipeline_class", None)
        for part in (*sorted(options.items()), *sorted(local_types.items()), pipeline):
            yield from _walk(part, seen)


def _jitclass(kind: ClassType, seen: dict[int, int]) -> Iterator[bytes]:
    yield from _walk(tuple(kind.struct.items()), seen)
    for name, method in (*kind.jit_methods.items(), *kind.jit_static_methods.items()):
        yield name.encode()
        yield from _walk(method, seen)
    for name, accessors in kind.jit_props.items():
        yield name.encode()
        yield from _walk(tuple(accessors.items()), seen)


def _code(code: types.CodeType, seen: dict[int, int]) -> Iterator[bytes]:
    yield code.co_code
    # Nothing else has the lines that a `try` covers.
    yield getattr(code, "co_exceptiontable", b"")
    variables = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield repr((variables, counts)).encode()
    yield from _walk(code.co_consts, seen)


def _function(function: types.FunctionType, seen: dict[int, int]) -> Iterator[bytes]:
    for template in _TEMPLATES.of(function):
        # Taught to Numba by `overload`: what runs is another function.
        yield from _walk(getattr(template, "_overload_func", None), seen)
    yield from _code(function.__code__, seen)
    yield from _walk(function.__defaults__ or (), seen)
    yield from _walk(tuple(sorted((function.__kwdefaults__ or {}).items())), seen)
    names = list(_names(function.__code__))
    for value in _contents(function):
        yield from _named(value, names, seen)
    for name in names:
        if name in function.__globals__:
            yield name.encode()
            yield from _named(function.__globals__[name], names, seen)


class _Templates:
    """The templates that Numba compiles in place of functions."""

    def __init__(self) -> None:
        self._read = 0
        self._templates: dict[int, list[type[FunctionTemplate]]] = defaultdict(list)
        self._reading = Lock()

    def of(self, function: types.FunctionType) -> list[type[FunctionTemplate]]:
        """The templates registered for a function up to now."""
        with self._reading:
            known = list(builtin_registry.globals)
            for value, kind in known[self._read :]:
                if isinstance(value, types.FunctionType):
                    self._templates[id(value)] += kind.templates
            self._read = len(known)
        return self._templates.get(id(function), [])


_TEMPLATES = _Templates()


def _named(value: Any, names: list[str], seen: dict[int, int]) -> Iterator[bytes]:
    """A value that a function with those names has as a global or in a cell."""
    if is_copied(value):
        yield from _options(value, seen)
        value = value.py_func
    yield from _walk(value, seen)
    if isinstance(value, types.ModuleType):
        yield from _module_parts(value, names, seen, set())


def _names(code: types.CodeType) -> Iterator[str]:
    """The names that a code object and those nested in it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _module_parts(
    module: types.ModuleType, names: list[str], seen: dict[int, int], modules: set[int]
) -> Iterator[bytes]:
    """The values a function may reach as `module.name` through `modules`, perhaps more than it does."""
    if _is_known_by_version(module.__name__) or id(module) in modules:
        return
    modules.add(id(module))
    for name in names:
        part = getattr(module, name, None)
        if part is not None:
            yield name.encode()
            yield from _walk(part, seen)
        if isinstance(part, types.ModuleType):
            yield from _module_parts(part, names, seen, modules)
