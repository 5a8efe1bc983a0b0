"""The plans of a schema: which nodes and buffers belong to each column of its batches.

A plan is made once for a schema, and used for all its batches.

Columnar format 1.5: "RecordBatch message", "Variadic buffers".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import RecordBatch
from colkern.errors import InvalidArrowError
from colkern.forks import cached_property
from colkern.ipc.enums import MetadataVersion
from colkern.ipc.fields import WireField, WireSchema
from colkern.ipc.reading.flat_fields import FlatFields
from colkern.layouts import BufferSpec, Layout, layout
from colkern.schema import DataType, Extension, Schema, Union

_ONE_COLUMN = np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class DictionaryPlan:
    """The id of a field's dictionary, and the plan of its values."""

    id: int
    values: ArrayPlan

    def ids(self) -> set[int]:
        """The ids of dictionaries nested in the values."""
        return set(self.values.dictionary_ids())


@dataclass(frozen=True, slots=True, eq=False)
class ArrayPlan:
    """The plan of one field's array: its nodes, buffers and children."""

    type: DataType
    layout: Layout
    validity: BufferSpec | None
    others: tuple[BufferSpec, ...]
    children: tuple[ArrayPlan, ...]
    dictionary: DictionaryPlan | None
    #: Whether the data has a validity buffer, before the others, that the layout lacks: unions
    #: before format 1.0.
    legacy_validity: bool
    nodes: int  #: How many nodes the array takes, children included.
    buffers: int  #: How many buffers, without variadic ones.
    variadics: int  #: How many variadic counts.
    #: Whether the array has only a validity buffer and others that grow with it.
    flat: bool

    def dictionary_plans(self) -> Iterator[DictionaryPlan]:
        """The dictionaries of the array, its children, and their values, outer before inner."""
        if self.dictionary is not None:
            yield self.dictionary
            yield from self.dictionary.values.dictionary_plans()
        for child in self.children:
            yield from child.dictionary_plans()

    def dictionary_ids(self) -> Iterator[int]:
        """The ids of the dictionaries of `dictionary_plans`."""
        return (plan.id for plan in self.dictionary_plans())


def _array_plan(field: WireField, version: int) -> ArrayPlan:
    if field.dictionary is None:
        # Equal extension types may have different metadata.
        if not field.children and not isinstance(field.field.type, Extension):
            return _leaf_plan(field.field.type, version)
        return _plan_of(field.field.type, field.children, None, version)
    # The children in the metadata belong to the dictionary's values.
    values = _plan_of(field.values, field.children, None, version)
    return _plan_of(field.field.type, (), DictionaryPlan(field.dictionary, values), version)


def _plan_of(
    type_: DataType, fields: tuple[WireField, ...], dictionary: DictionaryPlan | None, version: int
) -> ArrayPlan:
    children = tuple(_array_plan(child, version) for child in fields)
    rule = layout(type_)
    legacy = version < MetadataVersion.V5 and isinstance(type_.storage, Union)
    return ArrayPlan(
        type_,
        rule,
        rule.buffers[0] if rule.has_validity else None,
        rule.buffers[rule.has_validity :],
        children,
        dictionary,
        legacy,
        1 + sum(child.nodes for child in children),
        legacy + len(rule.buffers) + sum(child.buffers for child in children),
        rule.variadic + sum(child.variadics for child in children),
        rule.is_backed and rule.has_validity and not (rule.variadic or fields or dictionary),
    )


@lru_cache(maxsize=1024)
def _leaf_plan(type_: DataType, version: int) -> ArrayPlan:
    """The plan of a type without children, made once for all columns of the type."""
    return _plan_of(type_, (), None, version)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsPlan:
    """The plans of the columns of a batch, and the position where each column's entries start."""

    columns: Sequence[ArrayPlan]
    nodes: Sequence[int]  #: First node of each column, and the total.
    buffers: Sequence[int]  #: First buffer of each, not counting variadic ones, and the total.
    variadics: Sequence[int]  #: First variadic count of each, and the total.
    label: Callable[[int], str]  #: The name of a column in errors.

    @classmethod
    def of(
        cls, plans: Sequence[ArrayPlan], plan_of: NDArray[np.int64], label: Callable[[int], str]
    ) -> ColumnsPlan:
        """The plan of columns side by side: `plan_of` has the number of each column's plan in `plans`."""

        def starts(counts: Iterable[int]) -> list[int]:
            ends = np.fromiter(counts, np.int64, len(plans))[plan_of].cumsum()
            return [0, *ends.tolist()]

        return cls(
            [plans[k] for k in plan_of.tolist()],
            starts(plan.nodes for plan in plans),
            starts(plan.buffers for plan in plans),
            starts(plan.variadics for plan in plans),
            label,
        )


def _column_plans(
    fields: Sequence[WireField], version: int
) -> tuple[list[ArrayPlan], NDArray[np.int64]]:
    """The distinct plans of a schema's columns, and the number of each column's plan."""
    if not isinstance(fields, FlatFields):
        return [_array_plan(field, version) for field in fields], np.arange(len(fields))
    plans = [_leaf_plan(type_, version) for type_ in fields.types]
    plan_of = fields.type_of.copy()
    for position, field in fields.others.items():
        plan_of[position] = len(plans)
        plans.append(_array_plan(field, version))
    return plans, plan_of


class SchemaPlan:
    """The plans of a schema's batches, for one version of the metadata."""

    def __init__(self, wire: WireSchema, version: int) -> None:
        self.schema: Schema = wire.schema
        self.big_endian = wire.big_endian
        self.columns = ColumnsPlan.of(
            *_column_plans(wire.fields, version),
            lambda position: f"column {wire.schema.field(position).name!r}",
        )

    @cached_property
    def dictionaries(self) -> dict[int, ColumnsPlan]:
        """By the id of each dictionary, the plan of its values as the one column of a batch."""
        plans: dict[int, DictionaryPlan] = {}
        labels: dict[int, str] = {}
        for position, column in enumerate(self.columns.columns):
            for plan in column.dictionary_plans():
                first = plans.setdefault(plan.id, plan)
                label = f"dictionary {plan.id} of {self.columns.label(position)}"
                labels.setdefault(plan.id, label)
                if first.values.type != plan.values.type or first.ids() != plan.ids():
                    raise InvalidArrowError(
                        f"dictionary {plan.id} has values of {first.values.type} in one field "
                        f"and of {plan.values.type} in another"
                    )
        return {
            id_: ColumnsPlan.of([plan.values], _ONE_COLUMN, lambda _, id_=id_: labels[id_])  # type: ignore[misc]
            for id_, plan in plans.items()
        }


class Projection:
    """Some columns of a schema, in a given order, or all."""

    def __init__(self, schema: Schema, columns: Sequence[int | str] | None) -> None:
        if isinstance(columns, str):
            raise TypeError(f"columns: expected a list of names or positions, got {columns!r}")
        self._all = columns is None
        self._dictionary_ids: dict[ColumnsPlan, set[int]] = {}
        self.positions: Sequence[int] = range(len(schema))
        self.schema = schema
        if columns is not None:
            self.positions = [schema.index(key) for key in columns]
            fields = tuple(schema.fields[position] for position in self.positions)
            self.schema = Schema(fields, schema.metadata)

    def of(self, batch: RecordBatch) -> RecordBatch:
        """The chosen columns of a batch; none is decoded."""
        return batch if self._all else batch.select(self.positions)

    def fields_of(self, wire: WireSchema) -> Sequence[WireField]:
        """The fields of the chosen columns."""
        return wire.fields if self._all else [wire.fields[k] for k in self.positions]

    def counts_of(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts of the chosen columns, of counts of all columns."""
        return counts if self._all else counts[list(self.positions)]

    def dictionary_ids(self, plan: ColumnsPlan) -> set[int]:
        """The ids of the dictionaries that the chosen columns need."""
        ids = self._dictionary_ids.get(plan)
        if ids is None:
            chosen = (plan.columns[position] for position in self.positions)
            ids = {id_ for column in chosen for id_ in column.dictionary_ids()}
            self._dictionary_ids[plan] = ids
        return ids
