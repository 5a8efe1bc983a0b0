"""The documentation site. `make docs` builds it; a warning is an error."""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "colkern"
author = "The colkern authors"
project_copyright = "The colkern authors, Apache-2.0"
version = release = installed_version("colkern")

# No intersphinx: the site is built without a network.
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "api_pages",
    "figures",
    "status_table",
]
exclude_patterns = ["_build", "extensions"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# `name` in a docstring is code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_use_type_comments = False
autodoc_default_options = {"members": True, "show-inheritance": True}
# Libraries that only some machines have; the others are documented as they are.
autodoc_mock_imports = [
    name for name in ["cupy", "numba_cuda_mlir"] if importlib.util.find_spec(name) is None
]
# A name such as `Array` is offered by the package and by the module that defines it.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = f"colkern {release}"
html_copy_source = False
