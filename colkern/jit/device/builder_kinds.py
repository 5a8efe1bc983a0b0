"""The static kind of a builder in a function of rows: which node of the tree it appends to, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from colkern import schema as s
from colkern.jit.building.nodes import Node, node_of, subtree
from colkern.jit.device.kinds import Kind

Mode = Literal["measure", "write"]


@dataclass(frozen=True)
class Builder(Kind):
    """A builder, or a node below one.

    Its parts are arrays (int64) that the whole tree shares, one of them each thread: how much there is
    of each node; and how many nulls a thread has seen, or where the room of its row ends.

    Args:
        data_type: What is built.
        mode: What appending does: count, or write into room that was measured.
        nullable: Whether there may be nulls.
        row: The place of the node in the tree, each standing before its children.
        counter: The place of the number of its slots; that of bytes or values used follows it.
    """

    data_type: s.DataType
    mode: Mode
    nullable: bool = True
    row: int = 0
    counter: int = 0

    @property
    def parts(self) -> tuple[str, ...]:
        """The arrays."""
        return ("counts", "nulls" if self.mode == "measure" else "ends")

    @property
    def words(self) -> str:
        """The kind in words."""
        return f"a builder of {self.data_type}"

    @property
    def node(self) -> Node:
        """The node of what the builder keeps."""
        return node_of(self.data_type)

    def child(self, k: int) -> Builder:
        """The kind of a node below."""
        row, counter = self.row + 1, self.counter + 1 + self.node.has_offsets
        for field in self.node.children[:k]:
            for data_type in subtree(field.type):
                row += 1
                counter += 1 + node_of(data_type).has_offsets
        field = self.node.children[k]
        return Builder(field.type, self.mode, field.nullable, row, counter)
