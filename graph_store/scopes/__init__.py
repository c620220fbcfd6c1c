"""Some documents of a knowledge base, as the knowledge base that they would be alone."""
