"""Banyan's Python API: `banyan.open(name)` and the objects that it returns."""
