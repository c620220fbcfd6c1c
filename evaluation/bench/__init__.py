"""Published benchmarks by one command: datasets, arms, answers, judge, report."""
