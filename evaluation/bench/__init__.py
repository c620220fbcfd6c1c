"""Published benchmarks in one command: datasets, arms, answers, judge, report."""
