"""Admit, repair or reject what was extracted: schema, domain and range, grounding, values."""
