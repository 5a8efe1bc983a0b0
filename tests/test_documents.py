"""Every code block of the documentation runs as it stands and shows what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import PAGES, ROOT, SPARK_PAGES, TIMEOUT, run_page


@pytest.mark.timeout(TIMEOUT + 20)
@pytest.mark.parametrize("page", PAGES)
def test_blocks_run_as_they_stand(page: str, tmp_path: Path) -> None:
    run_page(page, tmp_path)


def test_every_page_with_code_is_run() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    with_code = {
        page.relative_to(ROOT).as_posix()
        for page in pages
        if "```python" in page.read_text() or "```shell" in page.read_text()
    }
    assert with_code == {*PAGES, *SPARK_PAGES}


PAGE = """
```python
n = 40 + 2
n  # {said}
```
{marker}
```python
unknown
```
"""


@pytest.mark.parametrize(
    ("said", "marker", "problem"),
    [
        ("42", '<!-- skip: next "why" -->', None),
        ("4…", '<!-- skip: next if(n == 42, reason="why") -->', None),
        ("41", '<!-- skip: next "why" -->', "line 4 shows\n42\nand the page says\n41"),
        ("42", "", "NameError: name 'unknown' is not defined"),
    ],
)
def test_a_page_that_is_wrong_is_noticed(
    said: str, marker: str, problem: str | None, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(said=said, marker=marker))
    if problem is None:
        run_page(str(page), tmp_path)
    else:
        with pytest.raises(AssertionError, match=problem):
            run_page(str(page), tmp_path)
