"""Arrow IPC files and streams as a data source of Spark, on Spark's Python DataSource API.

>>> import colkern.spark
>>> colkern.spark.register_source(spark)  # doctest: +SKIP
>>> spark.read.format("colkern").load("lineitem/")  # doctest: +SKIP
>>> colkern.spark.read(spark, "lineitem/", filters=[("l_quantity", ">", 49)])  # doctest: +SKIP
>>> frame.write.format("colkern").mode("append").save("result/")  # doctest: +SKIP
"""

from colkern.spark.source.source import ColkernDataSource, read, register_source

__all__ = ["ColkernDataSource", "read", "register_source"]
