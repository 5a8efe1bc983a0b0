"""Rows for documents of JSON and of Python's literals."""

from __future__ import annotations

from colkern.kernels import row_documents
from colkern.rows.methods import Bound, Method

METHODS = [
    Method("json.loads", "(str) -> document", Bound(row_documents.read_document, is_python=0)),
    Method(
        "ast.literal_eval", "(str) -> document", Bound(row_documents.read_document, is_python=1)
    ),
]
