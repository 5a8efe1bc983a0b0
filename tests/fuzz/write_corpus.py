"""Writes what colkern makes of the corpus: `python -m fuzz.write_corpus` prints its SHA-256.

Run twice with other dirt in fresh memory (`MALLOC_PERTURB_`), both must print the same.
"""

from __future__ import annotations

import hashlib
import io

from fuzz.corpus import corpus
from fuzz.recording import as_stream

import colkern
import colkern.ipc
from colkern.operations import concat, take


def _shuffled(array: colkern.Array) -> colkern.Array:
    """The last value, the first, and a null where the layout can tell one."""
    null = None if array.layout.has_validity else 0
    return take(array, colkern.array([array.length - 1, 0, null]))


def written() -> bytes:
    """The columns of the corpus, sliced, joined and taken, as files and streams."""
    sink = io.BytesIO()
    for parts in corpus().values():
        for batch in colkern.ipc.open(as_stream(parts)):
            columns = [concat([c, c.slice(1)]) if c.length else c for c in batch.columns]
            taken = [_shuffled(c) if c.length else c for c in columns]
            result = colkern.RecordBatch.from_arrays(taken, [str(k) for k in range(len(taken))])
            for batches in ([batch], [batch.slice(1)] if batch.num_rows else [], [result]):
                if batches:
                    colkern.ipc.write_stream(sink, batches)
                    colkern.ipc.write_file(sink, batches, compression="lz4")
    return sink.getvalue()


if __name__ == "__main__":
    print(hashlib.sha256(written()).hexdigest())
