"""Typed models that every other part of Banyan speaks: documents, schema, extraction, retrieval."""
