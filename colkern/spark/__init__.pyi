# The public names, for type checkers and for `late_names`, which imports each when it is first used.

from colkern.spark.acceleration import (
    accelerate as accelerate,
)
from colkern.spark.deployment.installing import (
    install as install,
)
from colkern.spark.devices import (
    task_device as task_device,
)
from colkern.spark.functions.aggregates import (
    aggregate as aggregate,
)
from colkern.spark.functions.batches import (
    apply_in_groups as apply_in_groups,
    cogroup_apply as cogroup_apply,
    map_batches as map_batches,
)
from colkern.spark.functions.column_functions import (
    udf as udf,
)
from colkern.spark.functions.compiled_groups import (
    map_groups as map_groups,
)
from colkern.spark.functions.iterators import (
    iterator_udf as iterator_udf,
)
from colkern.spark.functions.tables import (
    udtf as udtf,
)
from colkern.spark.java import (
    Java as Java,
    JavaNotFoundError as JavaNotFoundError,
    find_java as find_java,
)
from colkern.spark.native.explaining import (
    explain as explain,
)
from colkern.spark.session import (
    start_session as start_session,
)
from colkern.spark.source import (
    read as read,
    register_source as register_source,
)
