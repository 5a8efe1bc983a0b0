"""The loops that call a compiled function for each row of its columns."""
