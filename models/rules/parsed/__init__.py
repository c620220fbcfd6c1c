"""Reading of text by spaCy's parse: mentions, their types, what stands for them, relations and attributes."""
