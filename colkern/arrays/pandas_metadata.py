"""The types of pandas in a schema's metadata, as pyarrow writes them for a `DataFrame`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from colkern.key_values import metadata_of, pairs_of

_KEY = b"pandas"


def renamed_columns(
    metadata: Mapping[bytes, bytes] | None, names: Mapping[str, str | None]
) -> Mapping[bytes, bytes] | None:
    """A schema's metadata for columns that have other names, or other types.

    Args:
        metadata: The metadata; what is not pandas' is kept.
        names: Old names, and new ones; None for a column that has another type, or is new: it keeps its
            name and loses the type that pandas had for it.
    """
    if not metadata or _KEY not in metadata:
        return metadata
    try:
        described = json.loads(metadata[_KEY])
        index, levels = described["index_columns"], described.get("column_indexes", [])
        labels = {column["field_name"] for column in described["columns"]}
        new_labels = {new or old for old, new in names.items() if old not in index} - labels
        if new_labels and [level["pandas_type"] for level in levels] != ["unicode"]:
            # Labels that were numbers, dates or tuples: a name given here need not be such a one.
            described["column_indexes"] = []
        columns = []
        for column in described["columns"]:
            old = column["field_name"]
            new = names.get(old, old)
            if new is None and old not in index:
                continue
            if new not in (None, old):
                column["name"] = column["field_name"] = new
            columns.append(column)
        described["columns"] = columns
        described["index_columns"] = [
            (names.get(one) or one) if isinstance(one, str) else one for one in index
        ]
    except (KeyError, TypeError, ValueError, RecursionError):
        # Others may write metadata under this name, of any depth.
        return metadata
    pairs = [pair for pair in pairs_of(metadata) if pair[0] != _KEY]
    return metadata_of([*pairs, (_KEY, json.dumps(described).encode())])
