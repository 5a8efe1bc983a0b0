"""The Dissociated IPC protocol: record batches whose metadata and bodies come separately.

>>> import colkern.dissociated as dissociated
>>> server = dissociated.serve("table.arrow", "shm:")  # doctest: +SKIP
>>> with dissociated.connect(server.uri) as reader:  # doctest: +SKIP
...     batches = reader.read_all()

Bodies stay in shared or device memory, or are sent packed; arrow.apache.org/docs/format/DissociatedIPC.
"""

from colkern.names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
