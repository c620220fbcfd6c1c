"""Reading Chinese: from the Han sentences of a chunk to names, triples and attributes."""
