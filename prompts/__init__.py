"""The prompts: text files by language, one for each step, and how they are filled in."""

from .language import Language, language_of
from .rendering import STEPS, Prompt, Step, example, numbered, render
from .schema_text import schema_block

__all__ = ["STEPS", "Language", "Prompt", "Step", "example", "language_of", "numbered", "render", "schema_block"]
