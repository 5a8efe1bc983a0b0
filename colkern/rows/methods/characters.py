"""The rows of the table for functions of `unicodedata`."""

from __future__ import annotations

from colkern.kernels import unicode_data
from colkern.rows.methods import Method

METHODS = [
    Method("unicodedata.category", "(str) -> str", unicode_data.category),
    Method("unicodedata.combining", "(str) -> int", unicode_data.combining),
]
