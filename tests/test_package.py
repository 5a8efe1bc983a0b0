"""The package as a whole: what a wheel holds, what an import costs, which way imports run."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterable, Iterator
from email import message_from_bytes
from email.message import Message
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from documents import run_page

import colkern
from colkern.dispatch import incomplete

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "colkern"

# Each may import what stands in the rows above it; parts of one row as long as there is no cycle.
LAYERS = [
    {
        "errors",
        "closing",
        "forks",
        "generated",
        "habits",
        "integers",
        "key_values",
        "names",
        "steps",
    },
    {"type_trees"},
    {"data_types"},
    {"schema"},
    {"layouts", "extensions", "pool", "cache"},
    {"dispatch"},
    {"memory"},
    {"kernels"},
    {"cpu", "cuda"},
    {"targets"},
    {"bitmaps"},
    {"arrays", "missing"},
    {"interchange"},
    {"builders"},
    {"operations"},
    {"rows"},
    {"jit", "ipc"},
    {"functions", "files"},
    {"dissociated", "integration"},
    {"methods"},
    {"__init__"},
    {"machine"},
    {"spark"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}

HEAVY = ("numba", "pyarrow", "pandas", "pyspark", "cupy", "matplotlib", "rich")


def run(*command: object, timeout: float = 240, cwd: Path = ROOT) -> str:
    """The command's output; the test fails with all that it said if it fails."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=timeout, cwd=cwd
    )
    if done.returncode != 0:
        pytest.fail(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


# The wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (path,) = folder.glob("*.whl")
    return path


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    sources = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]
    modules = {path.relative_to(ROOT).as_posix() for path in sources}
    assert modules | {"colkern/py.typed"} <= set(names)
    strangers = [name for name in names if not name.startswith(("colkern/", "colkern-"))]
    assert strangers == []
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    # Without bytecode of all that Numba has, which takes longer than the rest, and of which nothing runs.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-compile"]
    installed = subprocess.run(
        [*pip, "--quiet", str(wheel), "sybil"],
        capture_output=True,
        text=True,
        timeout=280,
    )
    if "connection broken by" in installed.stderr and installed.returncode != 0:
        pytest.skip("no package index is reachable, and the core dependencies come from one")
    assert installed.returncode == 0, installed.stderr

    result = run(python, "-c", "import colkern; print(colkern.__file__)", cwd=tmp_path)
    assert Path(result.strip()).is_relative_to(tmp_path)
    version = run(python.with_name("colkern"), "--version", cwd=tmp_path)
    assert wheel.name.split("-")[1] in version
    # Nothing of the extras is there.
    looked_at = (
        "import pydoc\nfrom colkern import *\nimport colkern\nprint(len(pydoc.render_doc(colkern)))"
    )
    assert int(run(python, "-c", looked_at, cwd=tmp_path)) > 1000
    folder = tmp_path / "folder"
    folder.mkdir()
    run_page("README.md", folder, until="## The same function in Spark", python=python)


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def test_what_a_package_index_shows_leads_to_the_repository(wheel: Path) -> None:
    metadata = metadata_of(wheel)
    addresses = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= addresses.keys()
    links = re.findall(r"\]\(([^)]+)\)", str(metadata.get_payload()))
    inside = [link for link in links if not link.startswith("https://")]
    assert links
    assert inside == []
    in_repository = [link.removeprefix(f"{addresses['Homepage']}/blob/main/") for link in links]
    assert [path for path in in_repository if not (ROOT / path).exists()] == []


def test_source_distribution_holds_what_the_targets_of_make_need(tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    tracked = run("git", "ls-files").splitlines() if (ROOT / ".git").exists() else []
    # What Git alone needs.
    assert set(tracked) - held <= {".gitignore"}
    needed = {"uv.lock", ".ci/setup", ".ci/run", "Makefile", "pyproject.toml", "asv.conf.json"}
    assert needed <= held


# What an import costs


def test_import_brings_no_heavy_library() -> None:
    code = f"import sys, colkern; print([m for m in {HEAVY} if m in sys.modules])"
    assert run(sys.executable, "-c", code).strip() == "[]"


# What a package offers, without the packages of the extras

OPTIONAL = (
    "pyspark",
    "py4j",
    "pyarrow",
    "pandas",
    "cupy",
    "numba_cuda",
    "_numba_cuda_redirector",
    "ucxx",
)


def run_without(packages: Iterable[str], code: str) -> str:
    """The output of the code where those packages cannot be imported."""
    hidden = f"import sys\nsys.modules.update(dict.fromkeys({tuple(packages)}))\n"
    return run(sys.executable, "-c", hidden + code).strip()


@pytest.mark.parametrize(
    "code",
    [
        "from colkern import *; print(udf is not None and spark.__name__)",
        "import colkern, pydoc; print('discounted' in pydoc.render_doc(colkern) and 'colkern.spark')",
        "import colkern, inspect; print(dict(inspect.getmembers(colkern))['spark'].__name__)",
    ],
    ids=["import *", "help", "getmembers"],
)
def test_the_package_can_be_looked_at_without_extras(code: str) -> None:
    assert run_without(OPTIONAL, code) == "colkern.spark"


@pytest.mark.parametrize(
    ("name", "missing", "message"),
    [
        ("colkern.spark.udf", "pyspark", "PySpark is not installed: pip install 'colkern[spark]'"),
        ("colkern.spark.read", "pyspark", "PySpark is not installed: pip install 'colkern[spark]'"),
        (
            "colkern.spark.accelerate",
            "pandas",
            "pandas is not installed: pip install 'colkern[spark]'",
        ),
        (
            "colkern.dissociated.flight.FlightService",
            "pyarrow",
            "pyarrow is not installed: pip install pyarrow",
        ),
    ],
)
def test_a_missing_extra_is_named(name: str, missing: str, message: str) -> None:
    module, _, attribute = name.rpartition(".")
    code = f"""
try:
    from {module} import {attribute}
except ImportError as error:
    print(error)
"""
    assert run_without([missing], code).endswith(f": {message}")


def test_a_package_for_a_gpu_that_is_missing_is_named() -> None:
    code = """
import colkern as ck
for call in (lambda: ck.to_device(ck.array([1])), lambda: ck.ipc.open(b"", device="cuda")):
    try:
        call()
    except ck.DeviceUnavailableError as error:
        print(error)
"""
    install = "pip install 'colkern[cuda13]' (or 'colkern[cuda12]', to match the driver)"
    for line in run_without(OPTIONAL, code).splitlines():
        assert line == f"no CUDA compiler: numba-cuda is not installed: {install}"


LOOKED_AT = """
import importlib, inspect, pydoc
for name in {packages}:
    package = importlib.import_module(name)
    missing = {{public for public in package.__all__ if not hasattr(package, public)}}
    members = {{member for member, _ in inspect.getmembers(package)}}
    assert members == set(package.__all__) - missing, name
    assert all(getattr(package, public, None) is None for public in missing), name
    assert pydoc.render_doc(package)
    try:
        exec(f"from {{name}} import *", {{}})
        message = ""
    except ImportError as error:
        message = str(error)
    print(name, *sorted(missing), message, sep="; ")
"""


def test_all_packages_can_be_looked_at_without_extras() -> None:
    lines = run_without(OPTIONAL, LOOKED_AT.format(packages=PACKAGES)).splitlines()
    actual = {line.split("; ")[0]: line.split("; ")[1:] for line in lines}
    assert actual.keys() == set(PACKAGES)
    *missing, message = actual.pop("colkern.spark")
    assert {"udf", "read", "accelerate"} <= set(missing)
    # The statement would leave names out: it fails, and says what to install.
    assert "is not installed: pip install" in message
    assert all(rest == [""] for rest in actual.values())


PACKAGES = sorted(
    ".".join(path.parent.relative_to(ROOT).parts)
    for path in [PACKAGE / "__init__.py", *PACKAGE.glob("*/__init__.py")]
    if "__all__ = " in path.read_text()
)


@pytest.mark.parametrize("name", PACKAGES)
def test_dir_of_a_package_shows_its_public_names(name: str) -> None:
    package = importlib.import_module(name)
    assert dir(package) == sorted(package.__all__)
    assert all(hasattr(package, public) for public in package.__all__)


def private_names(thing: object) -> list[str]:
    return [name for name in dir(thing) if name[0] == "_" and not name.endswith("__")]


def test_dir_of_functions_and_buffers_shows_public_names() -> None:
    @colkern.udf
    def double(x: float) -> float:
        return 2 * x

    for thing in (double, colkern.array([1]).buffers[1]):
        assert private_names(thing) == []
    assert "compile" in dir(double)


def test_dir_of_data_shows_public_names() -> None:
    column = colkern.array([1])
    batch = colkern.record_batch({"n": column})
    stream = colkern.RecordBatchStream(batch.schema, [batch])
    for thing in (column, batch, stream, batch.schema, column.type):
        assert private_names(thing) == []
        assert "__arrow_c_schema__" in dir(thing) or thing is column


# Tables by layout and by data type


def test_no_table_lacks_a_layout_or_a_type() -> None:
    for module in pkgutil.walk_packages(colkern.__path__, "colkern."):
        if not module.name.endswith("__main__") and "mlir" not in module.name:
            importlib.import_module(module.name)
    assert incomplete() == []


# Which way imports run


def part_of(path: Path) -> str:
    """`colkern/ipc/reader.py` belongs to `ipc`, `colkern/errors.py` to `errors`."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def is_part(name: str) -> bool:
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


def imports(tree: ast.AST, *, package: str) -> Iterator[str]:
    """Every dotted name that is imported, when the module is or when a function is called.

    Imports for type checkers alone do not run, and do not count.
    """
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                for other in node.orelse:
                    yield from imports(other, package=package)
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                base = node.module or ""
                if node.level:
                    parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                    base = ".".join([*parents, base] if base else parents)
                yield from (f"{base}.{alias.name}" for alias in node.names)
            case _:
                yield from imports(node, package=package)


@cache
def all_imports() -> list[tuple[Path, str]]:
    results = []
    for path in sorted(PACKAGE.rglob("*.py")):
        package = ".".join(path.parent.relative_to(ROOT).parts)
        tree = ast.parse(path.read_bytes())
        results += [(path, name) for name in imports(tree, package=package)]
    return results


def internal_imports() -> Iterator[tuple[Path, str, str]]:
    """(file, its part, the part that it imports): only imports across parts."""
    for path, name in all_imports():
        words = name.split(".")
        if words[0] != "colkern":
            continue
        target = words[1] if len(words) > 1 and is_part(words[1]) else "__init__"
        if target != part_of(path):
            yield path, part_of(path), target


def test_imports_run_downwards_only() -> None:
    """Imports within functions count: none is exempt."""
    upwards = [
        f"{path.relative_to(ROOT)} imports {target}"
        for path, part, target in internal_imports()
        if RANK[target] > RANK[part]
    ]
    assert upwards == []


def test_packages_import_each_other_in_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for _, part, target in internal_imports():
        graph.setdefault(part, set()).add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def importers(*libraries: str) -> dict[str, list[str]]:
    """Which parts import a library, and in which files."""
    results: dict[str, list[str]] = {}
    for path, name in all_imports():
        if any(f"{name}.".startswith(f"{library}.") for library in libraries):
            results.setdefault(part_of(path), []).append(str(path.relative_to(ROOT)))
    return results


def test_only_spark_imports_pyspark() -> None:
    assert importers("pyspark").keys() <= {"spark"}


def test_only_the_cuda_target_imports_the_cuda_compiler() -> None:
    actual = importers("numba.cuda", "numba_cuda", "numba_cuda_mlir")
    assert actual.keys() <= {"cuda"}
    # Through the adapter, and what it supplies to the compiler's successor.
    adapters = {f"colkern/cuda/{name}.py" for name in ("adapter", "mlir_primitives")}
    assert set(actual["cuda"]) == adapters


def test_only_the_primitives_extend_a_compiler() -> None:
    extensions = ("numba.extending", "numba.core", "llvmlite", "numba_cuda_mlir.extending")
    result = importers(*extensions, "numba_cuda_mlir._mlir")
    primitives = {f"colkern/cuda/{name}.py" for name in ("primitives", "mlir_primitives")}
    assert set(result["cuda"]) <= primitives


def test_cached_properties_have_no_lock() -> None:
    """Those of functools have one before Python 3.12, which a fork may leave held: see colkern.forks."""
    assert importers("functools.cached_property") == {}
    name = "functools.cached_property"
    assert [path.name for path in PACKAGE.rglob("*.py") if name in path.read_text()] == ["forks.py"]


def test_kernel_bodies_know_no_target() -> None:
    assert "kernels" not in importers("numba.cuda", "numba_cuda", "cupy", "pyarrow")
