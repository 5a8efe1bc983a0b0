# The public names, for type checkers and for `late_names`, which imports each when it is first used.

from colkern.dissociated.asynchronous import (
    AsyncReader as AsyncReader,
    AsyncServer as AsyncServer,
    connect_async as connect_async,
    serve_async as serve_async,
)
from colkern.dissociated.bounds import (
    Bounds as Bounds,
    DEFAULT_BOUNDS as DEFAULT_BOUNDS,
)
from colkern.dissociated.connecting import (
    ServiceReader as ServiceReader,
    connect as connect,
)
from colkern.dissociated.serving import (
    Server as Server,
)
from colkern.dissociated.serving import (
    serve as serve,
)
from colkern.dissociated.shared.segments import (
    SharedMemory as SharedMemory,
)
from colkern.dissociated.bounds import (
    Traffic as Traffic,
)
from colkern.dissociated.uri import (
    ServiceUri as ServiceUri,
    parse_uri as parse_uri,
)
