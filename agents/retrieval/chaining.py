"""Sub-queries that wait for the answers of earlier ones, to which they refer (`schemas/references.py`).

An answer may be several names ("Ada Byron and Carl Berg"): a sub-query that refers to it is asked once
for each of them.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product

from ...graph_store.bounding.grounding import words
from ...schemas.naming import canonical_name
from ...schemas.references import literal, references, replaced
from ...schemas.retrieval import SubAnswer, SubQuery
from ...tools.query import wording
from ...tools.retriever import Retriever
from .planning import Plan, distinct, key

# Between the items of a list, and hardly ever within a name.
_LIST = re.compile("[;；、\n]")
# Within many names as well: "Bosnia and Herzegovina", "Martin Luther King, Jr.", 平和县.
_JOINT = re.compile(r"(?:(?<!\s)\s++)?+(?:[,，]\s*+(?:(?:and|or)\s++)?|(?:以及|和|与|及)\s*+)|"
                    r"(?<!\s)\s++(?:and|or|&)\s++")
# What has more of them is a sentence, and a mark in it parts clauses.
_WORDS_OF_A_NAME = 8
_LETTERS_OF_A_NAME = 60

IsName = Callable[[str], bool]


def names_known_to(retriever: Retriever) -> IsName:
    """Tells whether a text, as a whole, is a name in the knowledge base."""
    def is_name(text: str) -> bool:
        return [match.name for match in retriever.index.names.find(text)] == [" ".join(words(text))]

    return is_name


def waits(question: str) -> bool:
    """Whether a sub-query refers to the answer of another."""
    return bool(references(question))


def searchable(parts: Sequence[SubQuery]) -> list[SubQuery]:
    """The sub-queries that can be searched before any is answered.

    A sub-query that refers to another is searched by its other words, with the evidence of the earlier
    one instead of its answer. It is left out if the earlier one is not searched, or if it has no such words.
    """
    positions: set[int] = set()
    for position, part in enumerate(parts):
        led = positions.intersection(_waited_for(part, position)) and words(wording(part.question))
        if led or not waits(part.question):
            positions.add(position)
    return [parts[position] for position in sorted(positions)]


def following(plan: Plan, planned: Sequence[SubQuery]) -> Plan:
    """A plan whose sub-queries know those that they follow.

    Args:
        plan: of the first round; some of its sub-queries may wait for answers.
        planned: the sub-queries to which references count, in order.
    """
    number_of = {key(part.question): number for number, part in plan.new}
    position_of = {key(part.question): position for position, part in enumerate(planned)}
    linked = []
    for number, part in plan.new:
        positions = _waited_for(part, position_of.get(key(part.question), 0))
        earlier = (number_of.get(key(planned[position].question), number) for position in positions)
        follows = dict.fromkeys((*part.follows, *(other for other in earlier if other < number)))
        linked.append((number, part.model_copy(update={"follows": tuple(follows)})))
    return replace(plan, new=tuple(linked))


def _waited_for(part: SubQuery, position: int) -> list[int]:
    """The positions of the earlier sub-queries that the one at `position` refers to."""
    numbers = (number - 1 for number in references(part.question))
    return [number for number in numbers if 0 <= number < position]


def names_of(answer: str, is_name: IsName) -> tuple[str, ...]:
    """The names in an answer.

    Args:
        answer: as a reasoner gave it; may be empty.
        is_name: whether a text is the name of a known entity. Only between known names commas and
            "and" part a list.

    Returns:
        Each name once, in order; the whole answer where it is no list.
    """
    whole = answer.strip()
    if is_name(whole):
        return (whole,)
    items = [item for part in _LIST.split(whole) if (item := part.strip())]
    if any(len(item.split()) > _WORDS_OF_A_NAME or len(item) > _LETTERS_OF_A_NAME for item in items):
        return (whole,)
    names: dict[str, str] = {}
    for name in (name for item in items for name in _joined(item, is_name)):
        names.setdefault(canonical_name(name), name)
    return tuple(names.values())


def _joined(item: str, is_name: IsName) -> list[str]:
    parts = [part for part in _JOINT.split(item) if part]
    return parts if not is_name(item) and len(parts) > 1 and all(map(is_name, parts)) else [item]


def fillings(question: str, answers: Sequence[str], is_name: IsName, limit: int) -> list[str]:
    """A sub-query with each reference filled: one text for each name, or combination of names.

    Args:
        question: may refer to answers.
        answers: of the sub-queries before it, in order; empty where there is none.
        is_name: see `names_of`.
        limit: how many texts at most.

    Returns:
        The texts; none where an answer that it waits for is missing.
    """
    numbers = list(dict.fromkeys(references(question)))
    if not numbers or not all(0 < number <= len(answers) and answers[number - 1].strip() for number in numbers):
        return []
    choices = [names_of(answers[number - 1], is_name) for number in numbers]
    return [_fill(question, dict(zip(numbers, chosen, strict=True))) for chosen in islice(product(*choices), limit)]


def _fill(question: str, names: Mapping[int, str]) -> str:
    return replaced(question, lambda number: literal(names[number]))


def merged(history: Sequence[SubAnswer], proposed: Sequence[SubAnswer], is_name: IsName, limit: int) -> list[SubAnswer]:
    """The history with the answers that a reflection gave.

    An earlier round's answer stays where this one gives none. A sub-query that was asked for each name gets
    the answers of these, so that the chain continues from it.
    """
    given = {key(item.question): item.answer for item in proposed if item.answer.strip()}
    known = [SubAnswer(question=item.question, answer=given.get(key(item.question), item.answer)) for item in history]
    answered = {key(item.question): item.answer for item in known if item.answer}
    for position, item in enumerate(known):
        if not item.answer:
            filled = fillings(item.question, [other.answer for other in known[:position]], is_name, limit)
            answers = dict.fromkeys(answered[key(text)] for text in filled if key(text) in answered)
            known[position] = SubAnswer(question=item.question, answer="; ".join(answers))
    return known


def next_parts(proposed: Sequence[SubQuery], planned: Sequence[SubQuery], known: Sequence[SubAnswer],
               searched: Collection[str], is_name: IsName, limit: int) -> list[SubQuery]:
    """What can be searched next and was not yet.

    Args:
        proposed: what the reasoner asks for; a reference in it is to the n-th answer of the history.
        planned: the sub-queries of the history, in its order.
        known: the history.
        searched: the keys of all sub-queries searched so far.
        is_name: see `names_of`.
        limit: how many at most of one sub-query.

    Returns:
        The reasoner's sub-queries, with one for each name where it put all names into one. Where it
        asks for nothing new, those planned that wait no longer. What still waits is left out.
    """
    answers = [item.answer for item in known]
    ready: list[SubQuery] = []
    each: dict[str, list[SubQuery]] = {}
    for position, part in enumerate(planned):
        if not answers[position] and waits(part.question):
            filled = _filled(part, answers[:position], is_name, limit)
            ready.extend(filled)
            each.update({key(text): filled for text in fillings(part.question, answers[:position], lambda _: True, 1)})
    asked = [one for part in proposed
             for one in each.get(key(part.question)) or _filled(part, answers, is_name, limit)]
    return _unsearched(asked, searched) or _unsearched(ready, searched)


def _unsearched(parts: Sequence[SubQuery], searched: Collection[str]) -> list[SubQuery]:
    return [part for part in distinct(parts) if key(part.question) not in searched]


def _filled(part: SubQuery, answers: Sequence[str], is_name: IsName, limit: int) -> list[SubQuery]:
    if not waits(part.question):
        return [part]
    return [part.model_copy(update={"question": text}) for text in fillings(part.question, answers, is_name, limit)]
