"""Builders inside jitted code: the Numba type, and the parts of a builder.

A value of the type is the address of its node's row; see `colkern.jit.building.nodes`. Nodes below
stand a known number of rows further on. CPU target only.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, box, models, overload_method, register_model, unbox
from numba.np.numpy_support import from_dtype

from colkern import schema as s
from colkern.dispatch import Dispatch
from colkern.jit.building.nodes import ROW, Node, NodeKind, State, child_rows, node_of, way_to
from colkern.jit.values.borrowing import Borrowed, keep_within_calls
from colkern.kernels.intrinsics import instructions

_WORD = ir.IntType(64)


class BuilderType(Borrowed, types.Type):
    """The Numba type of a builder.

    Args:
        data_type: The type of the array.
        nullable: Whether there may be nulls.
    """

    may_be_returned = True

    def __init__(self, data_type: s.DataType, nullable: bool = True) -> None:
        self.data_type = data_type
        self.nullable = nullable
        suffix = "" if nullable else " not null"
        super().__init__(name=f"Builder({data_type}{suffix})")

    @property
    def key(self) -> object:
        """The parts that types are compared by."""
        return self.data_type, self.nullable

    @property
    def node(self) -> Node:
        """The description of how its values are built."""
        return node_of(self.data_type)

    @property
    def item(self) -> types.Type:
        """The Numba type of the items of a slot."""
        item = self.node.item
        assert item is not None
        return from_dtype(item)

    def child(self, position: int) -> BuilderType:
        """The type of a node below."""
        field = self.node.children[position]
        return BuilderType(field.type, field.nullable)

    def part(self, name: str) -> list[int]:
        """The positions that lead down to what compiled code calls `name`; empty if there is none."""
        return way_to(self.data_type, name)

    def after(self, way: list[int]) -> tuple[BuilderType, int]:
        """The type at the end of a way down, and the distance of its row."""
        at, rows = self, 0
        for position in way:
            rows += child_rows(at.data_type)[position]
            at = at.child(position)
        return at, rows


METHODS: dict[str, Callable[..., Any]] = {}
"""The overloads of methods, each of which chooses a function by the types of a builder and of arguments.

A field of such a name does not hide the method; `field` finds it.
"""


def method(name: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for the overload of a method, with options of Numba's."""

    def define(overload: Callable[..., Any]) -> Callable[..., Any]:
        METHODS[name] = overload_method(BuilderType, name, **options)(overload)
        return METHODS[name]

    return define


Append = Callable[[BuilderType, types.Type], FunctionType | None]

APPENDS: Dispatch[NodeKind, Append] = Dispatch("append to a builder", NodeKind, ())
"""From the types of a builder and of a value to the method; None if the builder takes no such value."""


@register_model(BuilderType)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _WORD)


def place_of(builder: ir.IRBuilder, address: ir.Value, what: State) -> ir.Value:
    """LLVM's pointer to a number of the row at an address."""
    place = builder.add(address, ir.Constant(_WORD, 8 * what))
    return builder.inttoptr(place, _WORD.as_pointer())


def load_number(builder: ir.IRBuilder, address: ir.Value, what: State) -> ir.Value:
    """LLVM's load of a number of the row at an address."""
    return builder.load(place_of(builder, address, what))


@unbox(BuilderType)
def _unbox(typ, obj, c):
    keep_within_calls()
    # The caller's reference keeps the builder alive during the call.
    address = c.pyapi.object_getattr_string(obj, "_address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=c.pyapi.c_api_error())


@box(BuilderType)
def _box(typ, value, c):
    address = load_number(c.builder, value, State.OBJECT)
    owner = c.builder.inttoptr(address, c.pyapi.pyobj)
    c.pyapi.incref(owner)
    return owner


@infer_getattr
class _BuilderParts(AttributeTemplate):
    key = BuilderType

    def generic_resolve(self, builder: BuilderType, name: str) -> BuilderType | None:
        if name in METHODS or name.startswith("_"):
            return None
        way = builder.part(name)
        return builder.after(way)[0] if way else None


@lower_getattr_generic(BuilderType)
def _lower_part(context, builder, typ, value, name):
    return _further(builder, value, typ.after(typ.part(name))[1])


def _further(builder: ir.IRBuilder, address: ir.Value, rows: int) -> ir.Value:
    return builder.add(address, ir.Constant(_WORD, rows * ROW * 8))


def child_of(position):
    """The function that gives a builder's node below, by the `position` of that."""

    @instructions(lambda out: out.child(position)(out))
    def child(context, builder, signature, args):
        return _further(builder, args[0], signature.args[0].after([position])[1])

    child.position = position
    return child
