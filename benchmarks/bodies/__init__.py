"""Bodies of messages between files, host and device: how fast, and how many bytes cross the bus.

`python -m benchmarks.bodies` measures them. It works with what an image of CUDA Python has: CuPy,
PyArrow, NumPy, and Numba with its CUDA compiler; what else is missing is a row that says so.
"""
