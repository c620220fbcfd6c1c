"""Questions about rows, read without a model."""
