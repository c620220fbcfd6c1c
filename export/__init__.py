"""A knowledge base written for other programs and for people: one file for each format, all from one graph."""
