"""Weights learnt from examples."""
