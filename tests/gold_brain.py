"""A script for `tests/llm_server.py` that knows a data set's own decompositions and answers, and nothing else.

It takes a question apart as the data set does, referring to the answers of earlier parts. A part is answered where the
passage that answers it is among those shown, and the parts that it refers to are answered; the question, where its last
part is.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from banyan.schemas.references import references, replace_references

Json = dict[str, Any]
ROUTES = ["entity", "triple", "community", "dfs"]

_FENCED = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)
_ITEM = re.compile(r"^\[(\d+)\] (.*?)(?=\n\n\[\d+\] |\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = 60


@dataclass(frozen=True)
class GoldPart:
    """A part of a question, its answer, and the passage that gives it."""

    question: str
    answer: str
    title: str
    text: str

    def refers_to(self) -> list[int]:
        """The numbers, from 0, of the parts whose answers it needs."""
        return [number - 1 for number in references(self.question)]

    def shown(self, passages: str) -> tuple[int, str] | None:
        """The number of the passage that answers it and words of it, if it is among those shown."""
        for number, item in _ITEM.findall(passages):
            title, _, text = item.partition("\n")
            if title.strip() != self.title.strip() or text.strip() not in self.text:
                continue
            place = text.lower().find(self.answer.lower())
            if place >= 0:
                return int(number), text[place:place + len(self.answer)]
            if self.answer.lower() not in self.text.lower():
                return int(number), text[:_QUOTED].strip()
        return None


def filled(parts: Sequence[GoldPart], number: int) -> str:
    """A part's question with the answers of those before it."""
    return replace_references(parts[number].question, lambda earlier: parts[earlier - 1].answer)


def gold_brain(known: dict[str, Sequence[GoldPart]]) -> Callable[[Json], str]:
    """A script that answers the steps of a question.

    Args:
        known: the parts of each question, by its text.
    """
    parts_of = {_key(question): parts for question, parts in known.items()}

    def reply(request: Json) -> str:
        user = request["messages"][1]["content"]
        blocks = _FENCED.findall(user)
        parts = parts_of[_key(blocks[-1])]
        if '"sufficient":' in user:
            answer = _reflect(parts, blocks[0], _answered(parts, blocks[1]))
        elif '"answerable":' in user:
            answer = _answer(parts, blocks[0], _answered(parts, blocks[1]))
        else:
            answer = {"sub_queries": [{"question": part.question, "types": [], "relations": [], "attributes": [],
                                       "routes": ROUTES} for part in parts]}
        return json.dumps(answer, ensure_ascii=False)

    return reply


def _key(question: str) -> str:
    return " ".join(question.split())


def _answered(parts: Sequence[GoldPart], history: str) -> set[int]:
    """The numbers, from 0, of the parts that the history has answers of; what was asked besides comes after them."""
    return {int(number) - 1 for number, item in _ITEM.findall(history)
            if int(number) <= len(parts) and not item.partition("\n")[0].endswith("-> ?")}


def _reflect(parts: Sequence[GoldPart], passages: str, answered: set[int]) -> Json:
    known, keep = set(answered), []
    for number, part in enumerate(parts):
        shown = part.shown(passages)
        if shown and known.issuperset(part.refers_to()):
            known.add(number)
            keep.append(shown[0])
    found = _answer(parts, passages, known)
    return {**found, "sufficient": found["answerable"] and len(known) == len(parts), "missing": "", "sub_queries": [],
            "keep": keep, "answers": [{"id": number + 1, "answer": parts[number].answer} for number in sorted(known)]}


def _answer(parts: Sequence[GoldPart], passages: str, answered: set[int]) -> Json:
    last = parts[-1]
    shown = last.shown(passages)
    if shown is None or not answered.issuperset(last.refers_to()):
        return {"answerable": False, "short": "", "claims": [], "confidence": 0.0}
    number, words = shown
    return {"answerable": True, "short": last.answer, "confidence": 0.9,
            "claims": [{"text": f"It is {last.answer}.", "quotes": [{"passage": number, "words": words}]}]}
