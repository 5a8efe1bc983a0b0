"""Every code block of the pages about Spark runs as it stands, in a Spark that the page starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import SPARK_PAGES, TIMEOUT, run_page


@pytest.mark.timeout(TIMEOUT + 20)
@pytest.mark.parametrize("page", SPARK_PAGES)
def test_blocks_run_as_they_stand(page: str, tmp_path: Path) -> None:
    run_page(page, tmp_path)
