"""Schema files: reading, checking, writing."""
