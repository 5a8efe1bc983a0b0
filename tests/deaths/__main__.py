"""`python -m deaths`, with tests/ on the path: see `deaths.harness`."""

import sys

from deaths.harness import main

if __name__ == "__main__":
    sys.exit(main())
