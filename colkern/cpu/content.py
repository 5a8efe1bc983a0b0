"""The content of a compiled function, as one hash.

Numba's own cache uses only the function's file. This hash covers everything that the machine code
depends on: code, constants, and the content of globals and closure cells, down to helpers in other
files. So another process can find a function from a notebook, from `__main__` or from a pickle, and an
edit to any helper changes the hash.
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

# Stands for an object whose content is unknown, so that only its address in this process identifies
# it.
_OF_THIS_PROCESS = b"of this process"


class _Linked(bytes):
    """Stands for a dispatcher whose compiled code becomes part of the hashed function's code."""

    dispatcher: CPUDispatcher

    def __new__(cls, dispatcher: Dispatcher) -> _Linked:
        linked = super().__new__(cls, b"linked")
        linked.dispatcher = dispatcher
        return linked


# Ends the hash of content with such an object; the second part makes it unique to this process.
_SUFFIX, _PROCESS = "-unshared", os.urandom(16)

# Types for a single object of this process: functions as arguments, and instances of jitclasses.
_TYPES_OF_OBJECTS = WeakType | ClassType | ClassInstanceType | DeferredType


def content_hash(function: object, *extra: str) -> str:
    """A hash of everything that determines a function's meaning, and of `extra`."""
    return _hash(extra, parts_of(function))


def text_hash(*parts: str) -> str:
    """A hash of texts that fully determine a function's meaning."""
    return _hash(parts, ())


def is_shared(key: str) -> bool:
    """Whether other processes get the same hash for the same content."""
    # They do not if it covers an object of unknown content, or a text with such a hash.
    return not key.endswith(_SUFFIX)


def is_copied(value: object) -> bool:
    """Whether a user's function that refers to a dispatcher is compiled with a copy of it."""
    # Not if it was declared for argument types: it converts arguments to them, but a copy would
    # not.
    return (
        isinstance(value, CPUDispatcher)
        and _is_users(value)
        and value._can_compile
        and bool(value.targetoptions.get("nopython"))
    )


def note_content(dispatcher: Dispatcher) -> None:
    """Note the present content of a dispatcher's function, since it may be compiled next."""
    content = _plain_hash(dispatcher)
    if dispatcher.overloads and _AS_COMPILED.get(dispatcher) != content:
        # Its code for some types has other content than its code for others.
        content = b""
    _AS_COMPILED[dispatcher] = content


_AS_COMPILED: WeakKeyDictionary[Dispatcher, bytes] = WeakKeyDictionary()


def _is_out_of_date(part: bytes) -> bool:
    """Whether a part is a dispatcher with code that may differ from what its function reads now."""
    # Numba compiles it once for each set of types, even if globals change. Their values at that
    # time are known only if they were noted before.
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
        # The length marks the end of each part.
        digest.update(b"%d " % len(part) + part)
        if part is _OF_THIS_PROCESS or _is_out_of_date(part):
            suffix = _SUFFIX
            digest.update(_PROCESS)
    return digest.hexdigest()[:32] + suffix


def parts_of(value: object) -> Iterator[bytes]:
    """The parts of the content of a function, or of any object that a function may name."""
    return _walk(value, {})


def _walk(value: Any, seen: dict[int, int]) -> Iterator[bytes]:
    """The parts of a value's content; `seen` numbers the functions visited, which breaks cycles."""
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
        # The order of a set differs between processes.
        parts = sorted(value, key=repr) if isinstance(value, frozenset | set) else value
        yield f"{type(value).__name__} {len(parts)}".encode()
        if hasattr(value, "_fields"):
            yield from _walk(type(value), seen)
        for part in parts:
            yield from _walk(part, seen)
    elif isinstance(value, types.CodeType):
        yield from _code(value, seen)
    elif hasattr(value, "__cuda_array_interface__"):
        # Compiled code contains its address.
        yield _OF_THIS_PROCESS
    elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes()
    else:
        yield type(value).__qualname__.encode()
        yield from _text(repr(value))


def _reached(function: types.FunctionType, seen: dict[int, int]) -> Iterator[bytes]:
    """A function: its content at the first visit, later its number among those visited."""
    if _is_known_by_version(function.__module__):
        # Their functions have caches that fill as the process runs; their version determines them.
        compiler = function.__module__.partition(".")[0]
        version = getattr(sys.modules.get(compiler), "__version__", "")
        yield f"{function.__module__}.{function.__qualname__} {version}".encode()
        return
    package = _hashed_as_whole(function)
    if package is not None:
        yield f"{function.__module__}.{function.__qualname__} {source_key(package)}".encode()
    is_new = id(function) not in seen
    # Its number, if it was visited before.
    yield f"function {seen.setdefault(id(function), len(seen))}".encode()
    if is_new and package is not None:
        # Its code is already hashed then, but not the values of its closure cells.
        yield from _walk(tuple(_contents(function)), seen)
    elif is_new:
        yield from _function(function, seen)


def _class(kind: Any, seen: dict[int, int]) -> Iterator[bytes]:
    """A class as compiled functions see it: an enum's members, the fields of a named tuple or jitclass."""
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
    """A text without the addresses that default reprs contain."""
    stable = re.sub(r" at 0x[0-9a-f]+", "", text)
    yield stable.encode()
    if stable != text:
        yield _OF_THIS_PROCESS


def _is_known_by_version(module: str | None) -> bool:
    """Whether a module belongs to a compiler package or to Python itself."""
    package = (module or "").partition(".")[0]
    if package not in sys.stdlib_module_names:
        return package in _COMPILERS
    # Users' files may have the names of Python's modules.
    file = getattr(sys.modules.get(package), "__file__", None)
    return package != "__main__" and (file is None or file.startswith(_PYTHON))


def _type(kind: Type, seen: dict[int, int]) -> Iterator[bytes]:
    """The content of a Numba type, since two types may have the same name."""
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
    """Everything in which a data type or field can differ from others; kept short for wide batches."""
    if isinstance(value, tuple):
        return f"({','.join(map(_described, value))})"
    if not isinstance(value, s.DataType | s.Field):
        return repr(value)
    kind: Any = type(value)
    parts = [_described(getattr(value, name)) for name in _compared(kind)]
    return f"{kind.__qualname__}({','.join(parts)})"


@cache
def _compared(kind: type[s.DataType | s.Field]) -> tuple[str, ...]:
    """The names of the attributes that `==` compares for a class of data types or fields."""
    return tuple(part.name for part in dataclasses.fields(kind) if part.compare)


def _stencil(value: StencilFunc, seen: dict[int, int]) -> Iterator[bytes]:
    """A stencil: its function, with the globals from when it was defined."""
    yield from _walk((value.mode, tuple(sorted(value.options.items()))), seen)
    yield from _code(value.kernel_ir.func_id.func.__code__, seen)
    for block in value.kernel_ir.blocks.values():
        for statement in block.body:
            read = getattr(statement, "value", None)
            if isinstance(read, ir.Global | ir.FreeVar):
                yield read.name.encode()
                yield from _walk(read.value, seen)


def _hashed_as_whole(function: types.FunctionType) -> str | None:
    """The package whose files are hashed for the function; None for a user's with such a module name."""
    # Code executed in a namespace without `__name__` makes functions without a module.
    name = function.__module__ or ""
    package = package_of(name)
    is_own = function.__globals__ is getattr(sys.modules.get(name), "__dict__", None)
    return package if is_own else None


def _contents(function: types.FunctionType) -> Iterator[object]:
    """The values in a function's closure cells."""
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
    """The dispatcher of a universal function; other objects unchanged."""
    return getattr(value, "_dispatcher", None) or value


def _linked(value: object) -> Iterator[bytes]:
    """A dispatcher of another library, which may have been compiled at any time."""
    dispatcher = _dispatcher(value)
    if _is_users(dispatcher):
        yield _Linked(dispatcher)
    elif not isinstance(dispatcher, Dispatcher) and getattr(dispatcher, "overloads", None):
        # A CUDA dispatcher has code for the globals of an earlier time.
        yield _OF_THIS_PROCESS


def _is_users(dispatcher: object) -> TypeGuard[CPUDispatcher]:
    """Whether an object is a user's dispatcher: globals of colkern's and Numba's own stay the same."""
    return (
        isinstance(dispatcher, Dispatcher)
        and type(dispatcher) not in (CachedDispatcher, HelperDispatcher)
        and not _is_known_by_version(dispatcher.py_func.__module__)
    )


def _options(value: object, seen: dict[int, int]) -> Iterator[bytes]:
    """The options of a dispatcher: other options change the meaning of the same code."""
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
    # Only this table has the lines that a `try` covers.
    yield getattr(code, "co_exceptiontable", b"")
    variables = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield repr((variables, counts)).encode()
    yield from _walk(code.co_consts, seen)


def _function(function: types.FunctionType, seen: dict[int, int]) -> Iterator[bytes]:
    for template in _TEMPLATES.of(function):
        # Registered with Numba by `overload`: another function runs instead.
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
        """The templates that are registered for a function so far."""
        with self._reading:
            known = list(builtin_registry.globals)
            for value, kind in known[self._read :]:
                if isinstance(value, types.FunctionType):
                    self._templates[id(value)] += kind.templates
            self._read = len(known)
        return self._templates.get(id(function), [])


_TEMPLATES = _Templates()


def _named(value: Any, names: list[str], seen: dict[int, int]) -> Iterator[bytes]:
    """A value that is a global, or in a closure cell, of a function that uses those names."""
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
    """The values that a function may reach as `module.name` through `modules`, perhaps more."""
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
