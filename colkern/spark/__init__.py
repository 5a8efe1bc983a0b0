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

__all__ = [
    "Java",
    "JavaNotFoundError",
    "apply_in_groups",
    "cogroup_apply",
    "find_java",
    "iterator_udf",
    "map_batches",
    "map_groups",
    "start_session",
    "udf",
    "udtf",
]
