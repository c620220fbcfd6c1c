"""The knowledge base on disk: ledger, NetworkX graph, Chroma vectors, knowledge tree."""
