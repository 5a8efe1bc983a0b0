"""Arrow IPC files and streams as a data source of Spark, on Spark's Python DataSource API.

>>> from colkern.spark import register_source
>>> register_source(spark)  # doctest: +SKIP
>>> spark.read.format("colkern").load("lineitem/").where("l_quantity > 49")  # doctest: +SKIP
>>> frame.write.format("colkern").mode("append").save("result/")  # doctest: +SKIP
"""

from colkern.spark.source.source import ColkernDataSource, register_source

__all__ = ["ColkernDataSource", "register_source"]
