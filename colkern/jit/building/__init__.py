"""Arrays that compiled code appends to, and what the same code does to measure before it writes."""
