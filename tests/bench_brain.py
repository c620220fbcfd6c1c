"""A script for `tests/llm_server.py` that builds by rules, and answers a dataset's questions rightly."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from . import llm_brain

Json = dict[str, Any]
_FENCED = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)
_ITEM = re.compile(r"^\[(\d+)\] (.*?)(?=\n\[\d+\] |\Z)", re.DOTALL | re.MULTILINE)
_NOTHING: Json = {"thought": "", "lookups": []}


def bench_brain(questions: Iterable[Any]) -> Callable[[Json], str]:
    """The script, for questions with their gold answers."""
    known = {_key(question.question): question for question in questions}

    def reply(request: Json) -> str:
        system, user = (request["messages"][place]["content"] for place in (0, 1))
        if '"lookups":' in system:
            asked, *evidence = _FENCED.findall(user)
            answer = _answer(known.get(_key(asked)), evidence)
        elif '"correct":' in system:
            answer = judged(user)
        else:
            return llm_brain.reply(request)
        return json.dumps(answer, ensure_ascii=False)

    return reply


def judged(user: str) -> Json:
    """The verdict of a judge that looks whether a gold answer stands in the prediction's block."""
    _, gold, prediction = _FENCED.findall(user)
    said = prediction.lower()
    answers = [line[2:].lower().strip(".") for line in gold.splitlines()]
    statements = max(answers, key=len).split(". ")
    return {"reason": "compared", "correct": any(answer in said for answer in answers),
            "statements": len(statements), "stated": sum(statement in said for statement in statements)}


def _key(question: str) -> str:
    return " ".join(question.split())


def _answer(question: Any, evidence: list[str]) -> Json:
    if question is None or question.unanswerable:
        return {**_NOTHING, "answerable": False, "claims": [], "short": "", "confidence": 0.0}
    lines, quotes = question.answers[0].split("\n"), _quotes(evidence)
    words = "; ".join(quote["words"] for quote in quotes)  # a quote supports a claim that shares words with it
    return {**_NOTHING, "answerable": True, "confidence": 0.9, "short": "; ".join(lines),
            "claims": [{"text": f"{line} ({words})", "quotes": quotes, "unstated": ""} for line in lines]}


def _quotes(evidence: list[str]) -> list[Json]:
    """A sentence of the first passage; a row of the graph has no second line, or a title or a note follows it."""
    for number, item in (found for block in evidence for found in _ITEM.findall(block)):
        lines = [line for line in item.split("\n")[1:] if line.strip() and line[0] not in "#("]
        if lines and (words := lines[-1].partition(".")[0].strip()):
            return [{"item": int(number), "words": words}]
    return []
