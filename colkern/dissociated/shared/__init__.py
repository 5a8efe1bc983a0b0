"""Memory that several processes map: segments, the bodies in them, and the clients' mappings."""
