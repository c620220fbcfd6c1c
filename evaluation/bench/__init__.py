"""Published benchmarks in one command: datasets, arms, answers, judge, report; and anonymised copies of texts."""
