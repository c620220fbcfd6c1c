"""Questions without a model: names, decomposition, follow-ups, the kind of answer."""
