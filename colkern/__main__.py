"""`python -m colkern`: the command, where its script is not on the path."""

from colkern.cli import main

raise SystemExit(main())
