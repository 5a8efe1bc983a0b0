"""The compiler of row functions: plain Python functions of one row become loops over columns."""
