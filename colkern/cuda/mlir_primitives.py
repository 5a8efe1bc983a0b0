"""The primitives of `colkern.cuda.primitives` for numba-cuda-mlir, in operations of MLIR's dialects.

`builder` is the compiler's lowering state: it has the arguments' values, and gets the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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

Values = list[Any]


def least(left: Any, right: Any) -> Any:
    """Built-in `min`, which numba-cuda-mlir 0.6 computes as if all numbers were signed."""
    return left if left < right else right


def greatest(left: Any, right: Any) -> Any:
    """Built-in `max`; see `least`."""
    return left if left > right else right


def _of_words(compute: Callable[..., Any]) -> Callable[..., Any]:
    """The lowering of an intrinsic that takes only uint64, from a function that computes its value."""

    def lower(builder: Any, target: Any, args: Values, _: Any) -> None:
        builder.store_var(target, compute(*(_word(builder, argument) for argument in args)))

    return lower


def _word(builder: Any, argument: Any) -> Any:
    return convert(builder.load_var(argument), mlir_types.i64())


def _number(value: int) -> Any:
    return arith.constant(mlir_types.i64(), value)


def _pointer(address: Any) -> Any:
    """A pointer to an address in global memory, where all arrays are."""
    return llvm.inttoptr(llvm.PointerType.get(1), address)


def _address(builder: Any, array: Any, position: Any) -> Any:
    """The address of item `position` of an array."""
    items = builder.load_var(array)
    begin = llvm.ptrtoint(mlir_types.i64(), memref_data_pointer(items))
    size = _number(get_type_size_bytes(items.type.element_type))
    return arith.addi(begin, arith.muli(_word(builder, position), size))


def _word_at(address: Any) -> Any:
    """Loads two aligned words (one word, if the address is aligned) and shifts."""

    def aligned(address: Any) -> Any:
        place = _pointer(arith.andi(address, _number(-8)))
        return llvm.load(mlir_types.i64(), place, alignment=8)

    shift = arith.shli(arith.andi(address, _number(7)), _number(3))
    low = arith.shrui(aligned(address), shift)
    high = arith.shli(aligned(arith.addi(address, _number(7))), _number(1))
    return arith.ori(low, arith.shli(high, arith.subi(_number(63), shift)))


def _high_product(left: Any, right: Any) -> Any:
    """The high product, by halves: for GPUs before Blackwell, the compiler has no operation for it."""

    def low(word: Any) -> Any:
        return arith.andi(word, _number(0xFFFF_FFFF))

    def high(word: Any) -> Any:
        return arith.shrui(word, _number(32))

    least = arith.muli(low(left), low(right))
    crossed = arith.muli(high(left), low(right)), arith.muli(low(left), high(right))
    total = high(arith.addi(high(least), arith.addi(*map(low, crossed))))
    for partial in crossed:
        total = arith.addi(total, high(partial))
    return arith.addi(total, arith.muli(high(left), high(right)))


@intrinsic  # type: ignore[untyped-decorator]
def popcount(typingctx: Any, word: Any) -> Any:
    """LLVM's `ctpop`, which becomes `popc`."""
    return types.uint64(types.uint64), _of_words(llvm.intr_ctpop)


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """LLVM's `cttz`, 64 for zero."""
    return types.uint64(types.uint64), _of_words(lambda word: llvm.intr_cttz(word, False))


@intrinsic  # type: ignore[untyped-decorator]
def add(typingctx: Any, left: Any, right: Any) -> Any:
    """The sum, by one instruction."""
    return types.uint64(types.uint64, types.uint64), _of_words(arith.addi)


@intrinsic  # type: ignore[untyped-decorator]
def multiply(typingctx: Any, left: Any, right: Any) -> Any:
    """The product, by one instruction."""
    return types.uint64(types.uint64, types.uint64), _of_words(arith.muli)


@intrinsic  # type: ignore[untyped-decorator]
def high_product(typingctx: Any, left: Any, right: Any) -> Any:
    """The higher of the two words of a product."""
    return types.uint64(types.uint64, types.uint64), _of_words(_high_product)


@intrinsic  # type: ignore[untyped-decorator]
def fold(typingctx: Any, left: Any, right: Any) -> Any:
    """Both words of a product, combined by exclusive or."""

    def halves(left: Any, right: Any) -> Any:
        return arith.xori(arith.muli(left, right), _high_product(left, right))

    return types.uint64(types.uint64, types.uint64), _of_words(halves)


@intrinsic  # type: ignore[untyped-decorator]
def word_at(typingctx: Any, address: Any) -> Any:
    """The uint64 at any address."""
    return types.uint64(types.uint64), _of_words(_word_at)


@intrinsic  # type: ignore[untyped-decorator]
def load_word(typingctx: Any, data: Any, position: Any, word: Any) -> Any:
    """As `word_at`, in an array of bytes."""

    def lower(builder: Any, target: Any, args: Values, _: Any) -> None:
        data, position, word = args
        further = arith.shli(_word(builder, word), _number(3))
        address = arith.addi(_address(builder, data, position), further)
        builder.store_var(target, _word_at(address))

    return types.uint64(data, types.uint64, types.uint64), lower


@intrinsic  # type: ignore[untyped-decorator]
def load_item(typingctx: Any, like: Any, address: Any) -> Any:
    """A load of the array's item type; the address is a multiple of the item's size."""

    def lower(builder: Any, target: Any, args: Values, _: Any) -> None:
        item = builder.get_storage_type(like.dtype)
        builder.store_var(target, llvm.load(item, _pointer(_word(builder, args[1]))))

    return like.dtype(like, types.uint64), lower


@intrinsic  # type: ignore[untyped-decorator]
def store_item(typingctx: Any, like: Any, address: Any, value: Any) -> Any:
    """A store of the array's item type; the address is a multiple of the item's size."""

    def lower(builder: Any, target: Any, args: Values, _: Any) -> None:
        item = convert(builder.load_var(args[2]), builder.get_storage_type(like.dtype))
        llvm.store(item, _pointer(_word(builder, args[1])))
        builder.store_var(target, None)

    return types.none(like, types.uint64, like.dtype), lower


@intrinsic  # type: ignore[untyped-decorator]
def store_word(typingctx: Any, out: Any, position: Any, word: Any) -> Any:
    """Stores a word to eight bytes of `out`, the first of which has an aligned address."""

    def lower(builder: Any, target: Any, args: Values, _: Any) -> None:
        out, position, word = args
        place = _pointer(_address(builder, out, position))
        llvm.store(_word(builder, word), place, alignment=8)
        builder.store_var(target, None)

    return types.none(out, types.uint64, types.uint64), lower


@intrinsic  # type: ignore[untyped-decorator]
def address_of(typingctx: Any, array: Any, position: Any) -> Any:
    """The address of item `position` of an array."""

    def lower(builder: Any, target: Any, args: Values, _: Any) -> None:
        builder.store_var(target, _address(builder, *args))

    return types.uint64(array, types.uint64), lower


@lowering_registry.lower_getattr(types.Array, "itemsize")  # type: ignore[untyped-decorator]
def itemsize(context: Any, builder: Any, target: Any, array: Any) -> None:
    """`array.itemsize`, for which numba-cuda-mlir 0.6 knows the type but has no code."""
    item = builder.load_var(array).type.element_type
    builder.store_var(target, _number(get_type_size_bytes(item)))


refresh_registries(typing=False)
