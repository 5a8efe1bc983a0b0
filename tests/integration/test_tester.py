"""The tester for archery: pyarrow on the other side of the C Data interface, memory accounted for."""

from __future__ import annotations

import ctypes
import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from integration.generate import CASES, generate
from integration.oracle import values_in_arrow, values_in_json

from colkern.errors import DifferenceError, InvalidArrowError
from colkern.integration.tester import (
    ColkernCDataExporter,
    ColkernCDataImporter,
    ColkernTester,
    address_in,
)
from colkern.interchange.abi import ArrayStruct, SchemaStruct, struct_bytes

# pyarrow has no class for arrays of these; they go from colkern to colkern.
UNSEEN = ("interval",)


class CStruct:
    """Memory for a structure, as the runner allocates it."""

    def __init__(self, kind: Any) -> None:
        self.memory = (ctypes.c_int64 * (struct_bytes(kind) // 8))()
        self.address = ctypes.addressof(self.memory)
        self._release = kind._fields.index("release")

    @property
    def is_released(self) -> bool:
        result: bool = self.memory[self._release] == 0
        return result


@pytest.fixture
def c_schema() -> CStruct:
    return CStruct(SchemaStruct)


@pytest.fixture
def c_array() -> CStruct:
    return CStruct(ArrayStruct)


@pytest.fixture
def exporter() -> Iterator[ColkernCDataExporter]:
    with ColkernTester().make_c_data_exporter() as exporter:
        yield exporter
        exporter.run_gc()
        assert exporter.record_allocation_state() == (0, 0)


@pytest.fixture
def importer() -> Iterator[ColkernCDataImporter]:
    with ColkernTester().make_c_data_importer() as importer:
        yield importer


def write(document: Any, folder: Path) -> Path:
    path = folder / "case.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("case", CASES)
def test_colkern_imports_what_it_exports(
    case: str,
    tmp_path: Path,
    exporter: ColkernCDataExporter,
    importer: ColkernCDataImporter,
    c_schema: CStruct,
    c_array: CStruct,
) -> None:
    document = generate(case, 1)
    path = write(document, tmp_path)
    exporter.export_schema_from_json(path, c_schema.address)
    assert exporter.record_allocation_state()[0] >= 1 + len(document["schema"]["fields"])
    importer.import_schema_and_compare_to_json(path, c_schema.address)
    assert c_schema.is_released
    assert exporter.record_allocation_state() == (0, 0)
    for number, batch in enumerate(document["batches"]):
        exporter.export_batch_from_json(path, number, c_array.address)
        structures, size = exporter.record_allocation_state()
        assert structures >= 1 + len(batch["columns"])
        assert size > 0 or batch["count"] == 0 or case == "null_trivial"
        importer.import_batch_and_compare_to_json(path, number, c_array.address)
        assert c_array.is_released
        assert exporter.record_allocation_state() == (0, 0)


@pytest.mark.parametrize("case", [case for case in CASES if case not in UNSEEN])
def test_pyarrow_imports_what_colkern_exports(
    case: str,
    tmp_path: Path,
    exporter: ColkernCDataExporter,
    c_schema: CStruct,
    c_array: CStruct,
) -> None:
    document = generate(case, 2)
    path = write(document, tmp_path)
    for number, expected in enumerate(values_in_json(document)):
        exporter.export_schema_from_json(path, c_schema.address)
        exporter.export_batch_from_json(path, number, c_array.address)
        batch = pa.RecordBatch._import_from_c(c_array.address, c_schema.address)
        batch.validate(full=True)
        assert [values_in_arrow(_storage(column)) for column in batch.columns] == expected
        # Of nothing but nulls pyarrow keeps nothing.
        assert exporter.record_allocation_state() != (0, 0) or case == "null_trivial"
        del batch
        gc.collect()
        assert exporter.record_allocation_state() == (0, 0)


def _storage(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def test_colkern_imports_what_pyarrow_exports(
    tmp_path: Path,
    exporter: ColkernCDataExporter,
    importer: ColkernCDataImporter,
    c_schema: CStruct,
    c_array: CStruct,
) -> None:
    path = write(generate("recursive_nested", 3), tmp_path)
    exporter.export_schema_from_json(path, c_schema.address)
    exporter.export_batch_from_json(path, 1, c_array.address)
    batch = pa.RecordBatch._import_from_c(c_array.address, c_schema.address)
    before = pa.total_allocated_bytes()
    batch._export_to_c(c_array.address, c_schema.address)
    importer.import_schema_and_compare_to_json(path, c_schema.address)
    importer.import_batch_and_compare_to_json(path, 1, c_array.address)
    assert c_schema.is_released
    assert c_array.is_released
    assert pa.total_allocated_bytes() == before


# What is different


def test_a_difference_is_an_error_and_the_structures_are_released(
    tmp_path: Path, importer: ColkernCDataImporter, c_schema: CStruct, c_array: CStruct
) -> None:
    path = write(generate("null", 0), tmp_path)
    pa.schema([("n", pa.int8())])._export_to_c(c_schema.address)
    with pytest.raises(DifferenceError, match="schema: "):
        importer.import_schema_and_compare_to_json(path, c_schema.address)
    assert c_schema.is_released
    columns = [pa.nulls(10), pa.nulls(10, pa.int32()), pa.nulls(10), pa.nulls(10, pa.float64())]
    batch = pa.record_batch([*columns, pa.nulls(10)], ["f0", "f1", "f2", "f3", "f4"])
    batch._export_to_c(c_array.address)
    with pytest.raises(DifferenceError, match=r"batch 0, column 'f1', row \d: .* no value in the"):
        importer.import_batch_and_compare_to_json(path, 0, c_array.address)
    assert c_array.is_released


def test_what_is_no_structure_is_an_error(
    tmp_path: Path, importer: ColkernCDataImporter, c_schema: CStruct, c_array: CStruct
) -> None:
    path = write(generate("null", 0), tmp_path)
    with pytest.raises(InvalidArrowError, match="released"):
        importer.import_schema_and_compare_to_json(path, c_schema.address)
    with pytest.raises(InvalidArrowError, match="released"):
        importer.import_batch_and_compare_to_json(path, 0, c_array.address)


def test_a_batch_that_is_not_there(
    tmp_path: Path, exporter: ColkernCDataExporter, c_array: CStruct
) -> None:
    path = write(generate("null", 0), tmp_path)
    with pytest.raises(IndexError):
        exporter.export_batch_from_json(path, 2, c_array.address)
    assert c_array.is_released


# Pointers


def test_pointers_are_integers_or_cffis() -> None:
    assert address_in(2**47) == 2**47
    with pytest.raises(TypeError, match="expected an address or a cffi pointer"):
        address_in("0x7f")
    import cffi

    ffi = cffi.FFI()
    ffi.cdef("struct ArrowSchema { int64_t words[9]; };")
    pointer = ffi.new("struct ArrowSchema*")
    assert address_in(pointer) == int(ffi.cast("uintptr_t", pointer))


# What archery's class Tester has


def test_the_tester_has_all_that_the_runner_looks_for(tmp_path: Path) -> None:
    tester = ColkernTester(debug=True, with_cpp=True)
    assert (tester.name, tester.debug) == ("colkern", True)
    assert tester.PRODUCER
    assert tester.CONSUMER
    assert not tester.FLIGHT_SERVER
    assert not tester.FLIGHT_CLIENT
    assert tester.C_DATA_SCHEMA_EXPORTER
    assert tester.C_DATA_ARRAY_EXPORTER
    assert tester.C_DATA_SCHEMA_IMPORTER
    assert tester.C_DATA_ARRAY_IMPORTER
    for part in (tester.make_c_data_exporter(), tester.make_c_data_importer()):
        assert part.supports_releasing_memory
        assert part.required_gc_runs == 1


def test_the_tester_runs_the_runners_round(tmp_path: Path) -> None:
    path = str(write(generate("dictionary", 4), tmp_path))
    file, stream, back = (str(tmp_path / name) for name in ("file", "stream", "back"))
    producer, consumer = ColkernTester(), ColkernTester()
    producer.json_to_file(path, file)
    consumer.validate(path, file)
    producer.file_to_stream(file, stream)
    consumer.stream_to_file(stream, back)
    consumer.validate(path, back, quirks={"no_decimal_validate", "no_date64_validate"})
