"""Emitting LLVM code for values of Numba's types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.imputils import impl_ret_borrowed
from numba.extending import overload

from colkern.kernels.intrinsics import instructions


@dataclass(frozen=True, slots=True)
class Lowering:
    """A place in the code, at which instructions are emitted.

    Args:
        context: Numba's context, which knows the registers of its types, and the code of functions.
        builder: LLVM's builder, at the place of the next instruction.
    """

    context: BaseContext
    builder: ir.IRBuilder

    def struct(self, kind: types.Type, value: ir.Value | None = None) -> cgutils._StructProxy:
        """The members of a value by name; without a value, of a new one, whose members are to be set."""
        return self.context.make_helper(self.builder, kind, value)

    def call(
        self, function: Callable[..., object], kinds: Sequence[types.Type], args: Sequence[ir.Value]
    ) -> ir.Value:
        """A call of a function that Numba knows, with arguments of those types."""
        typing_context = self.context.typing_context
        known = typing_context.resolve_value_type(function)
        signature = known.get_call_type(typing_context, tuple(kinds), {})
        return self.context.get_function(known, signature)(self.builder, args)

    def raise_unless(self, condition: ir.Value, error: type[Exception], message: str) -> None:
        """Raise an error if a condition does not hold, which is unlikely."""
        with self.builder.if_then(self.builder.not_(condition), likely=False):
            self.context.call_conv.return_user_exc(self.builder, error, (message,))


def by_types(choose: Callable[..., Any]) -> Any:
    """A function of compiled code, which `choose` gives for the types of the arguments."""

    def chosen(*arguments: Any) -> Any:
        raise NotImplementedError

    chosen.__name__, chosen.__doc__ = choose.__name__, choose.__doc__
    overload(chosen)(choose)
    chosen.choose = choose  # type: ignore[attr-defined]
    return chosen


def without_none(kind: types.Type) -> Any:
    """The type of values that are not None."""
    return kind.type if isinstance(kind, types.Optional) else kind


@instructions(lambda value: value.type(value))
def unwrapped(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The value of an optional that is not None; an assignment would check that."""
    inner = context.make_helper(builder, signature.args[0], value=args[0]).data
    return impl_ret_borrowed(context, builder, signature.return_type, inner)
