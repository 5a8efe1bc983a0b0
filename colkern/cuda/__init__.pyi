# The public names, for type checkers and for `late_names`, which imports each when it is first used.

from colkern.cuda.memory import (
    Transfers as Transfers,
    count_transfers as count_transfers,
    is_available as is_available,
)
from colkern.operations.moving import (
    to_device as to_device,
    to_host as to_host,
)
