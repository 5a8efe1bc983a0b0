"""Values in compiled code that Numba lacks: decimals, and values that borrow an argument's memory."""
