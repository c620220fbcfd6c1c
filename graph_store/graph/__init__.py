"""The knowledge graph in memory: NetworkX, its snapshot, replay from the ledger, aliases laid over it."""
