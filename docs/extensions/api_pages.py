"""Writes the API reference: one page a public module, found by looking into the package.

The pages go to `docs/api/`, which git ignores. A module is public when no part of its name starts
with an underscore; generated code is left out.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.autodoc.mock import mock

PACKAGE = "colkern"
GENERATED = ("colkern.ipc.flatbuf",)


def public_modules(package: Path) -> list[str]:
    """The dotted names of the public modules below a package's folder, the package first."""
    names = []
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        hidden = any(part.startswith("_") for part in name.split("."))
        if not hidden and not f"{name}.".startswith(tuple(f"{other}." for other in GENERATED)):
            names.append(name)
    return sorted(names)


def summary(thing: Any) -> str:
    """The first paragraph of a docstring in one line, without what ends it where an example follows."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split()).removesuffix("::")


def table(rows: list[tuple[str, str]]) -> list[str]:
    """Two columns: a reference, and what it is about."""
    lines = ["", ".. list-table::", ""]
    for reference, about in rows:
        lines += [f"   * - {reference}", f"     - {about}".rstrip()]
    return [*lines, ""] if rows else []


def overview(module: Any) -> list[str]:
    """What the package itself offers, with where it is defined: links instead of a second copy."""
    rows = []
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        home = getattr(thing, "__module__", None)
        if inspect.ismodule(thing):
            target = f":py:mod:`{name} <{thing.__name__}>`"
        elif home and home != module.__name__ and inspect.isroutine(thing) | inspect.isclass(thing):
            target = f":py:obj:`{name} <{home}.{thing.__qualname__}>`"
        else:
            target = f"``{name}``"
        rows.append((target, summary(thing)))
    return table(rows)


def kernels(module: Any) -> list[str]:
    """The module's kernels, shown as the functions that they are: autodoc sees mere objects."""
    lines = []
    for name, thing in vars(module).items():
        body = getattr(thing, "body", None)
        if inspect.isfunction(body) and body.__module__ == module.__name__:
            names = ", ".join(inspect.signature(body).parameters)
            lines += ["", f".. py:function:: {module.__name__}.{name}({names})", ""]
            lines += [f"   {line}" for line in (inspect.getdoc(body) or "").splitlines()]
    return lines


def in_sidebar(name: str) -> bool:
    """Whether a page is in the sidebar, which every page has a copy of: the package and its parts."""
    return name.count(".") < 2


def page(name: str, names: list[str]) -> str:
    """The page of one module."""
    module = importlib.import_module(name)
    lines = [] if in_sidebar(name) else [":orphan:", ""]
    lines += [name, "=" * len(name), "", f".. automodule:: {name}"]
    if not hasattr(module, "__path__"):
        return "\n".join([*lines, *kernels(module), ""])
    # What a package offers from its modules stands on their pages.
    lines += ["   :ignore-module-all:", *kernels(module), *overview(module)]
    below = [
        (f":doc:`{other}`", summary(importlib.import_module(other)))
        for other in names
        if other.rpartition(".")[0] == name
    ]
    if below:
        lines += ["", "Modules", "-------", *table(below)]
    return "\n".join([*lines, ""])


def write(app: Sphinx) -> None:
    """Writes all pages; unchanged ones are left alone, so that Sphinx need not read them again.

    They are reStructuredText: the directive `eval-rst` of Markdown keeps all that Sphinx knows in
    each page that has it.
    """
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    names = public_modules(Path(app.srcdir).parent / PACKAGE)
    with mock(app.config.autodoc_mock_imports):
        contents = {f"{name}.rst": page(name, names) for name in names}
    title = "API reference"
    lines = [title, "=" * len(title), "", "From the docstrings, module by module.", ""]
    lines += [".. toctree::", "   :maxdepth: 1", ""]
    lines += [f"   {name}" for name in names if in_sidebar(name)]
    contents["index.rst"] = "\n".join([*lines, ""])
    for path in folder.iterdir():
        if path.name not in contents:
            path.unlink()
    for name, text in contents.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
