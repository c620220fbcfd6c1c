"""Measuring: datasets of questions, metrics, reports."""
