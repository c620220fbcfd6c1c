"""The rules reasoner: language understanding by closed word lists, patterns and the schema's own cues.

It needs no language model and no network, and is honest about being limited: what no rule covers is
not guessed. `extraction.RulesExtractor` reads chunks; the question side decomposes and answers.
"""
