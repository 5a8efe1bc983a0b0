"""Questions that are asked in a process of their own, as the answer may be a crash or none at all."""

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
"""How long an answer may take."""


class NoAnswerError(Exception):
    """A question that was not answered; the message says how the process ended."""


def ask(function: str, *words: str, seconds: float = SECONDS) -> Any:
    """What a function returns in a fresh process, through JSON.

    Args:
        function: `module:name`.
        words: Its arguments.
        seconds: How long to wait.

    Raises:
        NoAnswerError: If it raises, crashes, or takes too long.
    """
    code = f"from colkern.commands.checks.children import answer; answer({function!r}, {words!r})"
    answered = json.loads(_last_line(run_python(code, seconds=seconds)) or "{}")
    if "value" not in answered:
        raise NoAnswerError(answered.get("error", "the process ends without an answer"))
    return answered["value"]


def run_python(code: str, *, seconds: float = SECONDS) -> str:
    """What a program prints that runs with the packages of this process.

    Raises:
        NoAnswerError: If it fails, crashes, or takes too long.
    """
    # -P: a file of the working directory is not what this process imported either.
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
        out, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # Not waited for: a process that hangs in a driver does not end when it is killed.
        process.kill()
        raise NoAnswerError(f"no answer within {seconds:g} seconds") from None
    if process.returncode < 0:
        raise NoAnswerError(f"the process crashes: {signal.strsignal(-process.returncode)}")
    if process.returncode > 0:
        raise NoAnswerError(_last_line(said) or f"the process ends with {process.returncode}")
    return out


def answer(function: str, words: tuple[str, ...]) -> None:
    """Print the answer to a question, and end this process: what `ask` has the process do."""
    module, _, name = function.partition(":")
    try:
        found = {"value": getattr(importlib.import_module(module), name)(*words)}
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the answer
        found = {"error": explained(error)}
    print("\n" + json.dumps(found, default=_plain), flush=True)
    # At once: what libraries of CUDA do when a process ends is no part of the question.
    os._exit(0)


def _plain(value: Any) -> Any:
    """What JSON has in the place of a value."""
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, Path):
        return str(value)
    return dataclasses.asdict(value)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
