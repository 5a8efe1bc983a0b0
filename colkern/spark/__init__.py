"""Spark: functions of colkern as columns of a DataFrame, without pandas on the way.

>>> import colkern as ck
>>> from colkern.spark import udf
>>> @udf  # doctest: +SKIP
... def net(price: float, discount: float) -> float:
...     return price * (1 - discount)
>>> frame.select(net("l_extendedprice", "l_discount"))  # doctest: +SKIP

The only package of colkern that imports pyspark and pyarrow; needs the extra `colkern[spark]`, and
PySpark 4.1 or later, the first release with `arrow_udf`.
"""

from colkern.java import Java, JavaNotFoundError, find_java
from colkern.spark.acceleration import accelerate
from colkern.spark.deployment import install
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
from colkern.spark.session import start_session
from colkern.spark.source import read, register_source
from colkern.spark.worker import set_up_worker

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

set_up_worker()
