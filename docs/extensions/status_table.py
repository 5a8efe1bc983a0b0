"""The directive `status-table`: runs every check of `status_features` and shows what passed."""

from __future__ import annotations

from typing import Any

import status_features
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def passes(check: Any, sample: Any) -> bool:
    """Whether the check says yes; whatever it raises is a no."""
    try:
        return bool(check(sample))
    except Exception:  # noqa: BLE001
        return False


class StatusTable(SphinxDirective):
    """Types downwards, features across."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        # The table depends on the code, not on this page's text: never reuse yesterday's.
        self.env.note_reread()
        features = status_features.FEATURES
        body = nodes.tbody()
        for name, sample in status_features.samples().items():
            cells = ["yes" if passes(check, sample) else "-" for check in features.values()]
            body += _row([name, *cells])
        group = nodes.tgroup(cols=1 + len(features))
        group += [nodes.colspec(colwidth=1) for _ in range(1 + len(features))]
        group += nodes.thead("", _row(["Type", *features]))
        group += body
        return [nodes.table("", group)]


def _row(cells: list[str]) -> nodes.row:
    row = nodes.row()
    for cell in cells:
        row += nodes.entry("", nodes.paragraph(text=cell))
    return row


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this."""
    app.add_directive("status-table", StatusTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
