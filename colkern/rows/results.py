"""Results of generated code: the lines that write them, and the columns that they become.

Values with a fixed number per row are written to slots. The items of lists are appended to a sink, as
words; the contents of their texts and inner lists go to sinks of their own. In the first sink, the words of
a text or list then hold its size instead of its address.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import and_bits, packed_bits
from colkern.errors import LimitExceededError, UnsupportedError
from colkern.memory import HOST, Buffer, DType, Items, ItemType
from colkern.operations import cast, list_flatten, nulls, struct_flatten
from colkern.rows import kinds as k
from colkern.rows.columns import LISTS
from colkern.rows.kinds import Kind
from colkern.rows.values import Value, inner, loaded, of_parts
from colkern.targets import Target

_LONG: DType = np.dtype(np.int64)

_FIXED: dict[str, DType] = {
    "bool": np.dtype(np.uint8),
    "Decimal": _LONG,
    "int": _LONG,
    "unsigned": _LONG,
    "float": np.dtype(np.float64),
    "date": np.dtype(np.int32),
    "datetime": _LONG,
    "aware": _LONG,
    "time": _LONG,
    "timedelta": _LONG,
}


@dataclass(frozen=True)
class Slots:
    """Memory that has an item for each row.

    Args:
        name: The loop's parameter.
    """

    name: str
    dtype: ItemType


@dataclass(frozen=True)
class Sink:
    """Memory to which results of any size are appended.

    Args:
        name: The loop's parameter: the address of its three words.
    """

    name: str


Memory = Slots | Sink
Written = dict[str, Items]
"""The items of slots by name, including those of the items of lists, and the bytes of sinks."""


class Output:
    """Writes results of a kind.

    Args:
        name: The prefix of the names of its memory.

    Attributes:
        is_text: Whether it is a text or byte string.
        is_number: Whether it is a single word.
        is_plain: Whether a column has these words as they are written.
        is_nothing: Whether it is always None.
    """

    def __init__(self, kind: Kind, name: str = "r") -> None:
        self.kind = kind
        self.name = name
        self.parts: list[Output] = []
        self.item: Output | None = None
        self.slots: list[Slots] = []
        self.inside = inside = k.present(kind)
        self.is_text = inside in (k.TEXT, k.BYTES)
        self.is_number = inside.name in _FIXED
        self.is_bool = inside == k.BOOL
        self.is_plain = self.is_number and not (self.is_bool or isinstance(inside, k.Decimal))
        self.is_nothing = inside in (k.NONE, k.NEVER)
        self.is_optional = isinstance(kind, k.Optional)
        if self.is_optional:
            self.slots.append(Slots(f"{name}_valid", np.uint8))
        if isinstance(inside, k.Uneven):
            raise UnsupportedError("results that are dictionaries whose keys differ")
        if isinstance(inside, k.Compound) and not inside.items:
            raise UnsupportedError(f"results that are {inside} without fields")
        if isinstance(inside, k.Compound):
            self.parts = [type(self)(item, f"{name}_{n}") for n, item in enumerate(inside.items)]
        elif isinstance(inside, k.Container):
            self.item = type(self)(item_of(inside), f"{name}_item")
        elif self.is_number:
            self.slots.append(Slots(name, _FIXED[inside.name]))
        elif not self.is_nothing and not self.is_text:
            of = "functions or classes" if inside.name == "function" else kind
            remedy = ": declare their type" if isinstance(inside, k.Several) else ""
            raise UnsupportedError(f"results that are {of}{remedy}")

    def below(self) -> Iterator[Output]:
        """Yields this output and all its parts, including those of the items of lists."""
        yield self
        for part in (*self.parts, *filter(None, (self.item,))):
            yield from part.below()

    @property
    def is_one_text(self) -> bool:
        """Whether a row's result is a single text, or bytes, which a body can write to the results."""
        return self.name == "r" and self.is_text

    @property
    def makes(self) -> bool:
        """Whether the arena is used: for lists of the entries of dictionaries and sets."""
        return any(is_hashed(part.inside) for part in self.below())

    @property
    def is_elsewhere(self) -> bool:
        """Whether some results are written outside the slots of rows: texts and lists."""
        return any(part.is_text or part.item is not None for part in self.below())

    def memory(self) -> list[Memory]:
        """Returns all memory that the results use."""
        sinks = [sink for part in self.below() for sink in part.own_sinks()]
        return [*self.row_slots(), *sinks]

    def row_slots(self) -> Iterator[Slots]:
        """Yields the slots that rows have."""
        yield from self.slots
        if self.is_text or self.item is not None:
            yield Slots(f"{self.name}_sizes", np.int64)
        for part in self.parts:
            yield from part.row_slots()

    def own_sinks(self) -> list[Sink]:
        """Returns its own sink, if any."""
        if self.is_text:
            return [Sink(f"{self.name}_data")]
        return [Sink(f"{self.name}_items")] if self.item is not None else []

    # Writing

    def lines(self, value: Value) -> Iterator[str]:
        """Yields the lines that write a value as row `i`; they set `full` if a sink is full."""
        if not isinstance(self.kind, k.Optional):
            yield from self._inside(value)
            return
        yield f"{self.name}_valid[i] = 0 if {value.none} else 1"
        lines = list(self._inside(inner(value)))
        if self.is_elsewhere and lines:
            yield f"if not {value.none}:"
            lines = ["    " + line for line in lines]
        yield from lines

    def checks(self, value: Value) -> Iterator[str]:
        """Yields tests for values that the memory cannot hold: such rows are left to Python."""
        there = f"not {value.none} and " if isinstance(self.kind, k.Optional) else ""
        value = inner(value)
        if isinstance(self.inside, k.Decimal):
            yield f"({there}not is_of_scale({value.code}, {self.inside.scale}))"
        if self.item is not None and self.item.checks_of("place"):
            yield f"({there}not fits_{self.name}(arena, {value.code}))"
        for part, item in zip(self.parts, value.items, strict=False):
            yield from (f"({there}{test})" for test in part.checks(item))

    def checks_of(self, place: str) -> list[str]:
        """Returns the `checks` of an item at a place."""
        return list(self.checks(of_parts(self.kind, loaded(self.kind, place))))

    def _inside(self, value: Value) -> Iterator[str]:
        if self.is_text:
            yield f"full |= put({self.name}_data, {value.code}.address, {value.code}.size) == 0"
            yield f"{self.name}_sizes[i] = {value.code}.size"
        elif self.item is not None:
            yield f"full |= not {self._put_list(value.code)}"
            yield f"{self.name}_sizes[i] = list_size({value.code})"
        elif self.parts:
            for part, item in zip(self.parts, value.items, strict=True):
                yield from part.lines(item)
        elif self.is_number:
            code = f"1 if {value.code} else 0" if self.is_bool else value.code
            if isinstance(self.inside, k.Decimal):
                code = f"of_scale({code}, {self.inside.scale})"
            yield f"{self.name}[i] = {code}"

    def _list_sinks(self) -> list[str]:
        """Returns the sinks of its lists."""
        return [sink.name for part in self.below() for sink in part.own_sinks()]

    def _put_list(self, code: str) -> str:
        return f"put_{self.name}({', '.join(('arena', code, *self._list_sinks()))})"

    def functions(self) -> dict[str, str]:
        """Returns the functions that append lists, by name."""
        helpers: dict[str, str] = {}
        for part in reversed(list(self.below())):
            if part.item is not None:
                helpers[f"put_{part.name}"] = part._putter(part.item)
                if tests := part.item.checks_of("place"):
                    helpers[f"fits_{part.name}"] = part._fitter(part.item, tests)
        return helpers

    def _fitter(self, item: Output, tests: list[str]) -> str:
        lines = [
            f"def fits_{self.name}(arena, header):",
            *self._listing("True"),
            "    place = get_word(header)",
            "    for _ in range(list_size(header)):",
            f"        if {' or '.join(tests)}:",
            "            return False",
            f"        place += {8 * item.kind.words}",
        ]
        return "\n".join([*lines, "    return True", ""])

    def _putter(self, item: Output) -> str:
        size = 8 * item.kind.words
        lines = [
            f"def put_{self.name}({', '.join(('arena', 'header', *self._list_sinks()))}):",
            *self._listing("False"),
            "    count = list_size(header)",
            f"    word = put({self.name}_items, get_word(header), count * {size})",
            "    if word == 0:",
            "        return False",
        ]
        settled = list(item._settled("word", 0))
        if settled:
            lines += ["    for _ in range(count):", *("        " + line for line in settled)]
            lines += [f"        word += {size}"]
        return "\n".join([*lines, "    return True", ""])

    def _listing(self, without_room: str) -> list[str]:
        """Returns lines that list the entries of a dictionary or set; others have their items in order."""
        if not is_hashed(self.inside):
            return []
        listed = f"    header = {self.listed('header')}"
        return [listed, "    if header == 0:", f"        return {without_room}"]

    def listed(self, code: str) -> str:
        """Returns code for a list of the items of a list, dictionary or set; 0 if the arena has no room."""
        if not is_hashed(self.inside):
            return code
        assert isinstance(self.inside, k.Container)
        key, *value = (item.words for item in self.inside.items)
        return f"list_of_entries(arena, {key}, {sum(value)}, {code})"

    def _settled(self, place: str, at: int) -> Iterator[str]:
        """Yields lines that append an item's texts and lists; its words begin `at` bytes after a place."""
        if isinstance(self.kind, k.Optional):
            there = list(self._settled_inside(place, at + 8))
            if there:
                yield f"if get_word({place} + {at}) == 0:"
                yield from ("    " + line for line in there)
                yield "else:"
                yield from ("    " + line for line in self._empty(place, at))
            return
        yield from self._settled_inside(place, at)

    def _settled_inside(self, place: str, at: int) -> Iterator[str]:
        if self.is_text:
            shift = " >> 1" if self.inside == k.TEXT else ""
            size = f"get_word({place} + {at + 8}){shift}"
            yield f"if put({self.name}_data, get_word({place} + {at}), {size}) == 0:"
            yield "    return False"
            yield f"set_word({place} + {at}, {size})"
        elif self.item is not None:
            list_ = f"get_word({place} + {at})"
            yield f"if not {self._put_list(list_)}:"
            yield "    return False"
            yield f"set_word({place} + {at}, list_size({list_}))"
        for part in self.parts:
            yield from part._settled(place, at)
            at += 8 * part.kind.words

    def _empty(self, place: str, at: int) -> Iterator[str]:
        """Yields lines that set undefined words of a None to 0: the sizes of texts and lists."""
        at += 8 * isinstance(self.kind, k.Optional)
        if self.is_text or self.item is not None:
            yield f"set_word({place} + {at}, 0)"
        for part in self.parts:
            yield from part._empty(place, at)
            at += 8 * part.kind.words

    # Columns

    def spread(self, target: Target, written: Written) -> None:
        """Give the items of lists slots of their own, from their words in the sinks."""
        for part in self.below():
            if part.item is not None:
                words = written[f"{part.name}_items"].view(np.int64)
                count = part.item.kind.words
                rows = words.reshape(-1, count) if count else words.reshape(0, 1)
                part.item.of_words(target, rows, 0, None, written)

    def of_words(
        self, target: Target, words: Items, at: int, there: Items | None, written: Written
    ) -> None:
        """Sets the slots of items from their words, a row for each; its part begins at column `at`."""
        if isinstance(self.kind, k.Optional):
            valid = written[f"{self.name}_valid"] = words[:, at] == 0
            there = valid if there is None else valid & there
            at += 1
        if self.is_text or self.item is not None:
            self._of_sizes(target, words[:, at:], there, written)
        elif isinstance(self.inside, k.Decimal):
            known = words[:, at : at + 2]
            known = known if there is None else known * there[:, None]
            written[self.name] = self._rescaled(known[:, 0], known[:, 1])
        elif self.is_number:
            written[self.name] = self._numbers(words[:, at])
        for part in self.parts:
            part.of_words(target, words, at, there, written)
            at += part.kind.words

    def _of_sizes(
        self, target: Target, words: Items, there: Items | None, written: Written
    ) -> None:
        """Writes the sizes of texts or lists, which are the first word of each."""
        written[f"{self.name}_sizes"] = words[:, 0].copy()

    def _numbers(self, words: Items) -> Items:
        """Returns numbers from the words of items."""
        dtype = _FIXED[self.inside.name]
        if self.inside.name == "unsigned":
            # Items of lists have their highest bit flipped, see `stored`.
            return words ^ np.int64(-(1 << 63))
        is_float = self.inside.name == "float"
        return words.copy().view(dtype) if is_float else words.astype(dtype)

    def _rescaled(self, numbers: Items, exponents: Items) -> Items:
        """Returns the coefficients of decimals in lists, at the common scale that `checks` has tested."""
        assert isinstance(self.inside, k.Decimal)
        places = exponents + (self.inside.scale or 0)
        up, down = (10 ** np.clip(sign * places, 0, 18) for sign in (1, -1))
        rescaled: Items = numbers * up // down
        return rescaled

    def array(
        self,
        target: Target,
        written: Mapping[str, Items],
        length: int,
        type_: s.DataType,
        validity: Buffer | None = None,
        missing: int = 0,
    ) -> Array:
        """Returns the results as an array, in the memory where they were written.

        Args:
            written: The written items, with the slots of the items of lists.
            type_: The type, from `type_of`.
            validity: A bitmap of the slots that may have a value; None for all.
            missing: The number of other slots.

        Raises:
            LimitExceededError: If there is more than offsets reach.
        """
        if self.is_optional:
            valid = written[f"{self.name}_valid"]
            absent = length - _count(target, valid)
            if absent and validity is not None:
                validity, missing = and_bits(validity, 0, _bits(target, valid), 0, length)
            elif absent:
                validity, missing = _bits(target, valid), absent
        if self.is_nothing:
            return nulls(length, s.null(), target.device)
        if self.is_plain:
            return Array.of_valid(
                type_, length, (validity, target.buffer(written[self.name])), missing
            )
        buffers, children = [validity], []
        if self.parts:
            for part, field in zip(self.parts, type_.fields, strict=True):
                children.append(part.array(target, written, length, field.type))
        elif self.is_text or self.item is not None:
            sizes = written[f"{self.name}_sizes"]
            offsets, total = _offsets(target, sizes, type_)
            buffers.append(offsets)
            if self.item is None:
                buffers.append(target.buffer(written[f"{self.name}_data"]))
            else:
                children.append(self.item.array(target, written, total, type_.fields[0].type))
        else:
            items = written[self.name]
            buffers.append(_bits(target, items) if self.is_bool else target.buffer(items))
        written_type = type_
        if isinstance(type_, s.Decimal):
            written_type = s.decimal64(s.MAX_DECIMAL_PRECISION[64], type_.scale)
        column = Array.of_valid(written_type, length, buffers, missing, children)
        return column if column.type is type_ else cast(column, type_)


def item_of(kind: k.Container) -> Kind:
    """Returns the kind of the items of the list that a list, set or dictionary becomes."""
    return k.tuple_of(kind.items, ("key", "value")) if kind.name == "dict" else kind.items[0]


def is_hashed(kind: Kind) -> bool:
    """Whether a value is a dictionary or a set."""
    return isinstance(kind, k.Container) and kind.name in ("dict", "set")


def _count(target: Target, flags: Items) -> int:
    """Returns the number of items that are not 0."""
    if target.device == HOST:
        return int(np.count_nonzero(flags))
    return target.total(flags.astype(np.int64))


def _bits(target: Target, flags: Items) -> Buffer:
    """Returns a bitmap of items of a byte (uint8 or bool) that are 0 or 1."""
    return packed_bits(target, flags)


def require_reach(size: int, type_: s.DataType) -> None:
    """Refuse more bytes or items than 32-bit offsets reach.

    Raises:
        LimitExceededError: If there are more.
    """
    if size > MOST_REACHED:
        raise LimitExceededError(
            f"results of {size} bytes or items exceed the offsets of {type_}: declare a large type, as "
            f"in returns=ck.large_utf8()"
        )


MOST_REACHED = 2**31 - 1
"""The largest offset of 32 bits."""


def _offsets(target: Target, sizes: Items, type_: s.DataType) -> tuple[Buffer, int]:
    """Returns the offsets of slots of a type, from their sizes, and the last offset."""
    is_large = isinstance(type_, s.LargeUtf8 | s.LargeBinary | s.LargeList)
    offsets, total = target.running_sum(sizes, np.int64 if is_large else np.int32)
    if not is_large:
        require_reach(total, type_)
    return target.buffer(offsets), total


def require_values(name: str, results: Array) -> None:
    """Refuse None for fields that are declared not nullable.

    Raises:
        ValueError: If there is one; names its field and its row.
    """
    field = _missing(results) if results.children and _has_required(results.type) else None
    if field is not None:
        rows = range(results.length)
        row = bisect_left(rows, True, key=lambda n: _missing(results.slice(0, n + 1)) is not None)
        error = ValueError(f"{name}: None for {field!r}, which is declared not nullable")
        error.add_note(f"{name}: row {row}")
        raise error


def _fields(type_: s.DataType) -> Sequence[s.Field]:
    return type_.storage.fields if isinstance(type_.storage, (s.Struct, *LISTS)) else ()


def _has_required(type_: s.DataType) -> bool:
    return any(not field.nullable or _has_required(field.type) for field in _fields(type_))


def _missing(array: Array) -> str | None:
    """Returns the first field that is not nullable, but null in a valid slot."""
    nested = isinstance(array.type.storage, s.Struct)
    if not _has_required(array.type):
        return None
    parts = struct_flatten(array) if nested else [list_flatten(array)]
    for field, part in zip(_fields(array.type), parts, strict=True):
        # Below a null struct, a field is null, too.
        if not field.nullable and part.null_count > (array.null_count if nested else 0):
            return field.name
        if inner_field := _missing(part):
            return inner_field
    return None
