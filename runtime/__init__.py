"""What runs have in common: cancellation, budgets, threads."""
