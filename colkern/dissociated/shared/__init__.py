"""Memory that several processes map: segments, what is placed in them, and how clients map them."""
