"""Parsing: which spaCy pipeline reads a language, the parses of texts, and Chinese words with their tags."""
