"""The primitives of `colkern.kernels.primitives` for the CPU, as LLVM instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numpy import uint64

from colkern.cpu.processor import fast_features
from colkern.kernels import intrinsics, relations
from colkern.kernels.arguments import In, Out, T
from colkern.kernels.intrinsics import (
    Builder,
    Signature,
    Target,
    Type,
    Types,
    Value,
    Values,
    instructions,
    pointer,
    trailing_zeros,
)

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8)
_INDEX = ir.IntType(32)
_PIECE_OF_BYTES = ir.VectorType(_BYTE, 32)

_PIECE = 32
"""The bytes that `copy_bytes_loosely` moves at once."""


def __getattr__(name: str) -> Any:
    """A primitive of both targets."""
    return getattr(intrinsics, name)


def _sets_flag(instruction: str) -> Any:
    """Whether integers of a type make the processor set its overflow flag, which vectors do not have."""

    @instructions(types.boolean(types.int64, types.int64))
    def sets_flag(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        both = getattr(builder, f"{instruction}_with_overflow")(*args)
        return builder.extract_value(both, 1)

    return sets_flag


sum_sets_flag = _sets_flag("sadd")
difference_sets_flag = _sets_flag("ssub")
product_overflows = _sets_flag("smul")


def _called(builder: Builder, name: str, result: Type, *args: Value) -> Value:
    """The result of one of LLVM's functions."""
    kind = ir.FunctionType(result, [each.type for each in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


@instructions(types.uint64(types.uint64, types.uint64))
def extract_bits(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """`pext` if the processor has it, else a few shifts for each power of two."""
    if "bmi2" in fast_features():
        return _called(builder, "llvm.x86.bmi.pext.64", _WORD, *args)
    return context.compile_internal(builder, _extracted_bits, signature, args)


def _extracted_bits(word: uint64, mask: uint64) -> uint64:
    """Each step moves the bits whose number of lower zeros in the mask has a certain power of two."""
    # Hacker's Delight, 7-4: compress.
    bits = word & mask
    below = ~mask << uint64(1)
    step = uint64(1)
    while step < uint64(64):
        # Bit i: whether `below` has an odd number of ones up to bit i.
        odd = below ^ (below << uint64(1))
        odd ^= odd << uint64(2)
        odd ^= odd << uint64(4)
        odd ^= odd << uint64(8)
        odd ^= odd << uint64(16)
        odd ^= odd << uint64(32)
        moved = odd & mask
        mask = (mask ^ moved) | (moved >> step)
        chosen = bits & moved
        bits = (bits ^ chosen) | (chosen >> step)
        below &= ~odd
        step <<= uint64(1)
    return bits


@instructions(
    lambda out, place, values, first, kept: types.none(
        out, types.uint64, values, types.uint64, types.uint64
    )
)
def compress_items(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """Vectors of 64 bytes, if the processor has an instruction that compresses them."""
    # Otherwise four or eight items at a time, permuted by a table for each mask; without such
    # vectors, a loop over the items.
    features = fast_features()
    if "avx2" not in features:
        context.compile_internal(builder, _compressed_items, signature, args)
        return
    target, source = (
        context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 2)
    )
    source = builder.gep(source, [args[3]])
    bits = signature.args[0].dtype.bitwidth
    compress = _compress_at_once if "avx512vbmi2" in features else _compress
    compress(builder, bits, target, args[1], source, args[4])


def _compress_at_once(
    builder: Builder, bits: int, target: Value, place: Value, source: Value, kept: Value
) -> None:
    """Compress 64 items of `bits` bits, a vector of 64 bytes at a time, with one instruction each."""
    lanes = 512 // bits
    vector = ir.VectorType(ir.IntType(bits), lanes)
    chosen = ir.VectorType(ir.IntType(1), lanes)
    name = f"llvm.experimental.vector.compress.v{lanes}i{bits}"
    for step in range(0, 64, lanes):
        begin = builder.gep(source, [ir.Constant(_WORD, step)])
        items = builder.load(builder.bitcast(begin, vector.as_pointer()), align=1)
        mask = builder.lshr(kept, ir.Constant(_WORD, step))
        mask = builder.and_(mask, ir.Constant(_WORD, (1 << lanes) - 1))
        flags = builder.bitcast(_narrowed(builder, mask, ir.IntType(lanes)), chosen)
        moved = _called(builder, name, vector, items, flags, ir.Constant(vector, ir.Undefined))
        end = builder.bitcast(builder.gep(target, [place]), vector.as_pointer())
        builder.store(moved, end, align=1)
        place = builder.add(place, builder.ctpop(mask))


def _compress(
    builder: Builder, bits: int, target: Value, place: Value, source: Value, kept: Value
) -> None:
    """Compress 64 items of `bits` bits."""
    lanes = min(256 // bits, 8)
    # The unit that is permuted: bytes, or 32-bit words.
    part = 8 if bits < 32 else 32
    parts = bits // part
    vector = ir.VectorType(ir.IntType(part), lanes * parts)
    table = _table_of_permutations(builder, lanes, parts)
    for step in range(64 // lanes):
        mask = builder.lshr(kept, ir.Constant(_WORD, step * lanes))
        mask = builder.and_(mask, ir.Constant(_WORD, (1 << lanes) - 1))
        chosen = builder.load(builder.gep(table, [mask]), align=8)
        begin = builder.gep(source, [ir.Constant(_WORD, step * lanes)])
        items = builder.load(builder.bitcast(begin, vector.as_pointer()), align=1)
        permuted = _permuted_bytes if part == 8 else _permuted_words
        moved = permuted(builder, items, chosen)
        end = builder.bitcast(builder.gep(target, [place]), vector.as_pointer())
        builder.store(moved, end, align=1)
        place = builder.add(place, builder.ctpop(mask))


def _table_of_permutations(builder: Builder, lanes: int, parts: int) -> Value:
    """For each mask of `lanes` bits, the kept parts of a vector; a lane may have several parts."""
    entries = bytearray()
    for mask in range(1 << lanes):
        kept = [lane for lane in range(lanes) if mask >> lane & 1]
        numbers = [lane * parts + k for lane in kept for k in range(parts)]
        entries += bytes(numbers).ljust(lanes * parts, b"\0")
    kind = ir.ArrayType(_BYTE, len(entries))
    table = cgutils.global_constant(builder, "permutations", ir.Constant(kind, entries))
    return builder.bitcast(table, ir.VectorType(_BYTE, lanes * parts).as_pointer())


def _permuted_words(builder: Builder, items: Value, chosen: Value) -> Value:
    """The chosen 32-bit words of a vector of eight."""
    chosen = builder.zext(chosen, items.type)
    return _called(builder, "llvm.x86.avx2.permd", items.type, items, chosen)


def _permuted_bytes(builder: Builder, items: Value, chosen: Value) -> Value:
    """The chosen bytes of a vector of eight or sixteen."""
    whole = ir.VectorType(_BYTE, 16)
    name = "llvm.x86.ssse3.pshuf.b.128"
    if items.type == whole:
        return _called(builder, name, whole, items, chosen)
    wide = [_first_lanes(builder, half, 16) for half in (items, chosen)]
    return _first_lanes(builder, _called(builder, name, whole, *wide), items.type.count)


def _first_lanes(builder: Builder, vector: Value, count: int) -> Value:
    """The first `count` lanes of a vector; if it has fewer, the others are undefined."""
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(count)))
    undefined = ir.Constant(vector.type, ir.Undefined)
    return builder.shuffle_vector(vector, undefined, lanes)


def _compressed_items(
    out: Out[T], place: uint64, values: In[T], first: uint64, kept: uint64
) -> None:
    while kept != 0:
        out[place] = values[first + uint64(trailing_zeros(kept))]
        kept &= kept - uint64(1)
        place += uint64(1)


@instructions(lambda values: types.uint64(values))
def most_one_by_one(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """As measured; 0 if an instruction compresses, since that takes equally long for any mask."""
    if "avx512vbmi2" in fast_features():
        return ir.Constant(_WORD, 0)
    return ir.Constant(_WORD, 12 if signature.args[0].dtype.bitwidth == 64 else 5)


@instructions(lambda data, position, word: types.uint64(data, types.uint64, types.uint64))
def load_word(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """A 64-bit load that needs no alignment."""
    # Indexing a pointer to words shows LLVM consecutive loads, not a gather.
    array = context.make_array(signature.args[0])(context, builder, args[0])
    first = builder.bitcast(builder.gep(array.data, [args[1]]), _WORD.as_pointer())
    return builder.load(builder.gep(first, [args[2]], inbounds=True), align=1)


@instructions(lambda like, address: like.dtype(like, types.uint64))
def load_item(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """A load of the array's item type that needs no alignment."""
    item = context.get_data_type(signature.return_type)
    return builder.load(pointer(context, builder, args[1], item), align=1)


@instructions(lambda like, address, value: types.none(like, types.uint64, like.dtype))
def store_item(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """A store of the array's item type that needs no alignment."""
    builder.store(args[2], pointer(context, builder, args[1], args[2].type), align=1)


def _word_at(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """A 64-bit load that needs no alignment."""
    return builder.load(pointer(context, builder, args[0], _WORD), align=1)


word_at = instructions(types.uint64(types.uint64))(_word_at)
get_unaligned = instructions(types.int64(types.int64))(_word_at)


@instructions(types.none(types.int64, types.int64))
def copy_piece(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """A load and a store of a vector."""
    target = pointer(context, builder, args[0], _PIECE_OF_BYTES)
    builder.store(_piece(context, builder, args[1]), target, align=1)


@instructions(types.int64(types.int64, types.int64, types.int64))
def range_places(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """One vector comparison tests both ends of the range."""
    address, first, count = args
    distances = builder.sub(_piece(context, builder, address), _all_bytes(builder, first))
    inside = builder.icmp_unsigned("<", distances, _all_bytes(builder, count))
    return _places(builder, inside)


@instructions(types.none(types.int64, types.int64, types.int64, types.int64))
def turn_piece(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """One vector comparison tests both ends of the range."""
    target, source, first, either = args
    piece = _piece(context, builder, source)
    places = builder.sub(
        builder.or_(piece, _all_bytes(builder, either)), _all_bytes(builder, first)
    )
    letters = builder.icmp_unsigned("<", places, _all_bytes(builder, 26))
    turned = builder.xor(piece, _all_bytes(builder, 32))
    out = builder.select(letters, turned, piece)
    builder.store(out, pointer(context, builder, target, _PIECE_OF_BYTES), align=1)


def _piece(context: Target, builder: Builder, address: Value) -> Value:
    """The 32 bytes at an address."""
    return builder.load(pointer(context, builder, address, _PIECE_OF_BYTES), align=1)


def _places(builder: Builder, hits: Value) -> Value:
    """A word with a bit for each byte that was found."""
    return builder.zext(builder.bitcast(hits, ir.IntType(32)), _WORD)


def _all_bytes(builder: Builder, byte: Value | int) -> Value:
    """A vector of 32 bytes that all are the lowest byte of a word."""
    if isinstance(byte, int):
        return ir.Constant(_PIECE_OF_BYTES, [byte] * 32)
    return _vector_of(builder, builder.trunc(byte, _BYTE), 32)


@instructions(types.uint64(types.uint64))
def character_starts(
    context: Target, builder: Builder, signature: Signature, args: Values
) -> Value:
    """One vector comparison: as signed bytes, continuation bytes of characters are the lowest."""
    piece = _piece(context, builder, args[0])
    return _places(builder, builder.icmp_signed(">", piece, _all_bytes(builder, -65)))


@instructions(
    lambda out, place, left, i, right, j, flip: types.none(
        out, types.uint64, left, types.uint64, right, types.uint64, types.uint64
    )
)
def store_equal(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """Compares vectors of 64 items; the result is a word."""
    sides = _sixty_four_pairs(context, builder, signature.args, args)
    same = _equal_mask(builder, signature.args[2].dtype, *sides)
    word = _turned(builder, same, args[-1])
    _store_word(context, builder, signature, args, word)


@instructions(
    lambda out, place, left, i, value, flip: types.none(
        out, types.uint64, left, types.uint64, left.dtype, types.uint64
    )
)
def store_equal_to(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """As `store_equal`, with a vector of one repeated value."""
    items = _sixty_four(context, builder, signature.args, args, 2)
    same = _equal_mask(builder, signature.args[2].dtype, items, _vector_of(builder, args[4], 64))
    word = _turned(builder, same, args[-1])
    _store_word(context, builder, signature, args, word)


@instructions(
    lambda out, place, left, i, right, j, minus, flip: types.none(
        out, types.uint64, left, types.uint64, right, types.uint64, types.uint64, types.uint64
    )
)
def store_less_integers(
    context: Target, builder: Builder, signature: Signature, args: Values
) -> None:
    """Compares vectors of 64 items, with separate code for a sign bit; the result is a word.

    A bit that is flipped on both sides would keep all of both in registers, of which there are too few.
    """
    sides = _sixty_four_pairs(context, builder, signature.args, args)

    def store(less: Value) -> None:
        word = _turned(builder, builder.bitcast(less, _WORD), args[7])
        _store_word(context, builder, signature, args, word)

    is_unsigned = builder.icmp_unsigned("==", args[6], ir.Constant(_WORD, 0))
    with builder.if_else(is_unsigned) as (of_unsigned, of_signed):
        with of_unsigned:
            store(builder.icmp_unsigned("<", *sides))
        with of_signed:
            store(builder.icmp_signed("<", *sides))


@instructions(
    lambda out, place, left, i, right, j, relation, flip: types.none(
        out, types.uint64, left, types.uint64, right, types.uint64, types.uint64, types.uint64
    )
)
def store_less_floats(
    context: Target, builder: Builder, signature: Signature, args: Values
) -> None:
    """As `store_less_integers`, with separate code for each relation."""
    mine, others = _sixty_four_pairs(context, builder, signature.args, args)

    def store(less: Value) -> None:
        word = _turned(builder, builder.bitcast(less, _WORD), args[7])
        _store_word(context, builder, signature, args, word)

    def asked(relation: int) -> Value:
        return builder.icmp_unsigned("==", args[6], ir.Constant(_WORD, relation))

    with builder.if_else(asked(relations.LESS)) as (of_less, of_others):
        with of_less:
            store(builder.fcmp_ordered("<", mine, others))
        with of_others, builder.if_else(asked(relations.LESS_OR_EQUAL)) as (equal, nan):
            with equal:
                store(builder.fcmp_ordered("<=", mine, others))
            with nan:
                below = builder.fcmp_unordered("<", mine, others)
                store(builder.and_(below, builder.fcmp_ordered("ord", mine, mine)))


def _sixty_four_pairs(context: Target, builder: Builder, kinds: Types, args: Values) -> Values:
    """64 items of each of two arrays, which are arguments from the third on."""
    return [_sixty_four(context, builder, kinds, args, k) for k in (2, 4)]


def _sixty_four(context: Target, builder: Builder, kinds: Types, args: Values, k: int) -> Value:
    """A vector of 64 items of an array, from arguments `k` and `k + 1`."""
    data = context.make_array(kinds[k])(context, builder, args[k]).data
    vector = ir.VectorType(data.type.pointee, 64).as_pointer()
    return builder.load(builder.bitcast(builder.gep(data, [args[k + 1]]), vector), align=1)


def _narrowed(builder: Builder, word: Value, item: Value) -> Value:
    """The low bits of a word, as many as an item has bits."""
    return word if item == _WORD else builder.trunc(word, item)


def _turned(builder: Builder, word: Value, flip: Value) -> Value:
    """A word, with each byte combined with `flip` by exclusive or."""
    flips = builder.mul(flip, ir.Constant(_WORD, 0x0101_0101_0101_0101))
    return builder.xor(word, flips)


def _store_word(
    context: Target, builder: Builder, signature: Signature, args: Values, word: Value
) -> None:
    """Stores a word in the first argument, at the position in the second."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    place = builder.bitcast(builder.gep(data, [args[1]]), _WORD.as_pointer())
    builder.store(word, place, align=1)


def _equal_mask(builder: Builder, item: Type, left: Value, right: Value) -> Value:
    is_float = isinstance(item, types.Float)
    compare = builder.fcmp_ordered if is_float else builder.icmp_unsigned
    return builder.bitcast(compare("==", left, right), ir.IntType(left.type.count))


@instructions(
    lambda out, position, address, count: types.none(out, types.uint64, types.uint64, types.uint64)
)
def copy_bytes(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """Up to 64 bytes are copied as two pieces that overlap, more by `memcpy`, whose call costs more."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    target = builder.gep(array.data, [args[1]])
    source = builder.inttoptr(args[2], _BYTE.as_pointer())
    _copy(builder, target, source, args[3])


@instructions(
    lambda out, position, address, count, room: types.none(
        out, types.uint64, types.uint64, types.uint64, types.uint64
    )
)
def copy_bytes_loosely(
    context: Target, builder: Builder, signature: Signature, args: Values
) -> None:
    """Pieces of 32 bytes if there is room for whole ones, else `copy_bytes`."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    target = builder.gep(array.data, [args[1]])
    source = builder.inttoptr(args[2], _BYTE.as_pointer())
    count, room = args[3:]
    needed = builder.add(count, ir.Constant(_WORD, _PIECE))
    roomy = builder.icmp_unsigned("<=", needed, room)
    with builder.if_else(roomy, likely=True) as (loosely, exactly):
        with loosely:
            _copy_whole_pieces(builder, target, source, count, _PIECE)
        with exactly:
            _copy(builder, target, source, count)


def _copy_whole_pieces(
    builder: Builder, target: Value, source: Value, count: Value, size: int
) -> None:
    """Copies whole pieces of `size` bytes, at least one, that cover `count` bytes."""
    before = builder.block
    loop = builder.append_basic_block("piece")
    after = builder.append_basic_block("copied")
    builder.branch(loop)
    builder.position_at_end(loop)
    place = builder.phi(_WORD)
    place.add_incoming(ir.Constant(_WORD, 0), before)
    _copy_pieces(builder, target, source, (place,), ir.VectorType(_BYTE, size))
    following = builder.add(place, ir.Constant(_WORD, size))
    place.add_incoming(following, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, count), loop, after)
    builder.position_at_end(after)


def _copy(builder: Builder, target: Value, source: Value, count: Value) -> None:
    """Copies `count` bytes, with separate code for each power of two."""

    def larger_than(most: int) -> Value:
        return builder.icmp_unsigned(">", count, ir.Constant(_WORD, most))

    with builder.if_else(larger_than(16)) as (long, short):
        with long, builder.if_else(larger_than(32)) as (longer, up_to_32):
            with up_to_32:
                _copy_ends(builder, target, source, count, 16)
            with longer, builder.if_else(larger_than(64)) as (longest, up_to_64):
                with up_to_64:
                    _copy_ends(builder, target, source, count, 32)
                with longest:
                    cgutils.raw_memcpy(builder, target, source, count, 1)
        with short, builder.if_else(larger_than(7)) as (up_to_16, shorter):
            with up_to_16:
                _copy_ends(builder, target, source, count, 8)
            with shorter, builder.if_else(larger_than(3)) as (up_to_7, shortest):
                with up_to_7:
                    _copy_ends(builder, target, source, count, 4)
                with shortest, builder.if_then(larger_than(0)):
                    _copy_up_to_3(builder, target, source, count)


def _copy_ends(builder: Builder, target: Value, source: Value, count: Value, size: int) -> None:
    """Copies the first and the last `size` bytes of `size` to `2 * size` bytes."""
    item = ir.IntType(8 * size) if size <= 8 else ir.VectorType(_BYTE, size)
    last = builder.sub(count, ir.Constant(_WORD, size))
    _copy_pieces(builder, target, source, (ir.Constant(_WORD, 0), last), item)


def _copy_up_to_3(builder: Builder, target: Value, source: Value, count: Value) -> None:
    """Copies the first, the middle and the last of 1 to 3 bytes, which may coincide."""
    one = ir.Constant(_WORD, 1)
    places = (ir.Constant(_WORD, 0), builder.lshr(count, one), builder.sub(count, one))
    _copy_pieces(builder, target, source, places, _BYTE)


def _copy_pieces(
    builder: Builder, target: Value, source: Value, places: Value, item: Value
) -> None:
    """Copies one `item` at each place; all are loaded before the first is stored."""

    def at(start: Value, place: Value) -> Value:
        return builder.bitcast(builder.gep(start, [place]), item.as_pointer())

    loaded = [builder.load(at(source, place), align=1) for place in places]
    for place, piece in zip(places, loaded, strict=True):
        builder.store(piece, at(target, place), align=1)


@instructions(lambda out, position, value, stride: types.none(out, types.uint64, value, stride))
def fill_eight(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """One vector, which LLVM does not make from eight stores by itself."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    item = context.get_data_type(signature.args[0].dtype)
    first, step = (
        context.cast(builder, number, kind, signature.args[0].dtype)
        for number, kind in ((args[2], signature.args[2]), (args[3], signature.args[3]))
    )
    numbers = ir.Constant(_eight(item), [ir.Constant(item, j) for j in range(8)])
    steps = builder.mul(_vector_of(builder, step, 8), numbers)
    vector = builder.add(_vector_of(builder, first, 8), steps)
    _store_eight(builder, vector, builder.gep(array.data, [args[1]]), item)


@instructions(
    lambda out, position, values, source: types.none(out, types.uint64, values, types.uint64)
)
def copy_eight(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """One vector: everything is read before it is written, so the arrays may be the same."""
    target, origin = (
        context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2)
    )
    item = context.get_data_type(signature.args[0].dtype)
    place = builder.gep(origin.data, [args[3]])
    vector = builder.load(builder.bitcast(place, _eight(item).as_pointer()), align=item.width // 8)
    _store_eight(builder, vector, builder.gep(target.data, [args[1]]), item)


def _eight(item: Value) -> ir.VectorType:
    return ir.VectorType(item, 8)


def _vector_of(builder: Builder, value: Value, count: int) -> Value:
    """A vector of `count` copies of a value."""
    nothing = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(_INDEX, 0))
    zeros = ir.Constant(ir.VectorType(_INDEX, count), [0] * count)
    return builder.shuffle_vector(one, nothing, zeros)


def _store_eight(builder: Builder, vector: Value, place: Value, item: Value) -> None:
    where = builder.bitcast(place, _eight(item).as_pointer())
    builder.store(vector, where, align=item.width // 8)


@instructions(types.none(types.uint64))
def prefetch(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """LLVM's `prefetch`, for reading, into all caches."""
    number = ir.IntType(32)
    place = builder.inttoptr(args[0], _BYTE.as_pointer())
    options = (ir.Constant(number, k) for k in (0, 3, 1))
    _called(builder, "llvm.prefetch.p0", ir.VoidType(), place, *options)
