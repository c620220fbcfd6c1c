"""The knowledge base on disk: ledger, graph, Chroma vectors, knowledge tree."""
