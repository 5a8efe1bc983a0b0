"""What compiled functions return, and the columns made of it."""
