"""Anonymity Reversion (Youtu-GraphRAG, appendix B): answers as pairs of an anonymous id and a name, scored by pair."""

import re
from typing import NamedTuple

from ..answer_scores import f1, holds

ID = re.compile(r"[A-Z]{2,20}#\d{1,9}")
_PAIR = re.compile(rf"({ID.pattern})[\]】\"'’”]*\s*(?:[—–-]{{1,3}}>?|→|=>?|[:：]|是|is|was)\s*"
                   r"[\"'‘“\[【]*([^\n;；,，\"”\[\]【】]+)")
_CLOSE = 0.6
"""F1 of the tokens: a name may stand with its title or another form, but not in a list of guesses."""


class PairScores(NamedTuple):
    """How many ids were to be named, were named, and were named rightly."""

    asked: int
    named: int
    right: int


def pairs(text: str) -> dict[str, str]:
    """The name that a text gives each id: `PERSON#532——Ishmael`, `[PERSON#532] is Ishmael`, `"PERSON#532": "Ishmael"`.

    The first one counts where it gives several.
    """
    found: dict[str, str] = {}
    for identifier, name in _PAIR.findall(text):
        if name.strip(" .。") and not ID.search(name):
            found.setdefault(identifier, name.strip(" .。"))
    return found


def pair_scores(answer: str, gold: str) -> PairScores:
    """Score an answer's pairs against the gold ones. A name is right that holds the gold one and little else."""
    given, expected = pairs(answer), pairs(gold)
    right = sum(identifier in given and holds(given[identifier], [name]) and f1(given[identifier], [name]) > _CLOSE
                for identifier, name in expected.items())
    return PairScores(asked=len(expected), named=len(given.keys() & expected.keys()), right=right)
