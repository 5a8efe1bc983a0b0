"""Both roles of the protocol as state machines without I/O."""
