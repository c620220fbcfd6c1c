"""Files to documents, chunks and sentences."""
