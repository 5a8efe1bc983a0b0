"""Values of one row in compiled code: byte strings, decimals, and what may be None."""
