"""Arrays, record batches and streams of batches: buffers with a type.

`Array` is one class for every layout; what it has follows from `colkern.layouts`. Nothing here reads
a value: methods that do (`to_pylist`, `null_count`, `validate`, `take` …) are spellings of functions
in the layers above, imported when they are called.

Columnar format 1.5: "Physical Memory Layout"; "Encapsulated message format" for batches.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.forks import Lock
from colkern.integers import integer
from colkern.layouts import Extent, Layout, Role, layout
from colkern.memory import HOST, Buffer, Device
from colkern.names import PublicNames
from colkern.schema import DataType, Dictionary, Field, Schema, same_type

if TYPE_CHECKING:
    from colkern.operations.value_checks import TypeRule

UNKNOWN = -1

# In the place of a column's position: the lock for all of them.
_ALL_COLUMNS = -1


class Array(PublicNames):
    """A column: `length` values of one type, from slot `offset` of its buffers on. Immutable.

    Args:
        type: The data type.
        length: The number of values.
        buffers: As `layout(type)` lists them; None for an absent one. A variadic layout has its
            data buffers after the fixed ones.
        children: The child arrays, for nested types.
        dictionary: The values, for a dictionary type.
        offset: The slot where the array starts; buffers and children are not cut.
        null_count: The number of nulls, or `UNKNOWN` (-1) to have it counted when asked for.

    Raises:
        TypeError: If length, offset or null count is no integer.
        InvalidArrowError: If a count does not fit the layout, a child or the dictionary has another
            type (see `colkern.schema.same_type`), or a buffer is too small for `offset + length`
            slots. What only a look at the bytes can tell is left to `validate`.
    """

    __slots__ = (
        "_checked",
        "_device_record",
        "_kept_items",
        "_make_buffers",
        "_null_count",
        "_place",
        "_record",
        "_stated_null_count",
        "buffers",
        "children",
        "dictionary",
        "layout",
        "length",
        "offset",
        "type",
    )

    _device_record: Any
    _make_buffers: Callable[[int], tuple[Buffer | None, ...]] | None
    _place: int
    _stated_null_count: int
    # What compiled code is handed (colkern.jit.views.records), once it has been.
    _record: Any

    def __init__(
        self,
        type: DataType,
        length: int,
        buffers: Sequence[Buffer | None],
        children: Sequence[Array] = (),
        dictionary: Array | None = None,
        offset: int = 0,
        null_count: int = UNKNOWN,
    ) -> None:
        # On the way of every array, which most often has Python's own integers.
        if not length.__class__ is offset.__class__ is null_count.__class__ is int:
            length, offset = integer(length, "length"), integer(offset, "offset")
            null_count = integer(null_count, "null_count")
        self.type = type
        self.layout: Layout = layout(type)
        self.length = length
        self.buffers = tuple(buffers)
        self.children = tuple(children)
        self.dictionary = dictionary
        self.offset = offset
        self._null_count = null_count
        # Set by colkern.operations once the bytes have been checked; see `validate`.
        self._checked = False
        self._kept_items: tuple[Role, Any] | None = None
        self._check_shape()

    @classmethod
    def late(
        cls,
        type: DataType,
        layout: Layout,
        length: int,
        null_count: int,
        make_buffers: Callable[[int], tuple[Buffer | None, ...]],
        place: int,
    ) -> Array:
        """An array whose buffers are made by `make_buffers(place)` when they are first asked for.

        For types without children and dictionary; the caller has checked counts and sizes. Readers make
        arrays by the ten thousand, and each further object would cost the garbage collector its time.
        """
        array = cls.__new__(cls)
        array.type = type
        array.layout = layout
        array.length = length
        array.children = ()
        array.dictionary = None
        array.offset = 0
        array._null_count = null_count
        array._checked = False
        array._kept_items = None
        array._make_buffers = make_buffers
        array._place = place
        return array

    @classmethod
    def of_valid(
        cls,
        type: DataType,
        length: int,
        buffers: tuple[Buffer | None, ...],
        null_count: int = UNKNOWN,
    ) -> Array:
        """An array that is valid by construction: nothing is looked at, here or by `require_valid`.

        For what kernels have written, of types without children and dictionary.
        """
        array = cls.__new__(cls)
        array.type = type
        array.layout = layout(type)
        array.length = length
        array.buffers = buffers
        array.children = ()
        array.dictionary = None
        array.offset = 0
        array._null_count = null_count
        array._checked = True
        array._kept_items = None
        return array

    def __getattr__(self, name: str) -> Any:
        # Called for what is not there: the buffers of a `late` array.
        if name != "buffers":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        make = self._make_buffers
        if make is not None:
            self.buffers = make(self._place)
            # What it holds on to is not needed any more. Another thread may be here too.
            self._make_buffers = None
        return self.buffers

    def __reduce__(self) -> tuple[Any, ...]:
        # A slice shares the whole buffers; another process is sent no more than its values.
        from colkern.operations.trimming.surplus import without_surplus

        own = without_surplus(self)
        parts = (own.buffers, own.children, own.dictionary, own.offset, own._null_count)
        return Array, (own.type, own.length, *parts)

    def _check_shape(self) -> None:
        # On the way of every array: no call where there is nothing to look at.
        rule, buffers, slots = self.layout, self.buffers, self.offset + self.length
        if self.length < 0 or self.offset < 0:
            raise InvalidArrowError(f"negative length {self.length} or offset {self.offset}")
        if slots >> 63:
            raise InvalidArrowError(f"{slots} slots: length and offset have 63 bits together")
        if not UNKNOWN <= self._null_count <= self.length:
            raise InvalidArrowError(f"null count {self._null_count} of {self.length} slots")
        fixed, given = len(rule.buffers), len(buffers)
        if given < fixed or (given > fixed and not rule.variadic):
            raise InvalidArrowError(f"{self.type}: {given} buffers where the layout has {fixed}")
        self._check_parts()
        if self._null_count > 0 and rule.has_validity and buffers[0] is None:
            raise InvalidArrowError(f"{self.type}: {self._null_count} nulls without a bitmap")
        for spec, buffer in zip(rule.buffers, buffers, strict=False):
            size = 0 if buffer is None else buffer.array.size
            # Zero slots need zero bytes.
            if 8 * size < slots * spec.slot_bits + spec.extra_bits and slots:
                if buffer is None and spec.role is Role.VALIDITY:
                    continue
                raise InvalidArrowError(
                    f"{self.type}: {spec.role.value} buffer has {size} bytes, "
                    f"{slots} slots need {spec.min_bytes(slots)}"
                )

    def _check_parts(self) -> None:
        # Whoever is handed the array reads children and dictionary by the types that it declares.
        fields = self.type.fields
        if len(self.children) != len(fields):
            raise InvalidArrowError(
                f"{self.type}: {len(self.children)} children for {len(fields)} fields"
            )
        for child, field in zip(self.children, fields, strict=True):
            if not same_type(child.type, field.type):
                raise InvalidArrowError(f"{self.type}: child of {child.type} under {field}")
        dictionary = self.dictionary
        if self.layout.has_dictionary != (dictionary is not None):
            has = "no" if dictionary is None else "a"
            raise InvalidArrowError(f"{self.type}: {has} dictionary")
        if dictionary is not None:
            storage = self.type.storage
            assert isinstance(storage, Dictionary)
            if not same_type(dictionary.type, storage.value_type):
                raise InvalidArrowError(f"{self.type}: dictionary of {dictionary.type}")

    @property
    def device(self) -> Device:
        """Where the bytes live: the device of the first buffer there is, here or below; else the host."""
        return self._device_of_bytes() or HOST

    def _device_of_bytes(self) -> Device | None:
        for buffer in self.buffers:
            if buffer is not None:
                return buffer.device
        for part in (*self.children, self.dictionary):
            found = None if part is None else part._device_of_bytes()
            if found is not None:
                return found
        return None

    def buffer(self, role: Role) -> Buffer | None:
        """The buffer of that role, or None if the array goes without it.

        Raises:
            KeyError: If the layout has no such buffer.
        """
        return self.buffers[self.layout.position(role)]

    def items(self, role: Role) -> Any:
        """The items of a buffer that belong to the array's own slots, as a NumPy (or CuPy) array.

        For offsets of a `slots + 1` layout that is `length + 1` items. Not copied, unless misaligned.
        Bitmaps start at a byte, not at a slot: take them whole with `buffer`. An absent or empty
        offsets buffer of an empty array gives its one offset, 0.
        """
        # What was asked for last is kept: most arrays are asked for the same again and again.
        kept = self._kept_items
        if kept is not None and kept[0] is role:
            return kept[1]
        position = self.layout.position(role)
        spec, buffer = self.layout.buffers[position], self.buffers[position]
        if self.length == 0 or buffer is None:
            return self._no_items(int(spec.extent is Extent.SLOTS_AND_ONE), spec.dtype)
        found = buffer.view(spec.dtype, spec.items(self.length), self.offset * spec.dtype.itemsize)
        self._kept_items = (role, found)
        return found

    def _no_items(self, count: int, dtype: np.dtype[Any]) -> Any:
        """The items of an absent buffer, on the device of the others: that many zeros."""
        if self.device != HOST:
            from colkern.operations.targets import target_of

            return target_of(self.device).table([0] * count, dtype)
        none = np.zeros(count, dtype)
        none.flags.writeable = False
        return none

    @property
    def data_buffers(self) -> tuple[Buffer | None, ...]:
        """The variadic data buffers of a view layout; empty for the others."""
        return self.buffers[len(self.layout.buffers) :] if self.layout.variadic else ()

    @property
    def known_null_count(self) -> int:
        """The null count if it is known without counting, else `UNKNOWN`."""
        return self._null_count

    @property
    def stated_null_count(self) -> int:
        """What whoever made the array says of its null count, or `UNKNOWN`; `validate` compares."""
        return getattr(self, "_stated_null_count", self._null_count)

    def note_null_count(self, stated: int) -> None:
        """Keep what a producer states of an array without a bitmap, where the count is not its to say."""
        self._stated_null_count = stated

    @property
    def null_count(self) -> int:
        """How many slots are null by this array's own validity bitmap (all, for type null)."""
        if self._null_count == UNKNOWN:
            from colkern.operations import null_count

            self._null_count = null_count(self)
        return self._null_count

    def __len__(self) -> int:
        return self.length

    def slice(self, offset: int, length: int | None = None) -> Array:
        """`length` values from `offset` on (all that follow, if None), in O(1); nothing is copied.

        Raises:
            TypeError: If one of them is no integer.
            IndexError: If `offset` is negative or past the end, or `length` negative. A length that
                reaches past the end is cut.
        """
        offset = integer(offset, "offset")
        length = None if length is None else integer(length, "length")
        if not 0 <= offset <= self.length or (length is not None and length < 0):
            raise IndexError(f"slice({offset}, {length}) of {self.length} values")
        count = self.length - offset if length is None else min(length, self.length - offset)
        whole = count == self.length
        nulls = self._null_count if whole or self._null_count == 0 else UNKNOWN
        part = Array(
            self.type,
            count,
            self.buffers,
            self.children,
            self.dictionary,
            self.offset + offset,
            nulls,
        )
        part._checked = self._checked
        return part

    def __getitem__(self, key: int | builtins.slice) -> Any:
        """One value as a Python object, or a slice with step 1 as an array.

        Raises:
            TypeError: If the key is neither an integer nor a slice.
            IndexError: If there is no such value.
        """
        if isinstance(key, slice):
            start, stop, step = key.indices(self.length)
            if step != 1:
                raise ValueError("key: arrays are sliced with a step of 1; use take for others")
            return self.slice(start, max(stop - start, 0))
        position = _position(key, "a position or a slice", "array")
        if not -self.length <= position < self.length:
            raise IndexError(f"index {position} of {self.length} values")
        return self.slice(position % self.length, 1).to_pylist()[0]

    def __iter__(self) -> Iterator[Any]:
        """The values as Python objects, decoded in batches."""
        step = 4096
        for start in range(0, self.length, step):
            yield from self.slice(start, step).to_pylist()

    def to_pylist(self) -> list[Any]:
        """The values as Python objects; see `colkern.values.to_pylist`."""
        from colkern.values import to_pylist

        return to_pylist(self)

    def equals(self, other: Array) -> bool:
        """Whether both have the same type and the same values; see `colkern.equality.equals`."""
        from colkern.equality import equals

        return equals(self, other)

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, Array) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def validate(self, *, full: bool = False, skip: Collection[TypeRule] = ()) -> None:
        """Check the array against the format; see `colkern.operations.validate`."""
        from colkern.operations import validate

        validate(self, full=full, skip=skip)

    def __repr__(self) -> str:
        from colkern.display import array_repr

        return array_repr(self)

    @property
    def _numba_type_(self) -> Any:
        """What compiled functions take it as: see `colkern.jit`. Not copied."""
        from colkern.jit.views.columns import column_type

        return column_type(self.type)

    def __arrow_c_schema__(self) -> Any:
        """The type as an `arrow_schema` capsule (Arrow PyCapsule interface)."""
        from colkern.interchange import export_schema

        return export_schema(self.type)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """The array as `arrow_schema` and `arrow_array` capsules; nothing is copied."""
        from colkern.interchange import export_array

        return export_array(self, requested_schema)

    def __arrow_c_device_array__(
        self, requested_schema: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        """The array as `arrow_schema` and `arrow_device_array` capsules; nothing is copied."""
        from colkern.interchange import export_device_array

        return export_device_array(self, requested_schema, **kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The values for NumPy; see `colkern.values.to_numpy`."""
        from colkern.values import to_numpy

        return to_numpy(self, dtype, copy)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The values as a DLPack tensor; see `colkern.memory.dlpack_capsule`. Not copied.

        Raises:
            BufferError: If the array is not of integers or floats, has nulls, or the consumer's wishes
                cannot be met.
        """
        from colkern.interchange import export_tensor

        return export_tensor(
            self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind of the device, by DLPack's numbers, and which one of them."""
        from colkern.interchange.device_types import CPU, CUDA

        device = self.device
        return (CPU if device.kind == "cpu" else CUDA), device.ordinal

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The values by the CUDA array interface, version 3. Not copied.

        Absent, as an attribute, on the host, and for an array that is not of integers or floats or has
        nulls; `colkern.interchange.cuda_array_interface` says which of it.
        """
        from colkern.interchange import cuda_array_interface

        try:
            return cuda_array_interface(self)
        except UnsupportedError as error:
            raise AttributeError(str(error)) from None


class RecordBatch(PublicNames):
    """Columns of one length under a schema. Columns may be decoded as late as when asked for.

    Args:
        schema: The schema.
        columns: One array a field, of the field's type (see `colkern.schema.same_type`).
        length: The number of rows; needed where there are no columns.
        metadata: Key-value pairs of bytes that came with the batch.
    """

    __slots__ = (
        "_columns",
        "_load",
        "_load_many",
        "_loading",
        "_record",
        "length",
        "metadata",
        "schema",
    )

    # What compiled code is handed (colkern.jit.views.records), once it has been.
    _record: Any

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[Array],
        length: int | None = None,
        metadata: Mapping[bytes, bytes] | None = None,
    ) -> None:
        if len(columns) != len(schema):
            raise ValueError(f"columns: {len(columns)} arrays for {len(schema)} fields")
        if length is None:
            length = len(columns[0]) if columns else 0
        self.length = integer(length, "length")
        if self.length < 0:
            raise ValueError(f"length: must not be negative, got {length}")
        for field, column in zip(schema, columns, strict=True):
            _check_column(field, column, self.length)
        self.schema = schema
        self.metadata = metadata
        self._columns: list[Array | None] = list(columns)
        self._load: Callable[[int], Array] | None = None
        self._load_many: Callable[[list[int]], list[Array]] | None = None
        # A lock for each column that is being made.
        self._loading: dict[int, Lock] = {}

    @classmethod
    def lazy(
        cls,
        schema: Schema,
        length: int,
        load: Callable[[int], Array],
        metadata: Mapping[bytes, bytes] | None = None,
        load_many: Callable[[list[int]], list[Array]] | None = None,
    ) -> RecordBatch:
        """A batch whose column `i` is made by `load(i)` when it is first asked for, by any thread.

        Where all columns are asked for, `load_many` makes those that are not there yet, if it is given;
        it answers for their types and lengths.
        """
        batch = cls.__new__(cls)
        batch.schema = schema
        batch.length = length
        batch.metadata = metadata
        batch._columns = [None] * len(schema)
        batch._load = load
        batch._load_many = load_many
        batch._loading = {}
        return batch

    @classmethod
    def from_arrays(cls, arrays: Sequence[Array], names: Sequence[str]) -> RecordBatch:
        """A batch of nullable columns with those names."""
        if len(arrays) != len(names):
            raise ValueError(f"names: {len(names)} names for {len(arrays)} arrays")
        pairs = [(name, array.type) for name, array in zip(names, arrays, strict=True)]
        return cls(Schema(pairs), arrays)

    def column(self, key: int | str) -> Array:
        """The column at a position or of a name; `KeyError` or `IndexError` if there is none."""
        position = self.schema.index(key)
        column = self._columns[position]
        return self._loaded(position) if column is None else column

    def _loaded(self, position: int) -> Array:
        with self._loading.setdefault(position, Lock()):
            # Another thread may have made it meanwhile.
            column = self._columns[position]
            if column is None:
                assert self._load is not None
                column = self._load(position)
                _check_column(self.schema.field(position), column, self.length)
                self._columns[position] = column
        return column

    @overload
    def __getitem__(self, key: int | str) -> Array: ...
    @overload
    def __getitem__(self, key: builtins.slice) -> RecordBatch: ...
    def __getitem__(self, key: int | str | builtins.slice) -> Array | RecordBatch:
        """A column by position or name, or rows by a slice with step 1; nothing is copied."""
        if not isinstance(key, slice):
            if not isinstance(key, str):
                key = _position(key, "a position, a name or a slice of rows", "batch")
            return self.column(key)
        start, stop, step = key.indices(self.length)
        if step != 1:
            raise ValueError("key: batches are sliced with a step of 1; use take for others")
        return self.slice(start, max(stop - start, 0))

    @property
    def columns(self) -> list[Array]:
        """All columns, decoded."""
        if self._load_many is not None:
            with self._loading.setdefault(_ALL_COLUMNS, Lock()):
                self._load_missing()
        return [self.column(i) if c is None else c for i, c in enumerate(self._columns)]

    def _load_missing(self) -> None:
        load_many = self._load_many
        if load_many is None:
            return
        missing = [i for i, column in enumerate(self._columns) if column is None]
        for position, column in zip(missing, load_many(missing), strict=True):
            # Another thread may have asked for this one alone meanwhile.
            if self._columns[position] is None:
                self._columns[position] = column
        self._load_many = None

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self.length

    @property
    def num_columns(self) -> int:
        """The number of columns."""
        return len(self.schema)

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Array]:
        """The columns."""
        return iter(self.columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refused, in words for NumPy and pandas: columns have types of their own."""
        raise no_numpy_array(self)

    def slice(self, offset: int, length: int | None = None) -> RecordBatch:
        """`length` rows from `offset` on; as lazy as this batch, and nothing is copied.

        Raises:
            TypeError: If one of them is no integer.
            IndexError: If `offset` is negative or past the end, or `length` negative.
        """
        offset = integer(offset, "offset")
        length = None if length is None else integer(length, "length")
        if not 0 <= offset <= self.length or (length is not None and length < 0):
            raise IndexError(f"slice({offset}, {length}) of {self.length} rows")
        count = self.length - offset if length is None else min(length, self.length - offset)
        return RecordBatch.lazy(
            self.schema, count, lambda i: self.column(i).slice(offset, count), self.metadata
        )

    def select(self, keys: Iterable[int | str]) -> RecordBatch:
        """The columns at those positions or of those names, in that order; none is decoded."""
        positions = [self.schema.index(key) for key in keys]
        chosen = Schema(tuple(self.schema.fields[p] for p in positions), self.schema.metadata)
        return RecordBatch.lazy(
            chosen, self.length, lambda i: self.column(positions[i]), self.metadata
        )

    def to_pydict(self) -> dict[str, list[Any]]:
        """Name → values as Python objects; of fields with one name, the last is kept."""
        return {
            field.name: column.to_pylist()
            for field, column in zip(self.schema, self.columns, strict=True)
        }

    def to_pylist(self) -> list[dict[str, Any]]:
        """One dict of values a row."""
        columns = self.to_pydict()
        return [{name: values[i] for name, values in columns.items()} for i in range(self.length)]

    def equals(self, other: RecordBatch) -> bool:
        """Whether names and columns are equal; metadata and `nullable` of fields are not compared."""
        return (
            self.length == other.length
            and self.schema.names == other.schema.names
            and all(a.equals(b) for a, b in zip(self.columns, other.columns, strict=True))
        )

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, RecordBatch) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def validate(self, *, full: bool = False, skip: Collection[TypeRule] = ()) -> None:
        """Check every column; see `colkern.operations.validate`."""
        from colkern.operations import validate

        validate(self, full=full, skip=skip)

    def __repr__(self) -> str:
        from colkern.display import batch_repr

        return batch_repr(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordBatch, (self.schema, self.columns, self.length, self.metadata)

    @property
    def _numba_type_(self) -> Any:
        """What compiled functions take it as: see `colkern.jit`. Not copied."""
        from colkern.jit.views.columns import batch_type

        return batch_type(self.schema)

    def __arrow_c_schema__(self) -> Any:
        """The schema as an `arrow_schema` capsule (Arrow PyCapsule interface)."""
        from colkern.interchange import export_schema

        return export_schema(self.schema)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """The batch as the capsules of a struct array; nothing is copied."""
        from colkern.interchange import export_batch

        return export_batch(self, requested_schema)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The batch as the one of an `arrow_array_stream` capsule; nothing is copied."""
        return RecordBatchStream(self.schema, (self,)).__arrow_c_stream__(requested_schema)

    def __arrow_c_device_array__(
        self, requested_schema: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        """The batch as the capsules of a struct array on its device; nothing is copied."""
        from colkern.interchange import export_device_batch

        return export_device_batch(self, requested_schema, **kwargs)


def _position(key: Any, expected: str, what: str) -> int:
    """A key that is an integer; the `TypeError` for others names what masks and positions are for."""
    try:
        return integer(key, "key")
    except TypeError:
        raise TypeError(
            f"key: expected {expected}, got {type(key).__name__}; colkern.filter({what}, mask) keeps what "
            f"a mask has True for, colkern.take({what}, positions) what stands at positions"
        ) from None


def no_numpy_array(obj: Any) -> TypeError:
    """The error of whoever asks for a table as one array."""
    return TypeError(
        f"a {type(obj).__name__} is a table, not one array: take a column of a batch, or make a data "
        "frame with pandas.DataFrame.from_arrow, polars.DataFrame or pyarrow.table"
    )


def cannot_be_pickled(obj: Any) -> TypeError:
    """The error of whoever pickles or copies what reads an open source."""
    return TypeError(
        f"a {type(obj).__name__} cannot be pickled or copied, since it reads an open source: pickle its "
        "batches, or open the source where they are needed"
    )


def _check_column(field: Field, column: Array, length: int) -> None:
    if not same_type(column.type, field.type):
        raise InvalidArrowError(f"array of {column.type} under {field}", place=field.name)
    if column.length != length:
        raise InvalidArrowError(f"{column.length} values in {length} rows", place=field.name)


class RecordBatchStream(PublicNames):
    """A schema and an iterator over batches of it; can be consumed once.

    Args:
        schema: The schema of every batch.
        batches: The batches.
        device: Where their bytes are; None if only they know.
    """

    def __init__(
        self, schema: Schema, batches: Iterable[RecordBatch], device: Device | None = None
    ) -> None:
        self.schema = schema
        self.device = device
        self._batches = iter(batches)
        # What compiled code was handed of it, kept alive while that runs.
        self._record: Any = None

    def __iter__(self) -> Iterator[RecordBatch]:
        return self._batches

    def __next__(self) -> RecordBatch:
        return next(self._batches)

    def read_all(self) -> list[RecordBatch]:
        """All batches that are left."""
        return list(self._batches)

    def __reduce__(self) -> Any:
        raise cannot_be_pickled(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refused, in words for NumPy and pandas, which would make an array of batches."""
        raise no_numpy_array(self)

    @property
    def _numba_type_(self) -> Any:
        """What compiled functions take it as: see `colkern.jit`. Not copied."""
        from colkern.jit.views.columns import stream_type

        return stream_type(self.schema)

    def __arrow_c_schema__(self) -> Any:
        """The schema as an `arrow_schema` capsule (Arrow PyCapsule interface)."""
        from colkern.interchange import export_schema

        return export_schema(self.schema)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The batches as an `arrow_array_stream` capsule; nothing is copied."""
        from colkern.interchange import export_stream

        return export_stream(self, requested_schema)

    def __arrow_c_device_stream__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        """The batches as an `arrow_device_array_stream` capsule; nothing is copied.

        The capsule says on which kind of device they are: if only they know, the first is made now.
        """
        from colkern.interchange import export_device_stream

        return export_device_stream(self, requested_schema, **kwargs)
