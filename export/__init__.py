"""Exports of a knowledge base for other programs and for people: one file per format, all from the same graph."""
