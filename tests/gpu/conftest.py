"""Where these tests run: on a GPU, and, where it has what they need, over a stand-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from colkern.cuda import stand_in


@pytest.fixture(params=["stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """A device, by the name of what it is."""
    if request.param == "gpu":
        yield request.param
    else:
        with stand_in.installed():
            yield request.param
