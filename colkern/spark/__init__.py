"""Spark: functions of colkern as columns of a DataFrame, without pandas on the way.

>>> import colkern as ck
>>> from colkern.spark import udf
>>> @udf  # doctest: +SKIP
... def net(price: float, discount: float) -> float:
...     return price * (1 - discount)
>>> frame.select(net("l_extendedprice", "l_discount"))  # doctest: +SKIP

The only package of colkern that imports pyspark; needs the extra `colkern[spark]`, and
PySpark 4.1 or later, the first release with `arrow_udf`. What is not named is not imported: a worker
that runs a function does not wait for the data source, and without PySpark the package itself can be
imported, its functions cannot.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

from colkern.names import late_names

if TYPE_CHECKING:
    from colkern.spark.acceleration import accelerate
    from colkern.spark.deployment.installing import install
    from colkern.spark.devices import task_device
    from colkern.spark.functions import (
        apply_in_groups,
        cogroup_apply,
        iterator_udf,
        map_batches,
        map_groups,
        udf,
        udtf,
    )
    from colkern.spark.java import Java, JavaNotFoundError, find_java
    from colkern.spark.session import start_session
    from colkern.spark.source import read, register_source

__all__ = [
    "Java",
    "JavaNotFoundError",
    "accelerate",
    "apply_in_groups",
    "cogroup_apply",
    "find_java",
    "install",
    "iterator_udf",
    "map_batches",
    "map_groups",
    "read",
    "register_source",
    "start_session",
    "task_device",
    "udf",
    "udtf",
]

__getattr__, __dir__ = late_names(
    __name__,
    {
        "Java": "colkern.spark.java",
        "JavaNotFoundError": "colkern.spark.java",
        "accelerate": "colkern.spark.acceleration",
        "apply_in_groups": "colkern.spark.functions",
        "cogroup_apply": "colkern.spark.functions",
        "find_java": "colkern.spark.java",
        "install": "colkern.spark.deployment.installing",
        "iterator_udf": "colkern.spark.functions",
        "map_batches": "colkern.spark.functions",
        "map_groups": "colkern.spark.functions",
        "read": "colkern.spark.source",
        "register_source": "colkern.spark.source",
        "start_session": "colkern.spark.session",
        "task_device": "colkern.spark.devices",
        "udf": "colkern.spark.functions",
        "udtf": "colkern.spark.functions",
    },
)

# In a worker, Spark was there first.
if sys.modules.get("pyspark") is not None:
    from colkern.spark.worker import set_up_worker

    set_up_worker()

# PySpark 4.3 says so at most of its calls, in each process, and "once" does not hold where others change
# filters. What colkern and `accelerate` use of pandas is tested with pandas 3.
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
