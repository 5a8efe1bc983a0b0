"""Elements in Numba: each name of the table of methods, and the adapter it stands for.

An adapter is made, and its body compiled, once a function that uses it is compiled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, impl_ret_borrowed, iternext_impl
from numba.extending import (
    lower_builtin,
    overload,
    overload_attribute,
    overload_method,
    register_jitable,
)

from colkern.cpu.compiler import compiled
from colkern.cpu.primitives import get_byte
from colkern.generated import function_of_text
from colkern.jit.elements import conversions  # noqa: F401  # teaches Numba the conversions
from colkern.jit.elements.adapters import Operand, adapter
from colkern.jit.elements.memory import element, is_element, keep, raw
from colkern.jit.elements.types import (
    ELEMENT_OF,
    MomentType,
    SequenceIteratorType,
    SequenceType,
    TextType,
)
from colkern.jit.lowering import unwrapped, without_none
from colkern.jit.table_calls import FUNCTIONS, MODULES, is_attribute, names_of
from colkern.kernels import text_characters
from colkern.rows.methods import COMPARISONS
from colkern.rows.table import NO_DEFAULT, table

# Names of the table


def _parameters(name: str) -> list[str]:
    """The names of a method's parameters: of each place, that of the first row that gives it one."""
    names: list[str] = []
    for row in table()[name]:
        for place, parameter in enumerate(row.parameters):
            if place == len(names):
                names.append("")
            names[place] = names[place] or parameter.name
    return [name or f"_{place}" for place, name in enumerate(names)]


def overload_of(name: str) -> Callable[..., Any]:
    """The overload of a method of the table: it finds the function for operands of some types."""
    names = _parameters(name)
    least = min(sum(one.default is NO_DEFAULT for one in row.parameters) for row in table()[name])
    shown = [word if place < least else f"{word}=None" for place, word in enumerate(names)]
    parameters = ", ".join(shown)
    source = f"def typed({parameters}):\n    return overload_for(({', '.join(names)},))\n"

    def overload_for(operands: tuple[Any, ...]) -> Callable[..., Any] | None:
        return _implementation(name, names, parameters, operands)

    namespace = {"__name__": __name__, "overload_for": overload_for}
    return function_of_text("typed", source, namespace, f"overload of {name}")


def _implementation(
    name: str, names: list[str], parameters: str, operands: tuple[Any, ...]
) -> Callable[..., Any] | None:
    if not name.startswith(MODULES) and not any(map(is_element, operands)):
        return None
    arguments = [
        Operand(word, kind)
        for word, kind in zip(names, operands, strict=True)
        if not (kind is None or isinstance(kind, types.Omitted))
    ]
    positional = []
    for word, one in zip(names, arguments, strict=False):
        if one.code != word:
            break
        positional.append(one)
    by_name = {one.code: one for one in arguments[len(positional) :]}
    return adapter(name, parameters, positional, by_name)


_OWNERS = {kind.name: type(element_type) for kind, element_type in ELEMENT_OF.items()}


def _options(name: str) -> dict[str, Any]:
    """The options of an overload. A function that gives a number is inlined; LLVM may then split the loop.

    So `len(text)` is decided once for a column of ASCII.
    """
    is_number = all(row.method.signature.endswith(("-> int", "-> bool")) for row in table()[name])
    options = {"prefer_literal": True, "strict": False}
    return options | {"jit_options": {"forceinline": True}} if is_number else options


def _define() -> None:
    for name, function in FUNCTIONS.items():
        if name not in COMPARISONS:
            in_place = getattr(operator, f"i{function.__name__}", function)
            for each in {function, in_place}:
                overload(each, **_options(name))(overload_of(name))
    for owner, kind in _OWNERS.items():
        for method in names_of(owner):
            name = f"{owner}.{method}"
            define = overload_attribute if is_attribute(owner, method) else overload_method
            options = {} if define is overload_attribute else _options(name)
            define(kind, method, **options)(overload_of(name))

        for method in ("str", "repr"):
            # Numba's own `str` asks for it.
            define_it = overload_method(kind, f"__{method}__", strict=False)
            define_it(overload_of(method))


def adapted() -> set[str]:
    """The names of the table that elements have in compiled loops."""
    methods = {f"{owner}.{name}" for owner in _OWNERS for name in names_of(owner)}
    return {*FUNCTIONS, *methods, "str", "repr", "in", "[]", "[:]", "[::]"}


_define()


# Comparisons: with None, too


def _define_comparison(name: str) -> None:
    operation = FUNCTIONS[name]
    for_elements = overload_of(name)
    is_equality = name in ("==", "!=")
    differs = name == "!="

    @overload(operation, prefer_literal=True, strict=False)
    def _ol_comparison(_0, _1):
        if not (is_element(_0) or is_element(_1)):
            return None
        if is_equality and isinstance(_0, types.Optional):

            def compare_left(_0, _1):
                if _0 is None:
                    return (_1 is None) != differs
                return operation(unwrapped(_0), _1)

            return compare_left
        if is_equality and isinstance(_1, types.Optional):

            def compare_right(_0, _1):
                if _1 is None:
                    return differs
                return operation(_0, unwrapped(_1))

            return compare_right
        return for_elements(_0, _1)


for _name in COMPARISONS:
    _define_comparison(_name)


# Parts


@overload(operator.contains, prefer_literal=True)
def _ol_contains(s, item):
    if not isinstance(
        without_none(s), SequenceType | types.UnicodeType | types.StringLiteral | types.Bytes
    ):
        return None
    is_byte = isinstance(item, types.Integer) and not isinstance(without_none(s), TextType)
    if not (is_element(s) or is_element(item) or (is_byte and isinstance(s, types.Bytes))):
        return None
    return adapter("in", "s, item", [Operand("item", item), Operand("s", s)], {})


@overload(operator.getitem, prefer_literal=True)
def _ol_getitem(s, key):
    if not isinstance(without_none(s), SequenceType):
        return None
    if isinstance(key, types.Integer):
        return adapter("[]", "s, key", [Operand("s", s), Operand("key", key)], {})
    if isinstance(key, types.SliceType):
        names = ("start", "stop", "step") if key.has_step else ("start", "stop")
        parts = [Operand(f"key.{name}", types.int64) for name in names]
        return adapter("[::]" if key.has_step else "[:]", "s, key", [Operand("s", s), *parts], {})
    return None


@overload(operator.not_)
def _ol_not(s):
    return (lambda s: not bool(s)) if is_element(s) else None


# Hashes


@overload_method(SequenceType, "__hash__")
def _ol_hash(s):
    from numpy import int64, uint64

    def fowler_noll_vo(s):
        digest = uint64(0xCBF29CE484222325)
        for k in range(s._ck_size):
            digest = (digest ^ uint64(get_byte(s._ck_address + k))) * uint64(0x100000001B3)
        keep(s)
        # Hashes of dictionaries are signed, and -1 is none.
        return int64(digest >> uint64(1))

    return fowler_noll_vo


@overload_method(MomentType, "__hash__")
def _ol_hash_of_moment(s):
    return lambda s: hash(raw(s))


# Iteration


_character = compiled(text_characters.character_at)


@register_jitable
def _character_at(source, position):
    return element(_character(raw(source), position), source)


@register_jitable
def _byte_at(source, position):
    return get_byte(source._ck_address + position)


@lower_builtin("getiter", SequenceType)
def _getiter(context, builder, sig, args):
    iterator = context.make_helper(builder, sig.return_type)
    iterator.position = cgutils.alloca_once_value(builder, ir.IntType(64)(0))
    iterator.source = args[0]
    return impl_ret_borrowed(context, builder, sig.return_type, iterator._getvalue())


@lower_builtin("iternext", SequenceIteratorType)
@iternext_impl(RefType.NEW)
def _iternext(context, builder, sig, args, result):
    (kind,) = sig.args
    iterator = context.make_helper(builder, kind, value=args[0])
    source = context.make_helper(builder, kind.source, value=iterator.source)
    position = builder.load(iterator.position)
    valid = builder.icmp_signed("<", position, source.size)
    result.set_valid(valid)
    with builder.if_then(valid):
        is_text = isinstance(kind.source, TextType)
        read = _character_at if is_text else _byte_at
        yielded = context.compile_internal(
            builder, read, kind.yield_type(kind.source, types.int64), (iterator.source, position)
        )
        size = ir.IntType(64)(1)
        if is_text:
            size = context.make_helper(builder, kind.source, value=yielded).size
        result.yield_(yielded)
        builder.store(builder.add(position, size), iterator.position)
