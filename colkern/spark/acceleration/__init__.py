"""`accelerate`: compiles existing functions of pandas columns where their bodies are element-wise.

The body is called with stand-ins for columns, which record the operations on them as a graph. The parts of
the graph that can be computed without pandas, with results that are the same to the last bit, are compiled.
The first batch of each kind is computed both ways and compared.
"""

from colkern.spark.acceleration.accelerating import accelerate

__all__ = ["accelerate"]
