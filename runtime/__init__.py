"""Services that all runs share: cancellation, budgets, threads, the audit log."""
