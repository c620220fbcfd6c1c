"""Readers of the formats with a structure to parse: one module each, imported when a file needs it."""
