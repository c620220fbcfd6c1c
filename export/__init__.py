"""A knowledge base written for other programs and for people: a file for each format, all from the same graph."""
