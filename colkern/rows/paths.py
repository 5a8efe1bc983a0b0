"""`pathlib` in row functions: paths as texts, of which no file is looked at."""

from __future__ import annotations

import pathlib
import posixpath
from typing import Any

from colkern.rows.text_library import Uncovered


def _text(path: Any) -> str:
    if not isinstance(path, str | pathlib.PurePath):
        raise Uncovered
    return str(path)


def _plain(path: str) -> str:
    """Returns the text of a path without empty names, and without `.`."""
    root = path[: len(path) - len(path.lstrip("/"))]
    # POSIX knows two slashes in front, and no more.
    if len(root) != 2:
        root = root[:1]
    names = [name for name in path.split("/") if name and name != "."]
    return root + "/".join(names) or "."


class PurePosixPath:
    """A `pathlib.PurePosixPath`: a text."""

    _python_class_ = pathlib.PurePosixPath

    def __init__(self, path: Any = "", *others: Any) -> None:
        text = _text(path)
        for other in others:
            text = posixpath.join(text, _text(other))
        self.text = _plain(text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, pathlib.PurePosixPath) and self.text == str(other)

    def __truediv__(self, key: Any) -> PurePosixPath:
        return type(self)(self.text, key)

    def joinpath(self, *others: Any) -> PurePosixPath:
        """The path of a file below this one, or of an absolute one."""
        return type(self)(self.text, *others)

    def as_posix(self) -> str:
        """The path as text."""
        return self.text

    def is_absolute(self) -> bool:
        """Whether the path begins at the root."""
        return self.text.startswith("/")

    @property
    def name(self) -> str:
        """The last name; empty for the root and for `.`."""
        return "" if self.text == "." else self.text.rpartition("/")[2]

    @property
    def parts(self) -> tuple[str, ...]:
        """The root, if there is one, and the names."""
        names = self.text.lstrip("/")
        root = self.text[: len(self.text) - len(names)]
        roots = [root] if root else []
        return tuple(roots + [name for name in names.split("/") if name and self.text != "."])

    @property
    def parent(self) -> PurePosixPath:
        """The path without the last name."""
        head = self.text[: len(self.text) - len(self.name)]
        return type(self)(head if len(head.strip("/")) == 0 else head[:-1])

    @property
    def dotted(self) -> str:
        """The name, where all versions of Python agree on the suffix."""
        if self.name.startswith("..") or self.name.endswith("."):
            raise Uncovered
        return self.name

    @property
    def suffix(self) -> str:
        """The last dot of the name, and what follows."""
        place = self.dotted.rfind(".")
        return self.dotted[place:] if place > 0 else ""

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return self.dotted[: len(self.dotted) - len(self.suffix)]

    @property
    def suffixes(self) -> list[str]:
        """Each dot of the name, and what follows."""
        return ["." + part for part in self.dotted.lstrip(".").split(".")[1:]]

    def with_name(self, name: str) -> PurePosixPath:
        """The path with another last name."""
        if not self.name or not name or "/" in name or name == ".":
            raise Uncovered
        return type(self)(str(self.parent), name)

    def with_stem(self, stem: str) -> PurePosixPath:
        """The path with another stem."""
        if not stem:
            raise Uncovered
        return self.with_name(stem + self.suffix)

    def with_suffix(self, suffix: str) -> PurePosixPath:
        """The path with another suffix, or with none."""
        if (suffix and (suffix == "." or not suffix.startswith("."))) or suffix.endswith("."):
            raise Uncovered
        return self.with_name(self.stem + suffix)


class PosixPath(PurePosixPath):
    """A `pathlib.PosixPath`: what it computes."""

    _python_class_ = pathlib.PosixPath
