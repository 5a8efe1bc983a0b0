"""Spark: functions of colkern as columns of a DataFrame, without pandas on the way.

>>> import colkern as ck
>>> from colkern.spark import udf
>>> @udf  # doctest: +SKIP
... def net(price: float, discount: float) -> float:
...     return price * (1 - discount)
>>> frame.select(net("l_extendedprice", "l_discount"))  # doctest: +SKIP

The only package of colkern that imports pyspark; needs the extra `colkern[spark]`, and PySpark 4.1 or
later, the first release with `arrow_udf`. Names are imported when they are first used: a worker that runs
a function does not wait for the data source, and the package itself needs no PySpark.
"""

import sys
import warnings

from colkern.names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)

# A Spark worker imports pyspark before colkern.
if sys.modules.get("pyspark") is not None:
    from colkern.spark.worker import set_up_worker

    set_up_worker()

# PySpark 4.3 issues this warning at most of its calls, in each process. The action "once" has no effect
# where other code changes the filters. The parts of pandas that colkern and `accelerate` use are tested
# with pandas 3.
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
