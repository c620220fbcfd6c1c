"""The prompts: text files by language, one for each step, and how they are filled in."""

from .rendering import (
    STEPS,
    Fenced,
    Language,
    Prompt,
    PromptFileError,
    Step,
    check_prompts,
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
    last_text,
    lookups_text,
    mode_text,
    passage_text,
    rounds_text,
    schema_block,
    terms_line,
)

__all__ = ["STEPS", "Fenced", "Language", "Prompt", "PromptFileError", "Step", "block_note", "block_text",
           "check_prompts", "example", "extraction_instructions_block", "instructions_line", "last_text",
           "lookups_text", "mode_text", "number_items", "passage_text", "question_language", "render", "rounds_text",
           "schema_block", "terms_line", "text_language"]
