"""`python -m mutation`, with tests/ on the path: see `mutation.harness`."""

import sys

from mutation.harness import main

sys.exit(main())
