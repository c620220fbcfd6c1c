"""The four routes of retrieval."""
