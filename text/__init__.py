"""Sentences, scripts, tokens, dates and quantities: text analysis that several parts of the package share."""
