"""Readers of the formats whose structure has to be parsed: each a module, imported when a file needs it."""
