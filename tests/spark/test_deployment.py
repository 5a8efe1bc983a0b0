"""`install`: what goes to the executors, and what is said of them."""

from __future__ import annotations

import copy
import zipfile
from pathlib import Path
from typing import Any, cast
from zipimport import zipimporter

import pyspark
import pytest
from pyspark.resource import ResourceInformation
from pyspark.sql import SparkSession

import colkern as ck
import colkern.spark
from colkern.cache import cache_dir, compilations, write_whole
from colkern.cuda.compiler import compile_grid, parameters
from colkern.cuda.device_code import kept_files
from colkern.kernels import offsets
from colkern.spark.deployment import executor_facts
from colkern.spark.deployment.archives import kernel_archive, package_archive, unpack_kernels
from colkern.spark.deployment.installing import diagnosed

# The package as an archive


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package_archive(tmp_path_factory.mktemp("package"))


def test_the_archive_of_the_package_holds_all_its_files_and_bytecode(package: Path) -> None:
    root = Path(ck.__file__).parent
    sources = {p.relative_to(root.parent).as_posix() for p in root.rglob("*.py")}
    names = set(zipfile.ZipFile(package).namelist())
    assert sources | {f"{name}c" for name in sources} | {"colkern/py.typed"} <= names
    assert not [name for name in names if "__pycache__" in name]


def test_python_takes_the_bytecode_of_the_archive(package: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(package) as actual, zipfile.ZipFile(tmp_path / "p.zip", "w") as bare:
        for name in actual.namelist():
            if name.endswith(".pyc"):
                bare.writestr(name, actual.read(name))
    importer = zipimporter(str(tmp_path / "p.zip"))
    assert importer.get_code("colkern/errors").co_filename == "colkern/errors.py"


def test_the_same_package_makes_the_same_archive(package: Path, tmp_path: Path) -> None:
    again = package_archive(tmp_path)
    assert again.name == package.name
    assert again.read_bytes() == package.read_bytes()


# Compiled functions as an archive


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "cache"))
    return cache_dir("kernels")


def stored(cache: Path, name: str, content: bytes) -> None:
    write_whole(cache / name, content)


def test_compiled_functions_go_from_cache_to_cache(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(cache, "a.kernel", b"machine code")
    stored(cache, "b.kernel", b"not asked for")
    archive = kernel_archive(tmp_path, ["a.kernel", "gone.kernel"])
    assert archive is not None
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "other"))
    assert [unpack_kernels(tmp_path), unpack_kernels(tmp_path)] == [1, 0]
    other = tmp_path / "other" / "kernels"
    assert (other / "a.kernel").read_bytes() == (cache / "a.kernel").read_bytes()
    assert not (other / "b.kernel").exists()


def test_damaged_files_of_the_cache_are_not_shipped(cache: Path, tmp_path: Path) -> None:
    (cache / "a.kernel").write_bytes(b"x" * 100)
    assert kernel_archive(tmp_path, ["a.kernel"]) is None


def test_code_for_gpus_is_shipped_from_a_machine_without_one(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def code() -> object:
        compile_grid.cache_clear()
        variant = next(offsets.lengths_of.variants())
        kernel = compile_grid(((offsets.lengths_of, 1),), 256)
        return kernel.code(parameters([offsets.lengths_of], [variant]), (9, 0))

    compiled = code()
    (cache_dir("kernels") / "of_another_release-sm_90-1-2.cubin").touch()
    kept = kept_files()
    assert len(kept) == 1
    assert kernel_archive(tmp_path, kept) is not None
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "executor"))
    assert unpack_kernels(tmp_path) == 1
    before = compilations()
    assert code() == compiled
    after = compilations()
    assert (after["compiled"], after["loaded"]) == (before["compiled"], before["loaded"] + 1)


def test_members_of_an_archive_land_in_the_cache_alone(cache: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "colkern-kernels-0.zip", "w") as archive:
        archive.writestr("../../outside.kernel", b"")
    unpack_kernels(tmp_path)
    assert not (tmp_path / "outside.kernel").exists()
    assert (cache / "outside.kernel").exists()


# What is said of executors

VERSIONS = dict.fromkeys(("python", *executor_facts.PACKAGES), "1.0")
HERE = {
    "host": "driver",
    "folder": "/",
    "versions": VERSIONS,
    "colkern": "0.1.0",
    "processor": "x86_64 znver5",
    "cache": "/cache",
    "passed_over": [],
}


def problems(**changed: Any) -> list[tuple[str, str, str]]:
    """The problems where one of two executors differs from the driver."""
    good = {**copy.deepcopy(HERE), "host": "good"}
    bad = {**copy.deepcopy(HERE), "host": "bad", **changed}
    actual = diagnosed(HERE, [cast("Any", good), cast("Any", bad)])
    return [(f.name, f.state, f.remedy) for f in actual if f.remedy]


def test_executors_like_the_driver_are_no_problem() -> None:
    assert problems() == []


def test_a_missing_package_is_named_with_its_host() -> None:
    ((name, actual, remedy),) = problems(versions=VERSIONS | {"numba": ""})
    assert (name, actual) == ("numba", "not installed on bad")
    assert "venv-pack" in remedy


@pytest.mark.parametrize("name", ["python", "numpy", "numba", "llvmlite"])
def test_another_release_where_machine_code_depends_on_it(name: str) -> None:
    ((said, actual, _),) = problems(versions=VERSIONS | {name: "2.0"})
    assert (said, actual) == (name, "2.0 on bad, 1.0 on the driver")


def test_another_release_of_other_packages_is_no_problem() -> None:
    assert problems(versions=VERSIONS | {"lz4": "2.0"}) == []


def test_another_processor_compiles_itself() -> None:
    ((name, actual, remedy),) = problems(processor="x86_64 haswell")
    assert (name, actual) == ("processor", "x86_64 haswell on bad, x86_64 znver5 on the driver")
    assert "one compilation a machine" in remedy


def test_colkern_that_cannot_be_imported() -> None:
    ((name, actual, _),) = problems(error="ModuleNotFoundError: No module named 'colkern'")
    assert name == "colkern"
    assert actual.startswith("ModuleNotFoundError: No module named 'colkern' on bad")


def test_an_executor_without_a_cache() -> None:
    ((name, actual, remedy),) = problems(cache="", no_cache="no private directory")
    assert (name, actual) == ("cache", "bad: no private directory")
    assert "spark.executorEnv.COLKERN_CACHE_DIR" in remedy


def test_a_cache_directory_that_an_executor_does_not_use_is_said_with_the_reason() -> None:
    ((name, actual, remedy),) = problems(passed_over=["/home/x/.cache/colkern: not writable"])
    assert name == "cache"
    assert actual == "bad: a directory is not used: /home/x/.cache/colkern: not writable"
    assert "spark.executorEnv.COLKERN_CACHE_DIR" in remedy


@pytest.mark.spark
def test_a_local_session_needs_nothing(spark: SparkSession) -> None:
    report = colkern.spark.install(spark)
    assert report.works, str(report)
    assert str(report).splitlines()[:3] == [
        "ok       shipped: nothing: the workers run beside the driver",
        'ok       data source: format("colkern") is registered',
        "ok       executors: 1 answered, on one host",
    ]


def test_install_wants_a_session() -> None:
    with pytest.raises(TypeError, match="spark: expected a SparkSession, got str"):
        colkern.spark.install("spark://master")


# The device of a task


class Context:
    """A task's context, as far as resources go."""

    def __init__(self, *addresses: str) -> None:
        given = {"gpu": ResourceInformation("gpu", list(addresses))}
        self.resources = lambda: given if addresses else {}


def in_task(monkeypatch: pytest.MonkeyPatch, context: Context | None, visible: str | None) -> None:
    monkeypatch.setattr(pyspark.TaskContext, "get", lambda: context)
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)


@pytest.mark.parametrize(
    ("context", "visible", "device"),
    [
        (None, None, "cpu"),
        (Context(), None, "cpu"),
        (Context("3", "4"), None, "cuda:3"),
        (Context("3"), "5,3", "cuda:1"),
        (Context("GPU-1f"), "GPU-0a, GPU-1f", "cuda:1"),
    ],
)
def test_the_device_is_the_gpu_that_spark_gave(
    monkeypatch: pytest.MonkeyPatch, context: Context | None, visible: str | None, device: str
) -> None:
    in_task(monkeypatch, context, visible)
    assert str(colkern.spark.task_device()) == device


@pytest.mark.parametrize(("address", "visible"), [("3", "0,1"), ("3", ""), ("GPU-1f", None)])
def test_a_gpu_that_the_process_cannot_see(
    monkeypatch: pytest.MonkeyPatch, address: str, visible: str | None
) -> None:
    in_task(monkeypatch, Context(address), visible)
    with pytest.raises(ck.DeviceUnavailableError, match=f"the address {address}"):
        colkern.spark.task_device()
