"""Both roles of the protocol as state machines that do no I/O."""
