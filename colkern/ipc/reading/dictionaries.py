"""The state of dictionaries while a stream or file is read: first batches, deltas, replacements.

`Dictionaries` is immutable: a dictionary batch makes a new one, and a record batch keeps the one that
was current. So a batch read before a replacement keeps its values, whenever its columns are loaded.

Columnar format 1.5: "Dictionary messages".
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from colkern.arrays import Array
from colkern.arrays.array import empty_array
from colkern.errors import InvalidArrowError, placed
from colkern.forks import Lock
from colkern.ipc.compression import Budget
from colkern.ipc.limits import Limits
from colkern.ipc.reading.batches import BatchColumns
from colkern.ipc.reading.messages import Message
from colkern.ipc.reading.plans import DictionaryPlan, SchemaPlan

if TYPE_CHECKING:
    from colkern.ipc.reading.destination import Destination


class _State:
    """A state of a dictionary: the values of one batch, after those of the state that it extends."""

    __slots__ = (
        "_array",
        "_before",
        "_body_bytes",
        "_inner",
        "_limits",
        "_part",
        "_plan",
        "_spent",
    )

    def __init__(
        self, plan: DictionaryPlan, part: BatchColumns, before: _State | None, limits: Limits
    ) -> None:
        self._plan = plan
        self._limits = limits
        # The decompressed bytes of this batch and of those before are counted together.
        self._body_bytes: int = part.body_bytes + (0 if before is None else before._body_bytes)
        self._spent = 0
        self._part: BatchColumns | None = part
        self._before = before
        self._inner: tuple[Array | None, ...] = ()
        self._array: Array | None = None

    def array(self, dictionaries: Dictionaries) -> Array:
        """All values; nested dictionaries are taken from `dictionaries`."""
        with dictionaries.resolving:
            inner = tuple(dictionaries.known(id_) for id_ in sorted(self._plan.ids()))
            behind: list[_State] = []
            state: _State | None = self
            while state is not None and not state._is_resolved(inner):
                behind.append(state)
                state = state._before
            if not behind:
                assert self._array is not None
                return self._array
            # All batches since the last known state are joined at once, so each value is copied
            # once.
            known = 0 if state is None else state._spent
            budget = Budget(self._limits.decompressed(self._body_bytes), known)
            parts = [step._decode(dictionaries, budget) for step in reversed(behind)]
            if state is not None and state._array is not None:
                parts.insert(0, state._array)
            self._spent = budget.spent
            array = parts[0] if len(parts) == 1 else _joined(parts)
            assert self._part is not None
            self._part.finish()
            self._array, self._inner = array, inner
            if not inner:
                # The values are final, so the parts are no longer needed.
                self._part = self._before = None
            return array

    def _is_resolved(self, inner: tuple[Array | None, ...]) -> bool:
        return (
            self._array is not None
            and len(inner) == len(self._inner)
            and all(a is b for a, b in zip(inner, self._inner, strict=True))
        )

    def _decode(self, dictionaries: Dictionaries, budget: Budget) -> Array:
        assert self._part is not None
        return self._part.load_values(dictionaries.values, budget)


def _joined(parts: list[Array]) -> Array:
    # Only a delta needs operations, and the kernels below them.
    from colkern.operations import concat

    return concat(parts)


class Dictionaries:
    """The states of all dictionaries at one point in a stream."""

    __slots__ = ("_states", "resolving")

    def __init__(
        self, states: Mapping[int, _State] | None = None, resolving: Lock | None = None
    ) -> None:
        self._states: Mapping[int, _State] = states or {}
        # Several threads may load columns; they share the values of dictionaries.
        self.resolving = resolving or Lock(threading.RLock)

    def known(self, id_: int) -> Array | None:
        """The values of a dictionary; None if none of its batches has come."""
        state = self._states.get(id_)
        return None if state is None else state.array(self)

    def values(self, plan: DictionaryPlan, unneeded: bool) -> Array:
        """The values of a dictionary; empty if none has come and no slot needs them (`unneeded`)."""
        known = self.known(plan.id)
        if known is not None:
            return known
        if unneeded:
            return empty_array(plan.values.type)
        raise InvalidArrowError(f"no dictionary {plan.id} has come before this batch")

    def after(
        self,
        message: Message,
        plan: SchemaPlan,
        limits: Limits,
        destination: Destination | None = None,
        *,
        may_replace: bool,
    ) -> Dictionaries:
        """The states after a dictionary batch, which may replace an earlier one only if `may_replace`."""
        record = message.header
        id_: int = record["id"]
        before = self._states.get(id_)
        with placed(message.place):
            columns = plan.dictionaries.get(id_)
            if columns is None:
                raise InvalidArrowError(f"dictionary {id_}, which no field of the schema has")
            if record["isDelta"] and before is None:
                raise InvalidArrowError(f"delta for dictionary {id_}, of which nothing has come")
            if not record["isDelta"] and before is not None and not may_replace:
                raise InvalidArrowError(f"second dictionary {id_}; files cannot replace the first")
        part = BatchColumns(record["data"], message, columns, plan.big_endian, limits, destination)
        dictionary = DictionaryPlan(id_, columns.columns[0])
        state = _State(dictionary, part, before if record["isDelta"] else None, limits)
        return Dictionaries({**self._states, id_: state}, self.resolving)
