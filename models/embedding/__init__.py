"""Embedding models: ONNX by default, any sentence-transformers model by name."""
