"""`for character in text`, `for byte in byte_string`."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, impl_ret_borrowed, iternext_impl
from numba.extending import lower_builtin, register_jitable

from colkern.cpu.compiler import compiled
from colkern.cpu.primitives import get_byte
from colkern.jit.elements.memory import element, raw
from colkern.jit.elements.types import SequenceIteratorType, SequenceType, TextType
from colkern.kernels import text_characters

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
