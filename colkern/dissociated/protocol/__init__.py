"""Both roles of the protocol as state machines: what has come goes in, what is due comes out; no I/O."""
