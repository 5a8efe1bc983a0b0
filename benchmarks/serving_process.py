"""A process that serves while this one measures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


class ServingProcess:
    """Such a process; it ends with its input, and so when this is gone.

    Args:
        module: What is run: its first line says where it serves, as JSON.
        arguments: What it is given.

    Attributes:
        places: What the first line says.
    """

    def __init__(self, module: str, *arguments: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parent.parent,
            text=True,
        )
        self.places: dict[str, str] = self._answer()

    def ask(self, question: str) -> Any:
        """The answer to a line, one line of JSON."""
        print(question, file=self._process.stdin, flush=True)
        return self._answer()

    def __del__(self) -> None:
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that serves has ended; its errors are above")
        return json.loads(line)
