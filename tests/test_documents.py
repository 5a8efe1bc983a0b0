"""Every code block of the documentation runs as it stands and shows what it says."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
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
n  # {sentence}
```
{marker}
```python
unknown
```
"""


@pytest.mark.parametrize(
    ("sentence", "marker", "problem"),
    [
        ("42", '<!-- skip: next "why" -->', None),
        ("4…", '<!-- skip: next if(n == 42, reason="why") -->', None),
        ("41", '<!-- skip: next "why" -->', "line 4 shows\n42\nand the page says\n41"),
        ("42", "", "NameError: name 'unknown' is not defined"),
    ],
)
def test_a_page_that_is_wrong_is_noticed(
    sentence: str, marker: str, problem: str | None, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(sentence=sentence, marker=marker))
    if problem is None:
        run_page(str(page), tmp_path)
    else:
        with pytest.raises(AssertionError, match=problem):
            run_page(str(page), tmp_path)


@pytest.mark.parametrize(
    ("way", "words"), [("pandas_udf", "the `pandas_udf`s"), ("arrow_udf", "pyarrow")]
)
def test_the_gains_that_readme_names_are_those_of_the_committed_figures(
    way: str, words: str
) -> None:
    demo = json.loads((ROOT / "benchmarks/results/demo.json").read_text())
    gains = [each["colkern_times_as_fast"][way] for each in demo["functions"]]
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f"{min(gains):.1f} to {max(gains):.1f} times as fast as {words}" in text


# Files that pages name

NAMING = ["CONTRIBUTING.md", "SECURITY.md", "docs/design.md", "docs/stability.md"]
NAMING += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/decisions").glob("*"))
FOLDERS = ("colkern", "tests", "docs", "benchmarks", "examples")


@pytest.mark.parametrize("page", NAMING)
def test_files_that_a_page_names_exist(page: str) -> None:
    words = re.findall(r"`([\w./-]+)`", (ROOT / page).read_text())
    paths = [word for word in words if word.partition("/")[0] in FOLDERS and "/" in word]
    assert [path for path in paths if not (ROOT / path).exists()] == []


STEPS = re.compile(r"^\d+\. `(colkern/[\w/]+\.py)`, `([\w.]+)`:", re.MULTILINE)


def walks() -> dict[str, list[tuple[str, str]]]:
    """The walks of docs/design.md: the title, and each step's file and name."""
    page = (ROOT / "docs/design.md").read_text()
    sections = [text.partition("\n") for text in page.split("\n## ")]
    matches = {title: STEPS.findall(text) for title, _, text in sections}
    return {title: steps for title, steps in matches.items() if steps}


def test_the_design_has_two_walks() -> None:
    assert [len(steps) for steps in walks().values()] == [16, 21]


WALK = """
import sys
import colkern as ck

called = []

def note(frame, event, argument):
    if event == "call" and "/colkern/" in frame.f_code.co_filename:
        called.append((frame.f_code.co_filename, frame.f_code.co_qualname))

def net(price: float, discount: float) -> float:
    return price * (1 - discount)

ck.ipc.write_file("orders.arrow", ck.record_batch({"price": [9.5, None]}))
price, discount = ck.array([10.0, None]), ck.array([0.1, 0.2])
sys.setprofile(note)
if sys.argv[1] == "kernel":
    ck.sum(ck.ipc.open("orders.arrow").get_batch(0)["price"])
else:
    ck.udf(net)(price, discount)
sys.setprofile(None)
for file, name in called:
    print(file, name)
"""


@pytest.mark.parametrize("position", [0, 1], ids=["file to kernel", "text to machine code"])
def test_a_walk_leads_through_its_files_in_order(position: int, tmp_path: Path) -> None:
    title, steps = list(walks().items())[position]
    # A function in a file has a source.
    (tmp_path / "walk.py").write_text(WALK)
    done = subprocess.run(
        [sys.executable, "walk.py", title.split()[-1]],
        cwd=tmp_path,
        env=os.environ | {"COLKERN_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    calls = [line.rpartition("/colkern/")[2].split() for line in done.stdout.splitlines()]
    first = {step: [i for i, call in enumerate(calls) if is_of(call, *step)][:1] for step in steps}
    assert [step for step, places in first.items() if not places] == []
    assert sorted(steps, key=lambda step: first[step]) == steps


def is_of(call: list[str], path: str, name: str) -> bool:
    """Whether a call is one of that function, or of a method of that class."""
    file, called = call[0], call[1]
    is_class = name[0].isupper() and "." not in name
    return f"colkern/{file}" == path and (
        called.startswith(f"{name}.") if is_class else called == name
    )


def test_the_page_of_functions_is_what_their_table_has() -> None:
    writer = runpy.run_path(str(ROOT / "docs/extensions/operation_tables.py"))
    page = (ROOT / "docs/functions.md").read_text()
    assert page == writer["page"](), "run python docs/extensions/operation_tables.py"


def test_what_compiles_is_what_the_table_of_methods_has() -> None:
    writer = runpy.run_path(str(ROOT / "docs/extensions/row_methods.py"))
    page = (ROOT / "docs/row_methods.md").read_text()
    assert page == writer["page"](), "run python docs/extensions/row_methods.py"
