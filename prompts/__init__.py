"""The prompts: text files by language, one for each step, and how they are filled in."""
