"""Packages, files and answers that are not this machine's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from colkern.commands.checks.finding import Finding

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a package in front of those that are installed: its metadata, and a module or none."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def put(
        name: str,
        version: str,
        *requires: str,
        python: str = "",
        module: str = "",
        source: str = "",
    ) -> None:
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {line}" for line in requires]
        lines += [f"Requires-Python: {python}"] if python else []
        (info / "METADATA").write_text("\n".join(lines) + "\n")
        if module:
            *parents, last = module.split(".")
            folder = site.joinpath(*parents)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{last}.py").write_text(source)

    return put


def by_name(findings: Iterable[Finding]) -> dict[str, Finding]:
    """The findings by what they are about, each about something else."""
    listed = list(findings)
    named = {finding.name: finding for finding in listed}
    assert len(named) == len(listed)
    return named


@pytest.fixture
def named() -> Callable[[Iterable[Finding]], dict[str, Finding]]:
    """Findings by what they are about."""
    return by_name
