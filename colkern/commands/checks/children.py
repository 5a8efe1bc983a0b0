"""Calls functions in a process of their own, which may crash or never answer."""

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
"""The default time limit for an answer."""


class NoAnswerError(Exception):
    """A process gave no answer; the message says how it ended."""


def ask(function: str, *words: str, seconds: float = SECONDS) -> Any:
    """Returns the result of `module:name` in a fresh process; raises NoAnswerError if that raises or
    crashes."""
    code = f"from colkern.commands.checks.children import answer; answer({function!r}, {words!r})"
    answered = json.loads(_last_line(run_python(code, seconds=seconds)) or "{}")
    if "value" not in answered:
        raise NoAnswerError(answered.get("error", "the process ends without an answer"))
    return answered["value"]


def run_python(code: str, *, seconds: float = SECONDS) -> str:
    """Run a program with the packages of this process, and return its output; NoAnswerError if it fails."""
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
        # No wait for its end: a process that hangs in a driver does not end when it is killed.
        process.kill()
        raise NoAnswerError(f"no answer within {seconds:g} seconds") from None
    if process.returncode < 0:
        raise NoAnswerError(f"the process crashes: {signal.strsignal(-process.returncode)}")
    if process.returncode > 0:
        raise NoAnswerError(_last_line(errors) or f"the process ends with {process.returncode}")
    return out


def answer(function: str, words: tuple[str, ...]) -> None:
    """Print the answer for `ask`, which has started this process, and end the process."""
    module, _, name = function.partition(":")
    try:
        reply = {"value": getattr(importlib.import_module(module), name)(*words)}
    except Exception as error:  # noqa: BLE001  # any error is an answer
        reply = {"error": explained(error)}
    print("\n" + json.dumps(reply, default=_plain), flush=True)
    # Exit at once: CUDA libraries may crash or hang when a process ends normally.
    os._exit(0)


def _plain(value: Any) -> object:
    """Returns a value that JSON lacks as a value that JSON has."""
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, Path):
        return str(value)
    return dataclasses.asdict(value)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
