"""Banyan in Python: `banyan.open(name)`, and what hangs on it."""
