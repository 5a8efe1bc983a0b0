"""Runs the code blocks of a page unchanged, and compares their output: `documents.py PAGE [LINE]`.

The blocks of a page share a namespace, like lines that are typed in one after the other, and start in an
empty current directory.

Comments have the expected output of Python: behind an expression, or in lines of their own directly below
an expression or a `with`, `for` or `if`. The interpreter must print the same for that statement. `…` stands
for any text. Other comments are prose. A block of `shell` is a script for bash.

A block that cannot run has a line above it with the reason: `<!-- skip: next "needs a GPU" -->`, or
`<!-- skip: next if(condition, reason="…") -->`, where the condition is an expression of the page's names.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import os
import re
import subprocess
import sys
import tokenize
import traceback
from pathlib import Path
from types import ModuleType
from unittest import SkipTest

from sybil import Document, Example
from sybil.evaluators.python import pad
from sybil.parsers.markdown import CodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parent.parent

PAGES = [
    "docs/cheat_sheet.md",
    "docs/compiled_code.md",
    "docs/design.md",
    "docs/device_memory.md",
    "docs/dissociated.md",
    "docs/getting_started.md",
    "docs/gpu.md",
    "docs/ipc.md",
    "docs/operations.md",
    "docs/performance.md",
    "docs/recipes.md",
    "docs/row_functions.md",
    "docs/settings.md",
    "docs/tables.md",
]
"""Pages that need no Spark."""

SPARK_PAGES = [
    "README.md",
    "docs/from_pandas_udf.md",
    "docs/spark.md",
    "docs/spark_deployment.md",
    "docs/spark_source.md",
]
"""Pages that start a Spark."""

TIMEOUT = 580
"""Seconds for a page: Spark takes minutes to start on a busy machine."""

SHOWN_BELOW = (ast.Expr, ast.With, ast.For, ast.While, ast.If, ast.Try)


def run_page(
    page: str, folder: Path, *, until: str = "", python: str | Path = sys.executable
) -> None:
    """Run a page in a process of its own; `AssertionError` with its output if a block fails.

    Args:
        page: Its path within the repository.
        folder: The empty directory that the blocks start in.
        until: A line, as a heading; blocks below it are left out.
        python: An interpreter that has colkern and Sybil.
    """
    done = subprocess.run(
        [python, __file__, str(ROOT / page), *([until] if until else [])],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def main(path: str, until: str = "") -> int:
    """Run the blocks, or those above a line; the exit status."""
    blocks = [CodeBlockParser("python", run_python), CodeBlockParser("shell", run_shell)]
    document = Document.parse(path, *blocks, SkipParser())
    show_source(Path(path))
    # Functions belong to a script: its name and file are needed to pickle them and to find their source.
    script = ModuleType("__main__")
    script.__file__ = path
    sys.modules["__main__"] = script
    document.namespace = script.__dict__
    end = document.text.index(f"\n{until}\n") if until else document.end
    for example in document.examples():
        if example.start > end:
            break
        place = f"{Path(path).name}, line {example.line}"
        try:
            example.evaluate()
        except SkipTest as reason:
            print(f"{place}: skipped: {reason}")
        except Exception:  # noqa: BLE001
            print(f"{place}:", file=sys.stderr)
            traceback.print_exc()
            return 1
    return 0


def show_source(page: Path) -> None:
    """Let `linecache` take a page for a file of Python that has its blocks, on the lines that they have."""
    lines, is_code = [], False
    for line in page.read_text().splitlines(keepends=True):
        if line.startswith("```"):
            is_code = line.startswith("```python")
            line = "\n"
        lines.append(line if is_code else "\n")
    linecache.cache[str(page)] = (0, None, lines, str(page))


def run_python(example: Example) -> None:
    """One block of Python, statement by statement."""
    source = pad(example.parsed, example.line + example.parsed.line_offset)
    comments = own_and_trailing_comments(source)
    for statement in ast.parse(source, example.path).body:
        shown = io.StringIO()
        code = compile(ast.Interactive([statement]), example.path, "single", dont_inherit=True)
        with contextlib.redirect_stdout(shown):
            exec(code, example.namespace)
        if isinstance(statement, SHOWN_BELOW):
            expected = expected_after(statement, comments)
            if expected is not None:
                compare(expected, shown.getvalue().strip(), statement.lineno)


def own_and_trailing_comments(source: str) -> dict[tuple[int, bool], str]:
    """(line, whether nothing else is on it) → the comment."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        (token.start[0], token.start[1] == 0): token.string.removeprefix("#").removeprefix(" ")
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def expected_after(statement: ast.stmt, comments: dict[tuple[int, bool], str]) -> str | None:
    """The expected output of a statement, from its comments; None if there are none."""
    line = statement.end_lineno or statement.lineno
    if isinstance(statement, ast.Expr) and (line, False) in comments:
        return comments[line, False]
    lines = []
    while (line := line + 1, True) in comments:
        lines.append(comments[line, True])
    return "\n".join(lines) or None


def compare(expected: str, shown: str, line: int) -> None:
    """Raise `AssertionError` unless the text is as expected, apart from spaces at the ends of lines."""
    pattern = ".*".join(map(re.escape, expected.strip().split("…")))
    output = "\n".join(text.rstrip() for text in shown.splitlines())
    if not re.fullmatch(pattern, output, re.DOTALL):
        raise AssertionError(f"line {line} shows\n{output}\nand the page says\n{expected}")


def run_shell(example: Example) -> None:
    """One block of commands; programs of this environment come first on the path."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", example.parsed],
        env=os.environ | {"PATH": programs},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"exit status {done.returncode}:\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
