"""Columns, batches and streams as arguments of compiled functions."""
