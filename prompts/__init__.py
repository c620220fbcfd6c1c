"""The prompts: text files by language, one for each step, and how they are filled in."""

from .rendering import (
    STEPS,
    Fenced,
    Language,
    Prompt,
    Step,
    example,
    extraction_instructions_block,
    instructions_line,
    number_items,
    question_language,
    render,
    text_language,
)
from .schema_text import (
    block_note,
    block_text,
    inquiry_values,
    passage_text,
    schema_block,
)

__all__ = ["STEPS", "Fenced", "Language", "Prompt", "Step", "block_note", "block_text",
           "example", "extraction_instructions_block", "inquiry_values",
           "instructions_line", "number_items", "passage_text", "question_language", "render", "schema_block",
           "text_language"]
