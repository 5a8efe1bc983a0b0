"""Values that may be None."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload


@intrinsic
def unwrapped(typingctx, value):
    """The value of an optional that is not None; without a check, which an assignment would make."""
    if not isinstance(value, types.Optional):
        return None

    def codegen(context, builder, signature, args):
        inner = context.make_helper(builder, signature.args[0], value=args[0]).data
        return impl_ret_borrowed(context, builder, signature.return_type, inner)

    return value.type(value), codegen


def is_none(value: Any) -> Any:
    """Whether a value is None."""
    raise NotImplementedError


@overload(is_none)
def _ol_is_none(value):
    if isinstance(value, types.NoneType):
        return lambda value: True
    if isinstance(value, types.Optional):
        return lambda value: value is None
    return lambda value: False
