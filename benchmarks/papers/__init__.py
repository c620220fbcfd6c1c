"""Published benchmarks: datasets, arms, answers, judge, report; and anonymised copies of texts."""
