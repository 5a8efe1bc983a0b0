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
    """The first sentence of a docstring, fit for a table's cell."""
    lines = (inspect.getdoc(thing) or "").split("\n\n")[0].split()
    return " ".join(lines).replace("|", "\\|")


def overview(module: Any) -> list[str]:
    """What the package itself offers, with where it is defined: links instead of a second copy."""
    rows = []
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        home = getattr(thing, "__module__", None)
        if inspect.ismodule(thing):
            target = f"{{py:mod}}`{name} <{thing.__name__}>`"
        elif home and home != module.__name__ and inspect.isroutine(thing) | inspect.isclass(thing):
            target = f"{{py:obj}}`{name} <{home}.{thing.__qualname__}>`"
        else:
            target = f"`{name}`"
        rows.append(f"| {target} | {summary(thing)} |")
    return ["| Name | |", "| --- | --- |", *rows, ""] if rows else []


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


def page(name: str) -> str:
    """The page of one module."""
    module = importlib.import_module(name)
    # What a package offers from its modules stands on their pages.
    imported = [":ignore-module-all:"] if hasattr(module, "__path__") else []
    lines = [f"# {name}", "", "```{eval-rst}", f".. automodule:: {name}"]
    lines += [f"   {option}" for option in imported]
    lines += [*kernels(module), "```", ""]
    return "\n".join(lines + (overview(module) if imported else []))


def write(app: Sphinx) -> None:
    """Writes all pages; unchanged ones are left alone, so that Sphinx need not read them again."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    names = public_modules(Path(app.srcdir).parent / PACKAGE)
    with mock(app.config.autodoc_mock_imports):
        contents = {f"{name}.md": page(name) for name in names}
    toctree = "\n".join(names)
    contents["index.md"] = (
        "# API reference\n\nFrom the docstrings, module by module.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{toctree}\n```\n"
    )
    for path in folder.glob("*.md"):
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
