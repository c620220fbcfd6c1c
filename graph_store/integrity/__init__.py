"""Verify, back up, restore and report on a knowledge base."""
