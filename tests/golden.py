"""Arrow's golden files, laid out as in apache/arrow-testing."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

NO_GOLDEN_FILES = (
    "Arrow's golden files are absent: set ARROW_TEST_DATA to the `data` folder of "
    "apache/arrow-testing"
)


def golden_folder() -> Path | None:
    """Arrow's golden files: $ARROW_TEST_DATA, else beside the repository; None where absent."""
    folder = os.environ.get("ARROW_TEST_DATA") or ROOT.parent / "shared" / "arrow-testing" / "data"
    return Path(folder) if Path(folder).is_dir() else None


def golden_files(*patterns: str) -> list[Any]:
    """For `parametrize`: the golden files that match; one skipped parameter where there are none.

    Patterns are relative to the folder, such as `arrow-ipc-stream/integration/*/*.stream`.
    """
    folder = golden_folder()
    if folder is None:
        return [pytest.param(None, marks=pytest.mark.skip(reason=NO_GOLDEN_FILES))]
    paths = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    if not paths:
        reason = f"no file below ARROW_TEST_DATA matches {' or '.join(patterns)}"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    return [
        pytest.param(path, id=path.relative_to(folder).as_posix(), marks=_missing_codec(path))
        for path in paths
    ]


def _missing_codec(path: Path) -> list[pytest.MarkDecorator]:
    """Skips a file whose codec's package is not installed, as on a GPU's machine."""
    packages = {"lz4": "lz4", "zstd": "zstandard"}
    return [
        pytest.mark.skip(reason=f"the package {package} is not installed")
        for codec, package in packages.items()
        if codec in path.stem and not is_installed(package)
    ]


def is_installed(package: str) -> bool:
    """Whether a package can be imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except ImportError:
        return False
