"""Runs a row function over columns in host memory, and leaves rows to Python."""

from __future__ import annotations

import dataclasses
import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array as build_array
from colkern.cpu.threads import GRAIN, run_ranges
from colkern.errors import CompileError, UnsupportedError, shown, with_line
from colkern.layouts import Role
from colkern.memory import EMPTY, HOST, Items, allocate_for_overwrite
from colkern.operations import cast, concat, nulls, take, unpack_bits
from colkern.operations.moving import to_device, to_host
from colkern.rows import kinds as k
from colkern.rows.arenas import LEFT_AT_ONCE, NO_PAIRS, Room, placed_pool, rooms_of_thread
from colkern.rows.columns import LARGE, declared_kind, has_any, lists_of, may_be_declared, type_of
from colkern.rows.emitter import RETURN
from colkern.rows.folding import constant
from colkern.rows.forms import Form
from colkern.rows.front import definition_of
from colkern.rows.functions import MISTAKE, of_fields, of_text, write_program
from colkern.rows.inputs import Columns, Inputs, Replanned, values_of
from colkern.rows.library import replacement
from colkern.rows.loop import Source, compiled_loop, loop_source
from colkern.rows.program import Program, Site
from colkern.rows.python_rows import (
    OTHER_CONTEXT,
    as_column_values,
    called_in_python,
    is_usual_context,
    refusal_of,
)
from colkern.rows.results import Sink, Slots, require_reach
from colkern.rows.terms import Term, term_of
from colkern.targets import Target, target_of

MOST_EXPECTED = 256
"""The largest number of bytes per row that is reserved for results in advance."""

SLACK = 1 << 10
"""Additional bytes that are always reserved, since bodies write beyond a result."""

_address = attrgetter("address")


class Plan(Replanned):
    """Runs a function over columns of certain types.

    Args:
        columns: The types of the columns, none of them encoded.
        forms: The forms in which the function gets their values.
        returns: The declared type of the results; None for the function's own. The hint
            `datetime.datetime` stands for a timestamp with the time zone of the results, or without one,
            and `int` for uint64 if the results are unsigned, else int64.
        strict: Whether a row that compiled code does not cover is an error.
        wraps: Whether integers wrap around.
        inner_nulls: Whether the function gets None for nulls within a list or struct. Otherwise rows with
            such nulls are left to Python.
        may_be_rows: Whether results may be dictionaries with constant keys, which are structs, where maps
            are declared.
        title: Its name in messages; empty for the function's name.
        row: The word for a row in messages.

    Raises:
        CompileError: If the function has no compiled form.
        UnsupportedError: If a column or the results have no compiled form.
    """

    has_own_context = False
    """Whether decimals are computed alike in any decimal context of the thread."""

    def __init__(
        self,
        function: Any,
        columns: Sequence[s.DataType],
        forms: Sequence[Form],
        returns: s.DataType | type | None = None,
        strict: bool = False,
        wraps: bool = False,
        inner_nulls: bool = False,
        may_be_rows: bool = False,
        title: str = "",
        row: str = "row",
    ) -> None:
        self.function = function
        self._may_be_rows = may_be_rows
        self.title = title or function.__name__
        self._row = f"{self.title}: {row}"
        self._strict = strict
        self._definition = definition_of(function)
        names = self._definition.parameters[: len(columns)]
        if replacement(function) is not function:
            text = f"return function({', '.join(names)})"
            self._definition = of_text(self._definition, text, names, {"function": function})
        inputs = self._inputs(names, columns, forms, inner_nulls)
        arguments = function, tuple(columns), list(forms), returns, strict, wraps
        super().__init__(inputs, *arguments)
        self.arguments = self.inputs.arguments
        self.program, self.name, self.kind = self._written(returns, wraps)
        try:
            declared = self._declared(returns)
        except (CompileError, UnsupportedError):
            if not self.program.mixes:
                raise
            # Python's own results may be of the type.
            self.program, self.name, self.kind = self._written(returns, wraps, can_mix=False)
            declared = self._declared(returns)
        self.source: Source = loop_source(
            self.program, self.name, self.kind, self.arguments, self.site
        )
        self.large = declared is not None and has_any(declared, LARGE)
        self.natural = type_of(self.kind, self.large)
        self.returns = declared or self.natural
        if self.returns != self.natural:
            # This raises now if no result could be cast.
            cast(nulls(0, self.natural), self.returns)
        self.programs: Sequence[Program] = [self.program]
        self._loop = compiled_loop(self.source.program, self.source.text, function.__name__)
        self.computes_decimals = self.program.computes_decimals and not self.has_own_context
        self._pool = placed_pool(self.program)
        self._pool_address = self._pool.ctypes.data
        memory = self.source.output.memory()
        self._slots = [(part.name, part.dtype) for part in memory if isinstance(part, Slots)]
        self._sinks = [part for part in memory if isinstance(part, Sink)]
        # Where results are elsewhere, a row may be left before its slots are written.
        self._is_cleared = bool(self._sinks) and not self.source.output.is_one_text
        self._bytes_a_row: dict[str, float] = {}
        self._entry: Callable[..., int] | None = None

    def _written(
        self, returns: s.DataType | type | None, wraps: bool, can_mix: bool = True
    ) -> tuple[Program, str, k.Kind]:
        """Returns the function's program, its name there, and the kind of its results."""
        names, count = self._definition.parameters, len(self.arguments)
        self._definition = dataclasses.replace(self._definition, parameters=names[:count])
        values = values_of(names[:count], self.inputs)
        if names[count:]:
            # Parameters without a column have their defaults.
            parameters = inspect.signature(self.function, follow_wrapped=False).parameters
            values |= {name: constant(parameters[name].default) for name in names[count:]}
        if returns is int:
            returns = s.int64()
        options: dict[str, Any] = {"can_mix": can_mix}
        if isinstance(returns, s.DataType):
            options["holds"] = partial(may_be_declared, returns)
        written = write_program(wraps, self._definition, values, **options)
        if k.is_tuple(k.present(written[2])) and isinstance(returns, s.Struct):
            self._definition = of_fields(self._definition, len(returns.fields))
            written = write_program(wraps, self._definition, values, **options)
        elif (
            isinstance(returns, s.DataType)
            and has_any(returns, (s.Map,))
            and not may_be_declared(returns, written[2])
            and not (self._may_be_rows and _is_known_row(*written))
        ):
            written = write_program(wraps, self._definition, values, **options, has_rows=False)
        elif isinstance(returns, s.DataType) and (kinds := lists_of(written[2], returns, RETURN)):
            written = write_program(wraps, self._definition, values, kinds, **options)
        return written

    def _require_results(self, returns: s.DataType | type | None) -> None:
        """Raise unless compiled code gives results, and a column can hold them."""
        if any(map(k.is_deque, k.containers_in(self.kind))):
            raise UnsupportedError(f"{self.title}: no column has deques; return list(…)")
        program = self.program
        gaps = [site for site in program.sites if site.reason in program.gaps]
        parts = [*k.parts_of(self.kind)]
        is_unknown = returns is None and not {k.NONE, k.NEVER}.isdisjoint(parts)
        if any(isinstance(part, k.Compound) and k.NEVER in part.items for part in parts):
            # Compiled code never has that field: only Python's results tell its type.
            gaps = gaps or program.sites[-1:]
        is_left = self.kind in (k.NONE, k.NEVER) and not (program.calls_left and returns)
        if (is_left and program.sites) or (is_unknown and gaps):
            first = gaps[0] if gaps else program.sites[-1]
            raise CompileError(
                with_line(
                    f"{self.function.__name__} does not compile: each row with a result would be left to "
                    f"Python: {first.reason}",
                    first.path,
                    first.line,
                )
            )

    def _declared(self, returns: s.DataType | type | None) -> s.DataType | None:
        """Returns the declared type of the results, and sets the kind of results accordingly."""
        self._require_results(returns)
        of = k.present(self.kind)
        if self._may_be_rows and k.is_row(of):
            return None
        if isinstance(returns, type):
            usual = k.INT if returns is int else k.DATETIME
            returns = type_of(of if isinstance(of, k.Aware) or of == k.UNSIGNED else usual)
        if returns is not None:
            try:
                self.kind = declared_kind(self.kind, returns)
            except UnsupportedError:
                hint = ""
                if of == k.DATETIME and isinstance(returns, s.Timestamp):
                    hint = "; .replace(tzinfo=datetime.timezone.utc) makes it a moment"
                raise CompileError(
                    f"{self.title} returns {self.kind} where {returns} is declared{hint}"
                ) from None
        return returns

    def _inputs(self, names: Sequence[str], *arguments: Any) -> Inputs:
        """Returns the function's inputs: `Columns` of the given."""
        return Columns(names, *arguments)

    def site(self, reason: str) -> Site:
        """Returns the function itself as the place where a row is left for a reason."""
        line = self.function.__code__.co_firstlineno
        return Site(self.function.__name__, self._definition.path, line, reason)

    def term(self) -> Term:
        """Returns the function as a term of its arguments.

        Raises:
            NoTermError: If it has none.
        """
        arguments = values_of(self._definition.parameters, self.inputs)
        return term_of(self.program, self.name, arguments)

    def text(self) -> str:
        """The generated source."""
        return "\n".join([*self.source.program.sources.values(), self.source.text])

    def run(self, arrays: Sequence[Any], length: int) -> tuple[Array, Counter[Site | None]]:
        """Returns the results, and the number of rows left to Python, by place in the source."""
        plan = self.for_arrays(arrays) if self.inputs.may_lack else self
        if plan is not self:
            return plan.run(arrays, length)
        if self.computes_decimals and not is_usual_context():
            return self.left(target_of(HOST), arrays, length)
        validity, null_count = self.inputs.called(arrays)
        passed = self.inputs.passed(arrays)
        written: dict[str, NDArray[Any]] = {}
        for name, dtype in self._slots:
            written[name] = allocate_for_overwrite(length, dtype)
        # Memory that every row writes need not be cleared.
        if self._is_cleared or (null_count and not self.source.is_everywhere):
            for slots in written.values():
                slots.fill(0)
        bits = (EMPTY if validity is None else validity).array
        entry, at, noted = self._entry, -1, NO_PAIRS
        if entry is not None and length < GRAIN and not self._sinks:
            # Usually this call does everything. To prepare for more takes as long as ten rows.
            rooms = rooms_of_thread()
            begin, places = rooms.arena.begin().address, rooms.left
            columns = *passed, *written.values()
            at = entry(0, length, bits, begin, self._pool_address, places.address, *columns)
            noted = places.taken()
        if at != length:
            noted = self._run_ranges(length, bits, passed, written)
        output, target = self.source.output, target_of(HOST)
        if self._sinks:
            output.spread(target, written)
        outer = validity if null_count else None
        results = output.array(target, written, length, self.natural, outer, null_count)
        if not len(noted) and (results.type is self.returns or results.type == self.returns):
            return results, NONE_LEFT
        rows, numbers = noted.T
        return self.completed(target, results, arrays, rows.copy(), numbers.copy())

    def left(
        self, target: Target, arrays: Sequence[Any], length: int
    ) -> tuple[Array, Counter[Site | None]]:
        """Returns the results if all rows are left to Python, because of the thread's decimal context.

        Args:
            target: The target of the results' memory.
        """
        validity, _ = self.inputs.called(arrays)
        rows = target.positions(length)
        if validity is not None:
            rows = rows[unpack_bits(validity, 0, length)]
        number = self.program.site(self.site(OTHER_CONTEXT))
        results = nulls(length, self.natural, target.device)
        return self.completed(target, results, arrays, rows, rows * 0 + number)

    def completed(
        self, target: Target, results: Array, arrays: Sequence[Any], rows: Items, numbers: Items
    ) -> tuple[Array, Counter[Site | None]]:
        """Returns the results including those of rows that were left, and the number of these by place.

        Args:
            target: The target of the results' memory.
            results: The results of compiled code.
            rows: The rows that were left.
            numbers: The numbers of the places where they were left.
        """
        if not len(rows):
            if results.type != self.returns:
                results = self._cast(target, results, target.positions(results.length))
            return results, NONE_LEFT
        left, numbers = (
            to_host(_column(target, s.int64(), words)).items(Role.DATA) for words in (rows, numbers)
        )
        if self._strict:
            site = self.source.program.site_of(int(numbers[0]))
            raise refusal_of(f"{self._row} {left[0]}", site)
        results = self._with_python(target, results, arrays, rows)
        program = self.source.program
        counts = Counter(numbers.tolist())
        return results, Counter({program.site_of(n): count for n, count in counts.items()})

    def _explain(self, error: Exception) -> None:
        """Raise an error that names the function if Numba rejects its source: a mistake of colkern's."""
        from numba.core.errors import NumbaError

        if isinstance(error, NumbaError):
            reason = f"its generated source is not valid, {MISTAKE}"
            raise CompileError(f"{self.title} does not compile: {reason}") from error

    def _run_ranges(
        self,
        length: int,
        valid: NDArray[Any],
        passed: Sequence[Any],
        written: dict[str, NDArray[Any]],
    ) -> NDArray[np.int64]:
        """Runs all rows, on threads if there are many; returns the rows left, with their places.

        The bytes of sinks become part of `written`.
        """
        try:
            parts = run_ranges(self._run_range, length, (valid, passed, written))
        except Exception as error:
            self._explain(error)
            raise
        for name in parts[0][0]:
            written[name] = _joined(target_of(HOST), [used[name] for used, _ in parts])
        left = [words for _, own in parts for words in own]
        return np.concatenate(left) if left else NO_PAIRS

    def _run_range(
        self,
        start: int,
        stop: int,
        valid: NDArray[Any],
        passed: Sequence[Any],
        written: dict[str, NDArray[Any]],
    ) -> tuple[dict[str, NDArray[Any]], list[NDArray[np.int64]]]:
        """Runs a range of rows; returns the bytes of its sinks, and the rows left, with their places."""
        rooms = rooms_of_thread()
        memory = self._memory(stop - start) if self._sinks else {}
        arena = rooms.arena
        left, at, full = [], start, -1
        while True:
            arena.begin()
            if self._sinks and self.source.output.is_one_text:
                arena.make_results_in(memory["r_data"])
            at = (self._entry or self._loop)(
                at,
                stop,
                valid,
                arena.address,
                self._pool_address,
                rooms.left.address,
                *passed,
                *written.values(),
                *map(_address, memory.values()),
            )
            noted = rooms.left.taken()
            if len(noted):
                left.append(noted)
            if at >= stop:
                break
            # If a larger sink was not enough, the arena is full; the thread keeps the larger arena.
            again, full = full == at, at
            if len(noted) == LEFT_AT_ONCE or (not again and self._grow(memory)):
                continue
            if self._grow({"arena": arena.begin(), **memory}):
                continue
            left.append(np.array([[at, 0]], np.int64))
            for slots in written.values():
                # Clears slots that were written before a sink was full.
                slots[at] = 0
            at += 1
            if at >= stop:
                break
        if self._entry is None:
            self._keep_entry()
        return self._used(memory, stop - start) if memory else {}, left

    def _memory(self, rows: int) -> dict[str, Room]:
        """Returns memory for the results of a number of rows."""
        return {
            sink.name: Room(SLACK + int(self._bytes_a_row.get(sink.name, 16) * rows))
            for sink in self._sinks
        }

    def _grow(self, memory: dict[str, Room]) -> bool:
        """Doubles the memory; returns False if it has room for any row already."""
        for name, room in memory.items():
            if name.endswith("_data") and not self.large:
                require_reach(len(room.used()), self.natural)
        grown = [room.grow() for room in memory.values()]
        return any(grown)

    def _keep_entry(self) -> None:
        """Keep the loop's machine code for later calls.

        Columns of a type are always passed as the same types, so Numba need not look at them again.
        """
        overloads = self._loop.overloads
        inputs = self.inputs
        if isinstance(inputs, Columns) and inputs.is_uniform and len(overloads) == 1:
            self._entry = next(iter(overloads.values())).entry_point

    def _used(self, sinks: dict[str, Room], rows: int) -> dict[str, NDArray[Any]]:
        """Returns the used bytes of sinks; they determine the memory that the next call reserves."""
        used = {name: room.used() for name, room in sinks.items()}
        if rows:
            self._bytes_a_row = {
                name: min(1.125 * len(own) / rows, MOST_EXPECTED) for name, own in used.items()
            }
        return used

    def _as_array(self, results: list[Any], left: NDArray[Any]) -> Array:
        """Returns the results of Python as an array.

        Raises:
            OverflowError, TypeError, ValueError: For a result that does not fit the type; names its row.
        """

        def column(values: list[Any]) -> Array:
            return build_array(as_column_values(values, self.returns), type=self.returns)

        try:
            return column(results)
        except (OverflowError, TypeError, ValueError):
            for place, result in zip(left.tolist(), results, strict=True):
                try:
                    column([result])
                except (OverflowError, TypeError, ValueError) as error:
                    text = f"{self.title}: the result {shown(result)} does not fit {self.returns}"
                    refusal = type(error)(text)
                    refusal.add_note(f"{self._row} {place}")
                    raise refusal from error
            raise

    def compile(self) -> None:
        """Compile the loop, or load its machine code; the function is not called."""
        self.run(self.inputs.none(), 0)

    def _with_python(
        self, target: Target, compiled: Array, arrays: Sequence[Any], rows: Items
    ) -> Array:
        """Returns the results with those of rows that were left, computed by the original function."""
        places = _column(target, s.int64(), rows)
        left = to_host(places).items(Role.DATA)
        called = zip(left.tolist(), self.inputs.rows(arrays, places), strict=True)
        results = called_in_python(self.function, called, self._row)
        own = to_device(self._as_array(results, left), target.device)
        # The results of compiled code for rows that were left may not fit the type.
        indices = target.positions(compiled.length)
        indices[rows] = -1
        kept = (indices >= 0).nonzero()[0]
        indices[kept] = target.positions(len(kept))
        indices[rows] = len(kept) + target.positions(len(rows))
        others = self._cast(target, take(compiled, _column(target, s.int64(), kept)), kept)
        return take(concat([others, own]), _column(target, s.int64(), indices))

    def _cast(self, target: Target, results: Array, rows: Items) -> Array:
        """Returns results cast to the declared type.

        Args:
            rows: Their rows.

        Raises:
            OverflowError: For one that does not fit; names its row.
        """
        try:
            return cast(results, self.returns)
        except (OverflowError, ValueError):
            places = to_host(_column(target, s.int64(), rows)).items(Role.DATA)
            values = self._as_array(to_host(results).to_pylist(), places)
            return to_device(values, target.device)


def _column(target: Target, type_: s.DataType, items: Items) -> Array:
    return Array(type_, len(items), [None, target.buffer(items)], null_count=0)


def _joined(target: Target, pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Returns what several threads wrote, end to end; a single piece itself."""
    first, *others = pieces
    if not others:
        return first
    whole = allocate_for_overwrite(sum(map(len, pieces)), first.dtype)
    place = 0
    for piece in pieces:
        target.copy(piece.view(np.uint8), whole.view(np.uint8), place)
        place += piece.nbytes
    return whole


NONE_LEFT: Counter[Site | None] = Counter()
"""Counts no rows at all."""


def _is_known_row(program: Program, _: str, kind: k.Kind) -> bool:
    """Whether all results are dictionaries with the same constant keys, and values of known kinds."""
    known = k.NEVER not in k.parts_of(kind) and not program.gaps
    return known and k.is_row(k.present(kind))
