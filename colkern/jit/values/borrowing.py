"""Values that point into the memory of an argument: they end with the call from Python.

Numba keeps arrays and strings alive that a generator or a typed container holds. A view is not counted,
so what holds one is not handed to Python, nor taken from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from numba import types
from numba.core.pythonapi import _boxers, _unboxers
from numba.extending import NativeValue

_CONTAINERS = (types.ListType, types.DictType, types.ClassInstanceType)
"""Types that Python and compiled code share."""

_COPIED = (types.Tuple, types.UniTuple, types.NamedTuple, types.NamedUniTuple, types.List)
"""Types that Python gets item by item; Numba does not ask whether that failed."""


class Borrowed:
    """A Numba type whose values belong to an argument of the call from Python.

    Attributes:
        may_be_returned: Whether Python can be given such a value, as a copy or as what it belongs to.
    """

    may_be_returned = False


def borrows(kind: Any) -> bool:
    """Whether values of a Numba type hold borrowed ones."""
    seen, waiting = {kind}, [kind]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, Borrowed):
            return True
        parts = set(_parts(kind)) - seen
        seen |= parts
        waiting += parts
    return False


def _refused(kind: Any) -> Any:
    """The type inside a type whose values cannot be returned to Python; None if there is none."""
    if isinstance(kind, Borrowed):
        return None if kind.may_be_returned else kind
    if isinstance(kind, (types.Generator, *_CONTAINERS)):
        return kind if borrows(kind) else None
    return next(filter(None, map(_refused, _parts(kind))), None)


def _parts(kind: Any) -> Iterator[Any]:
    """The types of the values inside a value."""
    if isinstance(kind, types.Optional):
        yield kind.type
    elif isinstance(kind, types.BaseTuple):
        yield from kind.types
    elif isinstance(kind, types.List | types.Set):
        yield kind.dtype
    elif isinstance(kind, types.ListType):
        yield kind.item_type
    elif isinstance(kind, types.DictType):
        yield from (kind.key_type, kind.value_type)
    elif isinstance(kind, types.Generator):
        yield from kind.arg_types
    elif isinstance(kind, types.ClassInstanceType):
        yield from kind.struct.values()
    elif isinstance(kind, types.DeferredType):
        yield kind.get()


@cache
def keep_within_calls() -> None:
    """Have Numba refuse generators, typed containers and instances of jitclasses that hold borrowed
    values when they would go to Python, or come from there.

    Called by what hands borrowed values to compiled code. Numba has one function for each class of
    types to box its values; those that it has are called for everything else.
    """
    # They register theirs when they are imported.
    import numba.experimental.jitclass.boxing
    import numba.typed.typeddict
    import numba.typed.typedlist  # noqa: F401

    for kind in (types.Generator, *_CONTAINERS, *_COPIED):
        _boxers.functions[kind] = _refusing_to_box(_boxers.functions[kind])
    for kind in _CONTAINERS:
        _unboxers.functions[kind] = _refusing_to_unbox(_unboxers.functions[kind])


def _refusing_to_box(box: Callable[..., Any]) -> Callable[..., Any]:
    def boxed(typ: Any, value: Any, c: Any) -> Any:
        refused = _refused(typ)
        if refused is None:
            return box(typ, value, c)
        if not isinstance(typ, types.Generator):
            c.context.nrt.decref(c.builder, typ, value)
        _raise(c, "returned to Python", refused)
        return c.pyapi.get_null_object()

    return boxed


def _refusing_to_unbox(unbox: Callable[..., Any]) -> Callable[..., Any]:
    def unboxed(typ: Any, obj: Any, c: Any) -> Any:
        if not borrows(typ):
            return unbox(typ, obj, c)
        _raise(c, "passed to a compiled function", typ)
        nothing = c.context.get_constant_null(typ)
        return NativeValue(nothing, is_error=c.context.get_constant(types.boolean, True))

    return unboxed


def _raise(c: Any, verb: str, typ: Any) -> None:
    # At the call, not before it: compiled functions may hand them to each other.
    c.pyapi.err_set_string(
        "PyExc_TypeError",
        f"{_word(typ)} cannot be {verb}: it holds views of the memory of an argument, which may be gone "
        f"when they are read. Keep it within compiled code, return values, or append to a builder",
    )


def _word(typ: Any) -> str:
    if isinstance(typ, types.Generator):
        return f"the generator {typ.gen_func.__name__}"
    return str(typ)
