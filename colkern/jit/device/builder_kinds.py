"""The static kind of a builder in a function of rows: which node of the tree it appends to, and how."""

from __future__ import annotations

from dataclasses import dataclass

from colkern import schema as s
from colkern.jit.building.builder_type import BuilderType
from colkern.jit.building.nodes import Node, child_rows, counters
from colkern.jit.device.kinds import Kind


@dataclass(frozen=True)
class Builder(Kind):
    """A builder, or a node below one.

    Its parts are arrays (int64) that the whole tree shares, one of them each thread: how much there is
    of each node, where the room of the row ends, and how many nulls the thread has seen.

    Args:
        type: What it is in compiled loops.
        row: The place of the node in the tree, each standing before its children.
        counter: The place of what is counted of it, as `counters` has it.
    """

    type: BuilderType
    row: int = 0
    counter: int = 0

    parts = ("counts", "ends", "nulls")

    @property
    def words(self) -> str:
        """The kind in words."""
        return f"a builder of {self.data_type}"

    @property
    def data_type(self) -> s.DataType:
        """The type of what is built."""
        return self.type.data_type

    @property
    def node(self) -> Node:
        """The node of what the builder keeps."""
        return self.type.node

    def child(self, k: int) -> Builder:
        """The kind of a node below."""
        rows = child_rows(self.data_type)[k]
        counter = self.counter + counters(self.data_type)[rows]
        return Builder(self.type.child(k), self.row + rows, counter)
