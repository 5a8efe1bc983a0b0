"""Tensor and SparseTensor messages: NumPy arrays outside record batches."""
