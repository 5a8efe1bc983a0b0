"""Values that may be None."""

from __future__ import annotations

from numba.core.imputils import impl_ret_borrowed

from colkern.kernels.intrinsics import instructions


@instructions(lambda value: value.type(value))
def unwrapped(context, builder, signature, args):
    """The value of an optional that is not None; without a check, which an assignment would make."""
    inner = context.make_helper(builder, signature.args[0], value=args[0]).data
    return impl_ret_borrowed(context, builder, signature.return_type, inner)
