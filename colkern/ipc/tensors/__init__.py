"""Tensor and SparseTensor messages: NumPy arrays outside of record batches."""

from colkern.ipc.tensors.compressed import SparseCSCMatrix, SparseCSRMatrix
from colkern.ipc.tensors.coordinates import SparseCOOTensor
from colkern.ipc.tensors.dense import Tensor
from colkern.ipc.tensors.fibres import SparseCSFTensor
from colkern.ipc.tensors.reading import AnyTensor, read_tensor, read_tensors
from colkern.ipc.tensors.writing import write_tensor

__all__ = [
    "AnyTensor",
    "SparseCOOTensor",
    "SparseCSCMatrix",
    "SparseCSFTensor",
    "SparseCSRMatrix",
    "Tensor",
    "read_tensor",
    "read_tensors",
    "write_tensor",
]
