"""`accelerate`: existing functions of pandas' columns, compiled where their bodies are element-wise.

The body is called with stand-ins for columns, which record what is done to them as a graph. What the
graph can be computed with, without pandas and with the same results to the bit, is compiled; the
first batch of each kind is computed both ways and compared.
"""

from colkern.spark.acceleration.accelerating import accelerate

__all__ = ["accelerate"]
