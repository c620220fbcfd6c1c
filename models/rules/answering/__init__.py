"""Answers without a model: the sentence and the words that answer."""
