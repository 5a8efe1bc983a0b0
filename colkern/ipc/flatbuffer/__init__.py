"""FlatBuffers that are read and written by descriptions of their tables."""
