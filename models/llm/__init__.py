"""The Reasoner over any OpenAI-compatible endpoint."""
