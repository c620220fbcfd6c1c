"""The knowledge graph in memory: NetworkX made from the rows, aliases and edits laid over it, its file."""
