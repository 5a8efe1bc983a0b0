"""From a user's plain function to a compiled one: its callees, its refused operations, its errors."""
