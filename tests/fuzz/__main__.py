"""`python -m fuzz`, with tests/ on the path: see `fuzz.harness`."""

import sys

from fuzz.harness import main

sys.exit(main())
