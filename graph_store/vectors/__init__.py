"""Vectors: one interface, Chroma in a folder and by URL; synchronised with the graph."""
