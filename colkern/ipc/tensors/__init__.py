"""Tensor and SparseTensor messages: NumPy arrays outside of record batches."""
