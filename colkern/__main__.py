"""Runs the command as `python -m colkern`, for when its script is not on the path."""

from colkern.cli import main

raise SystemExit(main())
