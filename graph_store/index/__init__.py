"""What retrieval reads of a knowledge base, as arrays in files that are mapped into memory, not loaded."""
