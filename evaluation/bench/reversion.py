"""Anonymity Reversion (Youtu-GraphRAG, appendix B): answers as pairs of an anonymous id and a name, scored by pair."""

import re
from typing import NamedTuple

from ..answer_scores import f1, holds

ID = re.compile(r"[A-Z]{2,20}#\d{1,9}")
_PAIR = re.compile(rf"({ID.pattern})[\]】\"'’”]*\s*(?:[—–-]{{1,3}}>?|→|=>?|[:：]|是|is|was)\s*"
                   r"[\"'‘“\[【]*([^\n;；,，\"”\[\]【】]+)")
_CLOSE = 0.6
"""The smallest F1 of the tokens: it allows a title or another form of the name, but not a list of guesses."""


class PairScores(NamedTuple):
    """The number of ids to name, of ids named, and of ids named correctly."""

    asked: int
    named: int
    right: int


def pairs(text: str) -> dict[str, str]:
    """Return a text's name for each id: `PERSON#532——Ishmael`, `[PERSON#532] is Ishmael`, `"PERSON#532": "Ishmael"`.

    If it gives several names, the first one counts.
    """
    found: dict[str, str] = {}
    for identifier, name in _PAIR.findall(text):
        if name.strip(" .。") and not ID.search(name):
            found.setdefault(identifier, name.strip(" .。"))
    return found


def pair_scores(answer: str, gold: str) -> PairScores:
    """Score an answer's pairs against the gold ones. A name is right if it contains the gold name and little else."""
    given, expected = pairs(answer), pairs(gold)
    right = sum(identifier in given and holds(given[identifier], [name]) and f1(given[identifier], [name]) > _CLOSE
                for identifier, name in expected.items())
    return PairScores(asked=len(expected), named=len(given.keys() & expected.keys()), right=right)
