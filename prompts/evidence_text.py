"""The evidence of a question as a model reads it: numbered items below the lookups that found them."""

from collections.abc import Iterator

from ..schemas.inquiry import Block, Inquiry
from ..schemas.naming import canonical_name
from ..schemas.retrieval import Passage
from .language import Language
from .rendering import Fenced, close_item, fence

_MARKS = "#= \t*_"
_FIRST: dict[Language, str] = {"en": "First look:", "zh": "初步查找："}
_ROUND: dict[Language, str] = {"en": "Round {}:", "zh": "第 {} 轮："}
_THOUGHT: dict[Language, str] = {"en": "Thought: {}", "zh": "想法：{}"}
_DROPPED: dict[Language, str] = {"en": "({} items left out)", "zh": "（略去 {} 条）"}
_NOTHING: dict[Language, str] = {"en": "(nothing)", "zh": "（无）"}


def rounds_text(inquiry: Inquiry, language: Language) -> Fenced:
    """Return all rounds with their items, numbered from 1; a later text of the same question begins with this one.

    Each round's items are fenced as data, and so is the thought that led to it. Its lookups are the titles of what
    they found.
    """
    number, parts = 1, list[str]()
    for place, one in enumerate(inquiry.rounds):
        lines = []
        for block in one.blocks:
            lines.append(_numbered_block(block, number, inquiry.dropped, language))
            number += len(block.items)
        thought = [_THOUGHT[language].format(" ".join(one.thought.split()))] if one.thought else []
        title = _FIRST[language] if not one.lookups else _ROUND[language].format(place)
        parts.append(f"{title}\n{fence(chr(10).join([*thought, *(lines or [_NOTHING[language]])]))}")
    return Fenced("\n".join(parts))


def block_text(block: Block) -> str:
    """Return what a lookup found as lines without numbers, each with the document that it is from."""
    return "\n".join([block.title, *(_item(item) for item in block.items), *_note(block)])


def _numbered_block(block: Block, first: int, dropped: frozenset[int], language: Language) -> str:
    shown = [f"[{number}] {close_item(_item(item))}" for number, item in enumerate(block.items, first)
             if number not in dropped]
    left = len(block.items) - len(shown)
    return "\n".join([f"## {close_item(block.title)}", *shown, *([_DROPPED[language].format(left)] if left else []),
                      *_note(block)])


def _note(block: Block) -> Iterator[str]:
    if block.note:
        yield f"({block.note})"


def _item(item: Passage) -> str:
    return item.statement or f"{item.header}\n{passage_text(item)}"


def passage_text(item: Passage) -> str:
    """Return the text of a passage without a heading that only repeats its title; its lines stay as they are."""
    first, _, rest = item.text.partition("\n")
    heading = canonical_name(first.strip(_MARKS))
    return rest.strip("\n") if rest.strip() and heading == canonical_name(item.title) else item.text
