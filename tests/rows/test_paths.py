"""Paths in row functions, against `pathlib`."""

from __future__ import annotations

import os
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck

PATHS = st.lists(st.sampled_from(["/", ".", "..", "a", "é.b", "c.tar.gz", "", ".d"])).map("/".join)


def parts(text: str) -> tuple[str, str, str, list[str], bool, str]:
    path = PurePosixPath(text)
    first = path.parts[0] if path.parts else "none"
    return path.name, first, str(path.parent), [*path.parts], path.is_absolute(), path.as_posix()


def suffixes(text: str) -> tuple[str, str, list[str], str, str, str]:
    path = PurePath(text)
    without = path
    while without.suffix:
        without = without.with_suffix("")
    renamed = path.with_name("n.m") if path.name else path
    other = path.with_stem("s") if path.name else path
    return path.stem, path.suffix.lower(), path.suffixes, f"{without}", str(renamed), str(other)


def joined(text: str) -> tuple[str, str, bool, bool, str]:
    path = Path("/data") / text / "x"
    other = Path(text, Path("y")).joinpath("z", text)
    is_kind = isinstance(path, Path) and not isinstance(PurePosixPath(text), Path)
    return str(path), repr(other), path == Path("/data/x"), is_kind, os.path.basename(Path(text))


@pytest.mark.parametrize("function", [parts, suffixes, joined])
@given(texts=st.lists(PATHS, min_size=1))
def test_paths_are_pythons(function: Any, texts: list[str]) -> None:
    compiled = COMPILED[function]
    actual = [tuple(row.values()) for row in compiled(ck.array(texts)).to_pylist()]
    assert actual == [function(text) for text in texts]


COMPILED = {function: ck.udf(function) for function in (parts, suffixes, joined)}


def test_names_of_which_versions_of_python_know_another_suffix_are_left() -> None:
    suffix = ck.udf(lambda text: Path(text).suffix, returns=ck.utf8())
    texts = ["a.b", "..c", "d.", ".e", "f"]
    assert suffix(ck.array(texts)).to_pylist() == [Path(text).suffix for text in texts]
    (site,) = filter(None, suffix.report().sites)
    assert (site.reason, site.line) == (
        "PurePosixPath.suffix",
        suffix.function.__code__.co_firstlineno,
    )


@pytest.mark.parametrize(
    ("function", "returns"),
    [
        (lambda text: Path(text).relative_to("/a").name, ck.utf8()),
        (lambda text: str("a" / PurePosixPath(text)), ck.utf8()),
        (lambda text: Path(text).match("*.b"), ck.bool_()),
        (lambda text: Path(text) < Path("/b"), ck.bool_()),
        (lambda text: len({Path(text), PurePosixPath("/x")}), ck.int64()),
    ],
)
def test_what_has_no_compiled_form_leaves_the_row(function: Any, returns: ck.DataType) -> None:
    compiled, texts = ck.udf(function, returns=returns), ["/a/c.b", "/x"]
    for text in texts:
        try:
            wanted = function(text)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:20]):
                compiled(ck.array([text]))
        else:
            assert compiled(ck.array([text])).to_pylist() == [wanted]
