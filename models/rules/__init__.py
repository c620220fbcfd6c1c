"""The rules reasoner: language understanding with closed word lists, patterns and the schema's cues.

It needs no language model and no network, and does not guess: it ignores what no rule covers.
`reader.RulesReader` reads chunks; `rules_reasoner.RulesReasoner` also answers questions.
"""
