"""Arrow IPC: streams, files and tensors, read and written.

>>> import colkern.ipc
>>> with colkern.ipc.open("table.arrow") as reader:  # doctest: +SKIP
...     for batch in reader:
...         print(batch.column("price"))
>>> colkern.ipc.write_file("sorted.arrow", batches, compression="zstd")  # doctest: +SKIP

Batches to be written may live in host or device memory, see `StreamWriter.write`; tensors are NumPy's.

Columnar format 1.5: "Serialization and Interprocess Communication (IPC)".
"""

from colkern.names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
