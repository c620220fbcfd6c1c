"""Extraction without a model."""
