"""A script for `tests/llm_server.py` that knows a data set's own decompositions and answers, and nothing else.

It takes a question apart as the data set does, and looks for each part as soon as the parts that it refers to are
answered. A part is answered where the passage that answers it is among those shown; the question, where all parts are.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_FENCED = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)
_ITEM = re.compile(r"^\[(\d+)\] (.*?)(?=\n\[\d+\] |(?:\n\([^\n]*\))*(?:\n## |\Z))", re.DOTALL | re.MULTILINE)
_QUOTED = 60
_REFERENCE = re.compile(r"#([0-9]{1,3})(?![0-9])")
"""A reference to the answer of a part, from 1."""


@dataclass(frozen=True)
class GoldPart:
    """A part of a question, its answer, and the passage that gives it."""

    question: str
    answer: str
    title: str
    text: str

    def refers_to(self) -> list[int]:
        """Return the numbers, from 0, of the parts whose answers it needs."""
        return [int(number) - 1 for number in _REFERENCE.findall(self.question)]

    def shown(self, items: Sequence[tuple[str, str]]) -> tuple[int, str] | None:
        """Return the number of the passage that answers it, and its words, if it is among those shown."""
        for number, item in items:
            title, _, text = item.partition("\n")
            if not text or self.title.strip() not in title or text.strip() not in self.text:
                continue
            place = text.lower().find(self.answer.lower())
            if place >= 0:
                return int(number), text[place:place + len(self.answer)]
            if self.answer.lower() not in self.text.lower():
                return int(number), text[:_QUOTED].strip()
        return None


def filled(parts: Sequence[GoldPart], number: int) -> str:
    """Return a part's question with the answers of those before it."""
    return _REFERENCE.sub(lambda match: parts[int(match[1]) - 1].answer, parts[number].question)


def gold_brain(known: dict[str, Sequence[GoldPart]]) -> Callable[[Json], str]:
    """Return a script that answers the steps of a question.

    Args:
        known: the parts of each question, by its text.
    """
    parts_of = {_key(question): parts for question, parts in known.items()}

    def reply(request: Json) -> str:
        blocks = _FENCED.findall(request["messages"][1]["content"])
        answer = _judge(parts_of[_key(blocks[0])], blocks)
        return json.dumps(answer, ensure_ascii=False)

    return reply


def _key(question: str) -> str:
    return " ".join(question.split())


def _judge(parts: Sequence[GoldPart], blocks: Sequence[str]) -> Json:
    """Answer if all parts are, else look for those that can be asked and were not yet."""
    items = _ITEM.findall("\n## \n".join(blocks[1:]))
    shown: dict[int, tuple[int, str]] = {}
    for number, part in enumerate(parts):
        found = part.shown(items)
        if found and shown.keys() >= set(part.refers_to()):
            shown[number] = found
    last = len(parts) - 1
    if len(shown) == len(parts):
        item, words = shown[last]
        return {"thought": "", "lookups": [], "answerable": True, "short": parts[last].answer,
                "confidence": 0.9, "claims": [{"text": f"It is {parts[last].answer}.", "unstated": "",
                                               "quotes": [{"item": item, "words": words}]}]}
    asked = [filled(parts, number) for number, part in enumerate(parts)
             if number not in shown and shown.keys() >= set(part.refers_to())]
    new = [question for question in asked if not any(json.dumps(question) in block for block in blocks[1:])]
    return {"thought": "", "lookups": [{"tool": "passage_search", "query": question} for question in new],
            "answerable": False, "claims": [], "short": "",
            "confidence": 0.0}
