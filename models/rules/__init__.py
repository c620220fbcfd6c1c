"""The rules reasoner: closed word lists, patterns and the schema's cues, without a model; it ignores all else."""
