"""Views and offsets."""

from __future__ import annotations

from cuda.on_device.operation import Operation

from colkern import operations as ops

OPERATIONS: dict[str, tuple[str, Operation]] = {
    "offsets_to_views": ("utf8", lambda array, picks: ops.offsets_to_views(array)),
    "offsets_to_views, large": ("large_binary", lambda array, picks: ops.offsets_to_views(array)),
    "views_to_offsets": ("utf8_view", lambda array, picks: ops.views_to_offsets(array)),
    "views_to_offsets, large": (
        "binary_view",
        lambda array, picks: ops.views_to_offsets(array, large=True),
    ),
    "compact_views": ("utf8_view", lambda array, picks: ops.compact_views(array.slice(3, 2))),
}
