"""FlatBuffers by description: tables are described once, and read and written by that."""
