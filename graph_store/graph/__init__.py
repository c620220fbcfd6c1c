"""The knowledge graph in memory: columns made from the rows, aliases and edits applied to them, its file."""
