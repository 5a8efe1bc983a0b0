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
from colkern.spark.functions import udf
from colkern.spark.session import start_session
from colkern.spark.source import read, register_source

__all__ = [
    "Java",
    "JavaNotFoundError",
    "find_java",
    "read",
    "register_source",
    "start_session",
    "udf",
]
