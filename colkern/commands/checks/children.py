"""Questions that are asked in a process of their own: the answer may be a crash, or never come."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from colkern.commands.checks.finding import explained

SECONDS = 60.0
"""The default time limit of an answer."""


class NoAnswerError(Exception):
    """A question got no answer; the message says how the process ended."""


def ask(function: str, *words: str, seconds: float = SECONDS) -> Any:
    """Call `module:name` in a fresh process; `NoAnswerError` if it raises or crashes."""
    code = f"from colkern.commands.checks.children import answer; answer({function!r}, {words!r})"
    answered = json.loads(_last_line(run_python(code, seconds=seconds)) or "{}")
    if "value" not in answered:
        raise NoAnswerError(answered.get("error", "the process ends without an answer"))
    return answered["value"]


def run_python(code: str, *, seconds: float = SECONDS) -> str:
    """Run a program with the packages of this process; returns its output. `NoAnswerError` if it fails."""
    # -P: modules of the working directory must not hide the packages of this process.
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # Not waited for: a process that hangs in a driver does not end when it is killed.
        process.kill()
        raise NoAnswerError(f"no answer within {seconds:g} seconds") from None
    if process.returncode < 0:
        raise NoAnswerError(f"the process crashes: {signal.strsignal(-process.returncode)}")
    if process.returncode > 0:
        raise NoAnswerError(_last_line(errors) or f"the process ends with {process.returncode}")
    return out


def answer(function: str, words: tuple[str, ...]) -> None:
    """Print the answer to a question and end this process, which `ask` has started."""
    module, _, name = function.partition(":")
    try:
        reply = {"value": getattr(importlib.import_module(module), name)(*words)}
    except Exception as error:  # noqa: BLE001  # any error is an answer
        reply = {"error": explained(error)}
    print("\n" + json.dumps(reply, default=_plain), flush=True)
    # At once: libraries of CUDA may crash or hang when a process ends.
    os._exit(0)


def _plain(value: Any) -> object:
    """A value that JSON has no form for, as one that it has."""
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, Path):
        return str(value)
    return dataclasses.asdict(value)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
