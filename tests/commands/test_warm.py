"""`colkern warm`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from colkern import cli, kernels
from colkern.cuda.toolkit import CudaLibrary
from colkern.cuda.warming import warmed
from colkern.functions import row_functions, warming
from colkern.kernels import arithmetic, bitmaps, offsets, selection


@pytest.fixture(autouse=True)
def two_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and two kernels and a function, which runs two others, to fill it with."""
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "cache"))
    few = {k.name: k for k in (offsets.lengths_of, bitmaps.copy_bits)}
    monkeypatch.setattr(kernels, "KERNELS", few)
    one = {"utf8_reverse": row_functions.all_functions()["utf8_reverse"]}
    monkeypatch.setattr(warming, "all_functions", lambda: one)


def test_compiles_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["warm", "--jobs", "1"]) == 0
    cache = tmp_path / "cache" / "kernels"
    message = f"2 kernels, 3 variants, 1 function: 6 compiled, 0 found in {cache}\n"
    assert capsys.readouterr().out == message
    of_kernels = [
        path for path in cache.iterdir() if path.name.startswith(("lengths_of", "copy_bits"))
    ]
    assert len(of_kernels) == 3
    assert cli.main(["warm", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == {
        "kernels": 2,
        "variants": 3,
        "functions": 1,
        "compiled": 0,
        "loaded": 6,
        "cache": str(cache),
    }


def test_without_a_directory(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(name: str = "") -> Path:
        raise PermissionError("no private directory for cached files; set COLKERN_CACHE_DIR")

    monkeypatch.setattr("colkern.cache.cache_dir", none)
    assert cli.main(["warm"]) == 1
    assert "set COLKERN_CACHE_DIR" in capsys.readouterr().err


def test_what_is_compiled_in_must_be_known_first() -> None:
    functions = row_functions.all_functions()
    assert warming.options_of("utf8_upper", functions["utf8_upper"].called) == []
    for name in ("strptime", "match_substring_regex", "utf8_normalize"):
        assert warming.options_of(name, functions[name].called) is None


def test_jobs_must_be_positive(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["warm", "--jobs", "0"]) == 2
    assert "--jobs" in capsys.readouterr().err


def test_compiles_once_for_gpus(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cache = tmp_path / "cache" / "kernels"
    # Once Numba is loaded, a kernel of this processor checks the function's column.
    for capability, compiled, loaded in (("sm_90", 5, 0), ("9.0", 0, 4), ("sm_80", 4, 1)):
        assert cli.main(["warm", "--cuda", capability, "--jobs", "1"]) == 0
        counts = f"{compiled} compiled, {loaded} found in {cache}"
        assert capsys.readouterr().out == f"2 kernels, 3 variants, 1 function: {counts}\n"
    assert len(list(cache.glob("*-sm_90-*.cubin"))) == 4
    assert len(list(cache.glob("*.kernel"))) == 1


def test_sizes_of_groups_are_variants_for_gpus() -> None:
    few = {k.name: k for k in (selection.take_bytes, offsets.lengths_of)}
    # Indices and offsets of four and two types, three sizes of groups; offsets of two types.
    types = len(list(selection.take_bytes.variants()))
    assert warmed(few) == {"take_bytes": 3 * types, "lengths_of": 2}


def test_kernels_of_one_launch_are_compiled_for_gpus() -> None:
    few = {k.name: k for k in (bitmaps.and_bits, arithmetic.add_words)}
    assert warmed(few) == {"and_bits": 1, "add_words": 4, "and_bits_and_add_words": 4}


@pytest.mark.parametrize(
    ("capability", "status", "message"),
    [
        ("hopper", 2, "expected a compute capability such as sm_90, got 'hopper'"),
        ("sm_12", 1, "sm_12: the CUDA toolkit here compiles for sm_"),
    ],
)
def test_unknown_compute_capabilities(
    capability: str, status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["warm", "--cuda", capability]) == status
    assert message in capsys.readouterr().err


def test_without_a_library_of_cuda(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = CudaLibrary("nvvm", "", "", (0, 0), "libnvvm.so.4 is nowhere")
    monkeypatch.setattr("colkern.cuda.warming.find_library", lambda name: lacking)
    assert cli.main(["warm", "--cuda", "sm_90"]) == 1
    errors = capsys.readouterr().err
    assert "no CUDA compiler: libnvvm.so.4 is nowhere; pip install 'colkern[cuda13]'" in errors


def test_compilers_that_keep_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLKERN_CUDA_COMPILER", "numba-cuda-mlir")
    assert cli.main(["warm", "--cuda", "sm_90"]) == 1
    assert "numba-cuda alone" in capsys.readouterr().err
