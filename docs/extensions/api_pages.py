"""Writes the API reference: one page a public module, found by looking into the package.

The pages go to `docs/api/`, which git ignores. A module is public when no part of its name starts
with an underscore; generated code is left out.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any

from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.autodoc.mock import mock
from sphinx.transforms.post_transforms import ReferencesResolver, SphinxPostTransform

PACKAGE = "colkern"


def public_modules(package: Path) -> list[str]:
    """The dotted names of the public modules below a package's folder, the package first."""
    names = []
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        hidden = any(part.startswith("_") for part in name.split("."))
        if not hidden:
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
    """The names of the package itself, with where each is defined: links instead of a second copy."""
    rows = []
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        home = getattr(thing, "__module__", None)
        if inspect.ismodule(thing):
            target = f":py:mod:`{name} <{thing.__name__}>`"
        elif home and home != module.__name__ and inspect.isroutine(thing) | inspect.isclass(thing):
            target = f":py:obj:`{name} <{home}.{thing.__qualname__}>`"
        else:
            # What a constant has is the docstring of its class.
            rows.append((f"``{name}``", ""))
            continue
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


def page(name: str, names: list[str]) -> str:
    """The page of one module."""
    module = importlib.import_module(name)
    # Not in the sidebar, of which every page has a copy.
    lines = [":orphan:", "", name, "=" * len(name), "", f".. automodule:: {name}"]
    if not hasattr(module, "__path__"):
        return "\n".join([*lines, *kernels(module), ""])
    # What a package offers from its modules stands on their pages.
    lines += ["   :ignore-module-all:", *kernels(module), *overview(module)]
    below = modules_below(name, names)
    return "\n".join([*lines, "", *(["Modules", "-------", *below] if below else [])])


def modules_below(package: str, names: list[str]) -> list[str]:
    """The table of the modules and packages within a package."""
    return table(
        [
            (f":doc:`{name}`", summary(importlib.import_module(name)))
            for name in names
            if name.rpartition(".")[0] == package
        ]
    )


def write(app: Sphinx) -> None:
    """Writes all pages; unchanged ones are left alone, so that Sphinx need not read them again.

    They are reStructuredText: the directive `eval-rst` of Markdown keeps all that Sphinx knows in
    each page that has it.
    """
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    names = public_modules(Path(app.srcdir).parent / PACKAGE)
    title = "API reference"
    with mock(app.config.autodoc_mock_imports):
        contents = {f"{name}.rst": page(name, names) for name in names}
        index = [title, "=" * len(title), "", "From the docstrings, module by module.", ""]
        index += [f"What `import {PACKAGE}` has is listed in :doc:`{PACKAGE}`. Its parts:", ""]
        contents["index.rst"] = "\n".join([*index, *modules_below(PACKAGE, names)])
    for path in folder.iterdir():
        if path.name not in contents:
            path.unlink()
    for name, text in contents.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


class ForeignReferences(SphinxPostTransform):
    """Leaves references to names that the site does not have, as `int` in a signature, as their text.

    Sphinx would look at every object of the site for one whose name ends so, and take a method `str`
    for the class.
    """

    default_priority = ReferencesResolver.default_priority - 1

    def run(self, **kwargs: Any) -> None:
        """Replace them within one page."""
        known = last_names(self.env)
        for node in list(self.document.findall(addnodes.pending_xref)):
            target = node.get("reftarget", "")
            foreign = target.rpartition(".")[2] not in known or hasattr(builtins, target)
            if node.get("refdomain") == "py" and foreign:
                node.replace_self(node.children)


@cache
def last_names(env: BuildEnvironment) -> frozenset[str]:
    """The objects and modules of the site, once all is read, without what stands before the last dot."""
    domain = env.domains.python_domain
    return frozenset(name.rpartition(".")[2] for name in [*domain.objects, *domain.modules])


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this."""
    app.connect("builder-inited", write)
    app.add_post_transform(ForeignReferences)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
