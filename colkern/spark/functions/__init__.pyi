# The public names, for type checkers and for `late_names`, which imports each when it is first used.

from colkern.spark.functions.aggregates import (
    aggregate as aggregate,
)
from colkern.spark.functions.batches import (
    map_batches as map_batches,
)
from colkern.spark.functions.column_functions import (
    udf as udf,
)
from colkern.spark.functions.compiled_groups import (
    map_groups as map_groups,
)
from colkern.spark.functions.groups import (
    apply_in_groups as apply_in_groups,
    cogroup_apply as cogroup_apply,
)
from colkern.spark.functions.iterators import (
    iterator_udf as iterator_udf,
)
from colkern.spark.functions.tables import (
    udtf as udtf,
)
from colkern.spark.functions.worker_calls import (
    ArrowAggregate as ArrowAggregate,
    ArrowFunction as ArrowFunction,
)
