"""Cross-encoders that reorder passages."""
