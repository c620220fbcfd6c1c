"""Readers of the published datasets: each yields the same records."""
