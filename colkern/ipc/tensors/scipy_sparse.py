"""SciPy's sparse arrays, where SciPy is installed."""

from __future__ import annotations

from typing import Any, cast

from colkern.names import why_missing


def scipy_sparse() -> Any:
    """The module `scipy.sparse`.

    Raises:
        ImportError: If SciPy is not installed, saying how to install it.
    """
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError(why_missing(error, "scipy"), name=error.name) from None
    return scipy.sparse


def from_scipy(matrix: object, wanted: str) -> Any:
    """A sparse array of SciPy's in a format; itself if it has it. Raises `TypeError` if it is none."""
    if not scipy_sparse().issparse(matrix):
        raise TypeError(f"matrix: expected a sparse array of SciPy's, got {type(matrix).__name__}")
    return cast("Any", matrix).asformat(wanted)
