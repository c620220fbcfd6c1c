"""Parsing: the spaCy pipeline of each language, parses of texts, and Chinese words with their tags."""
