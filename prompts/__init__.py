"""The prompts: text files by language, one for each step, and how they are filled in."""

from .evidence_text import evidence_block
from .language import Language, language_of, question_language
from .rendering import (
    STEPS,
    Prompt,
    PromptFileError,
    Step,
    check_prompts,
    example,
    instructions_line,
    number_items,
    render,
)
from .schema_text import schema_block

__all__ = ["STEPS", "Language", "Prompt", "PromptFileError", "Step", "check_prompts", "evidence_block", "example",
           "instructions_line", "language_of", "number_items", "question_language", "render", "schema_block"]
