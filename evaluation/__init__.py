"""Evaluation: datasets of questions, metrics and reports."""
