"""Rank the chunks for a question."""
