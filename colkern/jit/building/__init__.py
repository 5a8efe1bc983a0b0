"""Builders: arrays that compiled code appends to; and rows, each appended by a call of a function."""
