"""Sentences, scripts, tokens, dates and quantities: what several parts need of a text."""
