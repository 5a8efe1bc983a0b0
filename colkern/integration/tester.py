"""A tester for archery, the runner of Arrow's integration tests: IPC and the C Data interface.

archery runs every pair of implementations over generated JSON files: one writes, or exports through
the C Data interface, the other reads and compares. `ColkernTester` takes both parts. Everything runs
in archery's own process; no archery is needed to import this module, as its protocol is a matter of
names (`Tester`, `CDataExporter` and `CDataImporter` of `archery.integration.tester`).

`docs/ipc.md` has the script that adds it to archery.

In archery's own tree the same class is registered by an `append_tester("colkern", ColkernTester(**kwargs))`
in `select_testers`, next to the others, with an option `--with-colkern` of its command.

Integration testing: "Strategy"; C Data interface: "Release callback semantics".
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import operator
import os
import weakref
from collections.abc import Collection
from typing import Any, Self

from colkern.errors import DifferenceError
from colkern.integration import conversions
from colkern.integration.comparison import require_equal_batches, require_equal_schemas
from colkern.integration.documents import read_json
from colkern.interchange.abi import ArrayStruct, Imported, SchemaStruct, children_at, struct_at
from colkern.interchange.arrays import HostStructure, move_part_to, read_batch
from colkern.interchange.schemas import move_schema_to, read_field, schema_of
from colkern.operations.moving import buffers_of
from colkern.schema import Field, Struct

JsonPath = str | os.PathLike[str]
Pointer = Any
"""An address: an `int`, or a pointer of cffi's."""


def address_in(pointer: Pointer) -> int:
    """Returns the address in a pointer; raises TypeError if it is neither an integer nor a cffi pointer."""
    try:
        return operator.index(pointer)
    except TypeError:
        # A caller that has a cffi pointer has imported cffi.
        if type(pointer).__module__ != "_cffi_backend":
            raise TypeError(f"expected an address or a cffi pointer, got {pointer!r}") from None
    return int(importlib.import_module("cffi").FFI().cast("uintptr_t", pointer))


class _Ledger:
    """Counts the exported structures that are alive, and the bytes of their buffers."""

    def __init__(self) -> None:
        self.structures = 0
        self.bytes = 0

    def watch(self, owner: object, structures: int, size: int) -> None:
        """Count until `owner` is gone."""
        self.structures += structures
        self.bytes += size
        weakref.finalize(owner, self._forget, structures, size).atexit = False

    def _forget(self, structures: int, size: int) -> None:
        self.structures -= structures
        self.bytes -= size


class _CDataSide:
    """The members that exporters and importers share in archery's protocol."""

    supports_releasing_memory = True
    required_gc_runs = 1

    def run_gc(self) -> None:
        """Collect objects that reference counting does not free."""
        gc.collect()

    def close(self) -> None:
        """Does nothing: exported memory belongs to its receiver, and imported memory has been released."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.run_gc()
        self.close()


class ColkernCDataExporter(_CDataSide):
    """Exports the contents of integration JSON files by the C Data interface (archery's protocol)."""

    def __init__(self) -> None:
        self._ledger = _Ledger()

    def export_schema_from_json(self, json_path: JsonPath, c_schema_ptr: Pointer) -> None:
        """Export the schema of a JSON file to an `ArrowSchema`, which its receiver must release."""
        address = address_in(c_schema_ptr)
        move_schema_to(read_json(json_path).schema, address)
        self._watch(SchemaStruct, address)

    def export_batch_from_json(
        self, json_path: JsonPath, num_batch: int, c_array_ptr: Pointer
    ) -> None:
        """Export a batch of a JSON file as an `ArrowArray`, which its receiver must release."""
        address = address_in(c_array_ptr)
        batch = read_json(json_path)[num_batch]
        move_part_to(batch, address)
        self._watch(ArrayStruct, address)
        memory = {id(each.array): each.array for each in buffers_of(batch) if each.size}
        for buffer in memory.values():
            self._ledger.watch(buffer, 0, buffer.nbytes)

    def _watch(self, kind: type[SchemaStruct] | type[ArrayStruct], address: int) -> None:
        """Count a structure and all its children, by the memory that `private_data` of each keeps."""
        struct = struct_at(kind, address)
        anchor = ctypes.cast(struct.private_data, ctypes.py_object).value
        self._ledger.watch(anchor[0], 1, 0)
        for part in (*children_at(struct), struct.dictionary):
            if part:
                self._watch(kind, part)

    def record_allocation_state(self) -> tuple[int, int]:
        """Returns the number of exported structures that are alive, and the bytes of their buffers."""
        return self._ledger.structures, self._ledger.bytes


class ColkernCDataImporter(_CDataSide):
    """Imports by the C Data interface, and compares with integration JSON (archery's protocol)."""

    def import_schema_and_compare_to_json(self, json_path: JsonPath, c_schema_ptr: Pointer) -> None:
        """Import and release a schema; raises DifferenceError unless it equals that of a JSON file."""
        owner = Imported(SchemaStruct, address_in(c_schema_ptr))
        try:
            schema = schema_of(read_field(owner.address))
        finally:
            owner.close()
        require_equal_schemas(read_json(json_path).schema, schema, "the JSON", "the C data")

    def import_batch_and_compare_to_json(
        self, json_path: JsonPath, num_batch: int, c_array_ptr: Pointer
    ) -> None:
        """Import a batch under a JSON file's schema and compare it."""
        owner = Imported(ArrayStruct, address_in(c_array_ptr))
        document = read_json(json_path)
        field = Field("", Struct(document.schema.fields), nullable=False)
        batch = read_batch(HostStructure(field, owner), schema_of(field))
        batch.validate(full=True)
        try:
            require_equal_batches(document[num_batch], batch, "the JSON", "the C data")
        except DifferenceError as error:
            raise DifferenceError(f"batch {num_batch}, {error}") from None


class ColkernTester:
    """colkern as archery's runner sees an implementation (its class `Tester`)."""

    PRODUCER = True
    CONSUMER = True
    FLIGHT_SERVER = False
    FLIGHT_CLIENT = False
    C_DATA_SCHEMA_EXPORTER = True
    C_DATA_ARRAY_EXPORTER = True
    C_DATA_SCHEMA_IMPORTER = True
    C_DATA_ARRAY_IMPORTER = True

    name = "colkern"

    def __init__(self, debug: bool = False, **args: object) -> None:
        self.debug = debug
        self.args = args

    json_to_file = staticmethod(conversions.json_to_file)
    stream_to_file = staticmethod(conversions.stream_to_file)
    file_to_stream = staticmethod(conversions.file_to_stream)

    def validate(
        self, json_path: JsonPath, arrow_path: JsonPath, quirks: Collection[str] | None = None
    ) -> None:
        """Compare an Arrow file with a JSON file; see `conversions.validate`."""
        conversions.validate(json_path, arrow_path, quirks or ())

    def make_c_data_exporter(self) -> ColkernCDataExporter:
        """The exporter of the C Data interface."""
        return ColkernCDataExporter()

    def make_c_data_importer(self) -> ColkernCDataImporter:
        """The importer of the C Data interface."""
        return ColkernCDataImporter()
