"""The evidence of a question as a model reads it: numbered items below the lookups that found them."""

from collections.abc import Iterator

from ..schemas.inquiry import Block, Inquiry
from ..schemas.naming import canonical_name
from ..schemas.retrieval import Passage
from .language import Language
from .rendering import Fenced, close_item, fence

_HEADING_MARKS = "#= \t*_"
_FIRST: dict[Language, str] = {"en": "First look:", "zh": "初步查找："}
_ROUND: dict[Language, str] = {"en": "Round {}:", "zh": "第 {} 轮："}
_THOUGHT: dict[Language, str] = {"en": "Thought: {}", "zh": "想法：{}"}
_DROPPED: dict[Language, str] = {"en": "({} items left out)", "zh": "（略去 {} 条）"}
_NOTHING: dict[Language, str] = {"en": "(nothing)", "zh": "（无）"}


def rounds_text(inquiry: Inquiry, language: Language) -> Fenced:
    """Return all rounds of a question with their items, numbered from 1.

    Rounds are only appended, so the text begins with that of the question's earlier prompts. The thought and the items
    of a round are fenced as data. Its lookups need no lines: they are the titles of the blocks that they found.
    """
    next_number, parts = 1, list[str]()
    for round_number, lookup_round in enumerate(inquiry.rounds):
        lines = []
        for block in lookup_round.blocks:
            lines.append(_numbered_block(block, next_number, inquiry.dropped, language))
            next_number += len(block.items)
        thought = [_THOUGHT[language].format(" ".join(lookup_round.thought.split()))] if lookup_round.thought else []
        title = _ROUND[language].format(round_number) if lookup_round.lookups else _FIRST[language]
        content = "\n".join([*thought, *(lines or [_NOTHING[language]])])
        parts.append(f"{title}\n{fence(content)}")
    return Fenced("\n".join(parts))


def block_text(block: Block) -> str:
    """Return what a lookup found as lines without numbers; each item names its document."""
    return "\n".join([block.title, *(_item(item) for item in block.items), *_note(block)])


def _numbered_block(block: Block, first_number: int, dropped: frozenset[int], language: Language) -> str:
    """Return a block as lines of a prompt, its items numbered from `first_number`; dropped items are only counted."""
    shown = [f"[{number}] {close_item(_item(item))}" for number, item in enumerate(block.items, first_number)
             if number not in dropped]
    dropped_count = len(block.items) - len(shown)
    dropped_line = [_DROPPED[language].format(dropped_count)] if dropped_count else []
    return "\n".join([f"## {close_item(block.title)}", *shown, *dropped_line, *_note(block)])


def _note(block: Block) -> Iterator[str]:
    """Yield the line of a block's note, if it has one."""
    if block.note:
        yield f"({block.note})"


def _item(item: Passage) -> str:
    """Return an item without its number: a passage with the header above it, any other item as its statement."""
    return item.statement or f"{item.header}\n{passage_text(item)}"


def passage_text(item: Passage) -> str:
    """Return the text of a passage; a first line that only repeats the passage's title is left out."""
    first_line, _, rest = item.text.partition("\n")
    repeats_title = canonical_name(first_line.strip(_HEADING_MARKS)) == canonical_name(item.title)
    return rest.strip("\n") if rest.strip() and repeats_title else item.text
