"""Services that all runs share: event loops, budgets, threads, the audit log."""
