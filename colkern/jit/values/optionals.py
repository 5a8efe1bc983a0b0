"""Values that may be None."""

from __future__ import annotations

from numba import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic


@intrinsic
def unwrapped(typingctx, value):
    """The value of an optional that is not None; without a check, which an assignment would make."""
    if not isinstance(value, types.Optional):
        return None

    def codegen(context, builder, signature, args):
        inner = context.make_helper(builder, signature.args[0], value=args[0]).data
        return impl_ret_borrowed(context, builder, signature.return_type, inner)

    return value.type(value), codegen
