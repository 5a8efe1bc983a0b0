"""From a user's plain function to a compiled one: what it calls, what it may not do, what it returns."""
