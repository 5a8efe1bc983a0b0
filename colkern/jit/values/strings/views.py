"""The type of byte strings in compiled code: an address and a length.

A view owns nothing and is not counted: the column that it points into outlives the call, and a
literal's bytes stand in the compiled code. CPU target only.

`text` is the type of views of UTF-8 columns, `binary` that of the others; they differ in what a
function that returns one of them gives: a utf8 or a binary column.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typeconv import Conversion
from numba.extending import (
    NativeValue,
    box,
    intrinsic,
    lower_cast,
    make_attribute_wrapper,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from colkern.jit.values.borrowing import Borrowed, keep_within_calls
from colkern.jit.values.bytestring import ByteString

POINTER = types.CPointer(types.uint8)


class ByteStringType(Borrowed, types.IterableType, types.Hashable):
    """The Numba type of a view of bytes."""

    # Unification starts with the narrowest type. With a view first, literals become views; the
    # other way around all would become Python strings, which are allocated.
    bitwidth = -1

    # Python is given a copy.
    may_be_returned = True

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(name=f"ByteString({kind})")

    @property
    def iterator_type(self) -> types.IteratorType:
        """What `iter(s)` gives."""
        return ByteIteratorType(self)

    def unify(self, typingctx: Any, other: Any) -> Any:
        """The type for a variable that may be a view or an `other`."""
        if isinstance(other, ByteStringType | types.Bytes):
            return binary
        if isinstance(other, types.StringLiteral):
            return self
        if isinstance(other, types.UnicodeType):
            return other
        return None

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Text becomes text or binary as it is, `bytes` binary."""
        if isinstance(other, types.StringLiteral) or other == text:
            return Conversion.safe
        if self.kind == "binary" and isinstance(other, types.Bytes | ByteStringType):
            return Conversion.safe
        return None

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """A view becomes a Python string by decoding."""
        return Conversion.unsafe if isinstance(other, types.UnicodeType) else None


class ByteIteratorType(Borrowed, types.SimpleIteratorType):
    """The Numba type of `iter(s)`."""

    def __init__(self, source: ByteStringType) -> None:
        self.source = source
        super().__init__(f"iter({source.name})", types.int64)


text = ByteStringType("utf8")
binary = ByteStringType("binary")

_OPTIONALS = (types.Optional(text), types.Optional(binary))
"""There is one object of each in a process."""

for _optional in _OPTIONALS:
    # Numba takes a comparison of a string with any type of its own, optional views included, to be False.
    _optional._is_internal = False


@register_model(ByteStringType)
class _ByteStringModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", POINTER), ("length", types.intp)])


@register_model(ByteIteratorType)
class _ByteIteratorModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("index", types.EphemeralPointer(types.intp)), ("view", fe_type.source)]
        super().__init__(dmm, fe_type, members)


make_attribute_wrapper(ByteStringType, "data", "_data")
make_attribute_wrapper(ByteStringType, "length", "_length")


def view_of(context: Any, builder: Any, kind: Any, data: Any, length: Any) -> Any:
    """A view of given bytes, of type `kind`."""
    made = cgutils.create_struct_proxy(kind)(context, builder)
    made.data = data
    made.length = length
    return made._getvalue()


def _literal_view(context: Any, builder: Any, kind: Any, value: bytes) -> Any:
    data = context.insert_const_bytes(builder.module, value)
    return view_of(context, builder, kind, data, context.get_constant(types.intp, len(value)))


def _require_contiguous(kind: types.Bytes) -> None:
    """Refuse slices of `bytes` with a step: Numba makes them views whose bytes stand apart."""
    if kind.layout != "C":
        raise TypingError("a slice of bytes is a byte string only with a step of 1")


def _at(kind: ByteStringType) -> Any:
    @intrinsic
    def view_at(typingctx, address, length):
        def codegen(context, builder, signature, args):
            data = builder.inttoptr(args[0], context.get_value_type(POINTER))
            return view_of(context, builder, kind, data, args[1])

        return kind(types.uint64, types.intp), codegen

    return view_at


text_at = _at(text)
binary_at = _at(binary)


@intrinsic
def address_of(typingctx, view):
    """The address of the first byte, as a uint64."""

    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
        return builder.ptrtoint(made.data, context.get_value_type(types.uint64))

    return types.uint64(view), codegen


@intrinsic
def part(typingctx, view, start, length):
    """`length` bytes of a view from `start` on; not checked."""

    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
        data = builder.gep(made.data, [args[1]])
        return view_of(context, builder, signature.return_type, data, args[2])

    return view(view, types.intp, types.intp), codegen


@typeof_impl.register(ByteString)
def _typeof(value, context):
    return text


@unbox(ByteStringType)
def _unbox(typ, obj, c):
    keep_within_calls()
    # The caller's reference keeps the bytes alive during the call.
    data = cgutils.alloca_once(c.builder, c.pyapi.cstring)
    size = cgutils.alloca_once(c.builder, c.pyapi.py_ssize_t)
    ok = c.pyapi.bytes_as_string_and_size(obj, data, size)
    view = view_of(c.context, c.builder, typ, c.builder.load(data), c.builder.load(size))
    return NativeValue(view, is_error=c.builder.not_(ok))


@box(ByteStringType)
def _box(typ, value, c):
    made = cgutils.create_struct_proxy(typ)(c.context, c.builder, value=value)
    plain = c.pyapi.bytes_from_string_and_size(made.data, made.length)
    cls = c.pyapi.unserialize(c.pyapi.serialize_object(ByteString))
    boxed = c.pyapi.call_function_objargs(cls, (plain,))
    c.pyapi.decref(cls)
    c.pyapi.decref(plain)
    return boxed


@lower_cast(types.StringLiteral, ByteStringType)
def _cast_literal(context, builder, fromty, toty, value):
    return _literal_view(context, builder, toty, fromty.literal_value.encode())


@lower_cast(types.Bytes, ByteStringType)
def _cast_bytes(context, builder, fromty, toty, value):
    _require_contiguous(fromty)
    made = context.make_helper(builder, fromty, value=value)
    with builder.if_then(cgutils.is_not_null(builder, made.meminfo), likely=False):
        # A view would outlive them.
        context.call_conv.return_user_exc(
            builder,
            ValueError,
            ("bytes that the function builds cannot stand where it has a byte string too",),
        )
    return view_of(context, builder, toty, made.data, made.nitems)


@lower_cast(ByteStringType, ByteStringType)
def _cast_kind(context, builder, fromty, toty, value):
    return value


@intrinsic(prefer_literal=True)
def as_view(typingctx, value):
    """A literal, or a `bytes` that the caller keeps alive, as a view."""
    if isinstance(value, types.StringLiteral):

        def codegen(context, builder, signature, args):
            return context.cast(builder, args[0], signature.args[0], signature.return_type)

    elif isinstance(value, types.Bytes):
        _require_contiguous(value)

        def codegen(context, builder, signature, args):
            made = context.make_helper(builder, signature.args[0], value=args[0])
            return view_of(context, builder, signature.return_type, made.data, made.nitems)

    else:
        return None
    return binary(value), codegen


@intrinsic
def static_bytes(typingctx, value):
    """The address of a `bytes` if it is a literal's; else 0."""
    if not isinstance(value, types.Bytes):
        return None
    _require_contiguous(value)

    def codegen(context, builder, signature, args):
        made = context.make_helper(builder, signature.args[0], value=args[0])
        address = builder.ptrtoint(made.data, context.get_value_type(types.uint64))
        # A literal's bytes stand in the compiled code, so nothing owns them.
        unowned = cgutils.is_null(builder, made.meminfo)
        return builder.select(unowned, address, address.type(0))

    return types.uint64(value), codegen


@intrinsic
def static_ascii(typingctx, value):
    """The address of a Python string's bytes if they are ASCII and a literal's; else 0."""
    if not isinstance(value, types.UnicodeType):
        return None

    def codegen(context, builder, signature, args):
        made = cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=args[0])
        address = builder.ptrtoint(made.data, context.get_value_type(types.uint64))
        # A literal's bytes stand in the compiled code, so nothing owns them.
        unowned = builder.and_(
            cgutils.is_null(builder, made.meminfo), cgutils.is_null(builder, made.parent)
        )
        static = builder.and_(unowned, cgutils.is_true(builder, made.is_ascii))
        return builder.select(static, address, address.type(0))

    return types.uint64(value), codegen
