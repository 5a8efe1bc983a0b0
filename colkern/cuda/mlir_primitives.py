"""The primitives of `colkern.cuda.primitives` for numba-cuda-mlir, in operations of MLIR's dialects.

`builder` is the compiler's lowering state: it has the arguments' values, and gets the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from numba_cuda_mlir import types
from numba_cuda_mlir._mlir.dialects import arith, llvm
from numba_cuda_mlir._mlir.extras import types as mlir_types
from numba_cuda_mlir.extending import intrinsic, lowering_registry, refresh_registries
from numba_cuda_mlir.lowering_utilities import convert, get_type_size_bytes, memref_data_pointer

# Products may be fused with additions here, and dividing the least integer by -1 gives what it
# gives there.
from colkern.cuda.simulated_primitives import floor_quotient as floor_quotient
from colkern.cuda.simulated_primitives import get_unaligned as get_unaligned
from colkern.cuda.simulated_primitives import product as product
from colkern.cuda.simulated_primitives import quotient_and_rest as quotient_and_rest
from colkern.cuda.simulated_primitives import rounded as rounded
from colkern.cuda.simulated_primitives import set_unaligned as set_unaligned

if TYPE_CHECKING:
    from numba_cuda_mlir._mlir.ir import Value

    Type: TypeAlias = types.Type
    Variables: TypeAlias = list[object]
    Lower: TypeAlias = Callable[["Builder", object, Variables, object], None]
    Intrinsic: TypeAlias = tuple[object, Lower]


class Builder(Protocol):
    """The part of the compiler's state that lowering uses."""

    def load_var(self, variable: object) -> Value:
        """The value of a variable."""

    def store_var(self, variable: object, value: Value | None) -> None:
        """Give a variable its value."""

    def get_storage_type(self, kind: Type) -> object:
        """The type of MLIR that items of a type have in memory."""


def least(left: int, right: int) -> int:
    """Built-in `min`, which numba-cuda-mlir 0.6 computes as if all numbers were signed."""
    return left if left < right else right


def greatest(left: int, right: int) -> int:
    """Built-in `max`; see `least`."""
    return left if left > right else right


def _of_words(compute: Callable[..., Value]) -> Lower:
    """The lowering of an intrinsic that takes only uint64, from a function that computes its value."""

    def lower(builder: Builder, target: object, args: Variables, _: object) -> None:
        builder.store_var(target, compute(*(_word(builder, argument) for argument in args)))

    return lower


def _word(builder: Builder, argument: object) -> Value:
    return convert(builder.load_var(argument), mlir_types.i64())


def _number(value: int) -> Value:
    return arith.constant(mlir_types.i64(), value)


def _pointer(address: Value) -> Value:
    """A pointer to an address in global memory, where all arrays are."""
    return llvm.inttoptr(llvm.PointerType.get(1), address)


def _address(builder: Builder, array: object, position: object) -> Value:
    """The address of item `position` of an array."""
    items = builder.load_var(array)
    begin = llvm.ptrtoint(mlir_types.i64(), memref_data_pointer(items))
    size = _number(get_type_size_bytes(items.type.element_type))
    return arith.addi(begin, arith.muli(_word(builder, position), size))


def _word_at(address: Value) -> Value:
    """Loads two aligned words (one word, if the address is aligned) and shifts."""

    def aligned(address: Value) -> Value:
        place = _pointer(arith.andi(address, _number(-8)))
        return llvm.load(mlir_types.i64(), place, alignment=8)

    shift = arith.shli(arith.andi(address, _number(7)), _number(3))
    low = arith.shrui(aligned(address), shift)
    high = arith.shli(aligned(arith.addi(address, _number(7))), _number(1))
    return arith.ori(low, arith.shli(high, arith.subi(_number(63), shift)))


def _high_product(left: Value, right: Value) -> Value:
    """The high product, by halves: for GPUs before Blackwell, the compiler has no operation for it."""

    def low(word: Value) -> Value:
        return arith.andi(word, _number(0xFFFF_FFFF))

    def high(word: Value) -> Value:
        return arith.shrui(word, _number(32))

    least = arith.muli(low(left), low(right))
    crossed = arith.muli(high(left), low(right)), arith.muli(low(left), high(right))
    total = high(arith.addi(high(least), arith.addi(*map(low, crossed))))
    for partial in crossed:
        total = arith.addi(total, high(partial))
    return arith.addi(total, arith.muli(high(left), high(right)))


def _fold(left: Value, right: Value) -> Value:
    return arith.xori(arith.muli(left, right), _high_product(left, right))


def _of_one(compute: Callable[[Value], Value]) -> object:
    """The intrinsic of a uint64 whose result `compute` gives."""

    @intrinsic  # type: ignore[untyped-decorator]
    def of_one(typingctx: object, word: Type) -> Intrinsic:
        return types.uint64(types.uint64), _of_words(compute)

    return of_one


def _of_two(compute: Callable[[Value, Value], Value]) -> object:
    """The intrinsic of two uint64 whose result `compute` gives."""

    @intrinsic  # type: ignore[untyped-decorator]
    def of_two(typingctx: object, left: Type, right: Type) -> Intrinsic:
        return types.uint64(types.uint64, types.uint64), _of_words(compute)

    return of_two


popcount = _of_one(llvm.intr_ctpop)
trailing_zeros = _of_one(lambda word: llvm.intr_cttz(word, False))
leading_zeros = _of_one(lambda word: llvm.intr_ctlz(word, False))
word_at = _of_one(_word_at)
add = _of_two(arith.addi)
multiply = _of_two(arith.muli)
high_product = _of_two(_high_product)
fold = _of_two(_fold)


@intrinsic  # type: ignore[untyped-decorator]
def load_word(typingctx: object, data: Type, position: Type, word: Type) -> Intrinsic:
    """As `word_at`, in an array of bytes."""

    def lower(builder: Builder, target: object, args: Variables, _: object) -> None:
        data, position, word = args
        further = arith.shli(_word(builder, word), _number(3))
        address = arith.addi(_address(builder, data, position), further)
        builder.store_var(target, _word_at(address))

    return types.uint64(data, types.uint64, types.uint64), lower


@intrinsic  # type: ignore[untyped-decorator]
def load_item(typingctx: object, like: Type, address: Type) -> Intrinsic:
    """A load of the array's item type; the address is a multiple of the item's size."""

    def lower(builder: Builder, target: object, args: Variables, _: object) -> None:
        item = builder.get_storage_type(like.dtype)
        builder.store_var(target, llvm.load(item, _pointer(_word(builder, args[1]))))

    return like.dtype(like, types.uint64), lower


@intrinsic  # type: ignore[untyped-decorator]
def store_item(typingctx: object, like: Type, address: Type, value: Type) -> Intrinsic:
    """A store of the array's item type; the address is a multiple of the item's size."""

    def lower(builder: Builder, target: object, args: Variables, _: object) -> None:
        item = convert(builder.load_var(args[2]), builder.get_storage_type(like.dtype))
        llvm.store(item, _pointer(_word(builder, args[1])))
        builder.store_var(target, None)

    return types.none(like, types.uint64, like.dtype), lower


@intrinsic  # type: ignore[untyped-decorator]
def store_word(typingctx: object, out: Type, position: Type, word: Type) -> Intrinsic:
    """Stores a word to eight bytes of `out`, the first of which has an aligned address."""

    def lower(builder: Builder, target: object, args: Variables, _: object) -> None:
        out, position, word = args
        place = _pointer(_address(builder, out, position))
        llvm.store(_word(builder, word), place, alignment=8)
        builder.store_var(target, None)

    return types.none(out, types.uint64, types.uint64), lower


@intrinsic  # type: ignore[untyped-decorator]
def address_of(typingctx: object, array: Type, position: Type) -> Intrinsic:
    """The address of item `position` of an array."""

    def lower(builder: Builder, target: object, args: Variables, _: object) -> None:
        builder.store_var(target, _address(builder, *args))

    return types.uint64(array, types.uint64), lower


@lowering_registry.lower_getattr(types.Array, "itemsize")  # type: ignore[untyped-decorator]
def itemsize(context: object, builder: Builder, target: object, array: object) -> None:
    """`array.itemsize`, for which numba-cuda-mlir 0.6 knows the type but has no code."""
    item = builder.load_var(array).type.element_type
    builder.store_var(target, _number(get_type_size_bytes(item)))


refresh_registries(typing=False)
