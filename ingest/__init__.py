"""From files to documents, chunks and sentences."""
