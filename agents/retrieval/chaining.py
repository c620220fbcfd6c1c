"""Sub-queries that wait for the answers of earlier ones, to which they refer (`schemas/references.py`).

An answer may be several names ("Ada Byron and Carl Berg"): a sub-query that refers to it is asked once
for each of them.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product

from ...graph_store.bounding.grounding import without_aside, words
from ...schemas.naming import canonical_name
from ...schemas.references import literal, references, replace_references
from ...schemas.retrieval import SubAnswer, SubQuery
from ...tools.query import wording
from ...tools.retriever import Retriever
from .planning import Plan, distinct, key

# These separate the items of a list and hardly ever occur within a name.
_LIST = re.compile("[;；、\n]")
# These occur within many names as well: "Bosnia and Herzegovina", "Martin Luther King, Jr.", 平和县.
_JOINT = re.compile(r"(?:(?<!\s)\s++)?+(?:[,，]\s*+(?:(?:and|or)\s++)?|(?:以及|和|与|及)\s*+)|"
                    r"(?<!\s)\s++(?:and|or|&)\s++")
# A longer text is a sentence, and its marks separate clauses.
_WORDS_OF_A_NAME = 8
_LETTERS_OF_A_NAME = 60
_SAME = 0.8
"""The share of a sub-query's words that another one has, from which it asks the same."""

IsName = Callable[[str], bool]


def names_known_to(retriever: Retriever) -> IsName:
    """Return a function that is True for texts that are, as a whole, a name in the knowledge base."""
    def is_name(text: str) -> bool:
        return [match.name for match in retriever.index.names.find(text)] == [" ".join(words(text))]

    return is_name


def waits(question: str) -> bool:
    """Return True if a sub-query refers to the answer of another."""
    return bool(references(question))


def searchable(parts: Sequence[SubQuery]) -> list[SubQuery]:
    """Return the sub-queries that can be searched before any is answered.

    A sub-query that refers to an earlier one is searched by its other words, with the evidence of the earlier one
    instead of its answer. It is left out if the earlier one is not searched or if it has no other words.
    """
    positions: set[int] = set()
    for position, part in enumerate(parts):
        led = positions.intersection(_waited_for(part, position)) and words(wording(part.question))
        if led or not waits(part.question):
            positions.add(position)
    return [parts[position] for position in sorted(positions)]


def following(plan: Plan, planned: Sequence[SubQuery]) -> Plan:
    """Return a plan whose sub-queries list those that they follow.

    Args:
        plan: the first round's plan; some of its sub-queries may refer to others.
        planned: the sub-queries that references number, in order.
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
    """Return the positions of the earlier sub-queries that the one at `position` refers to."""
    numbers = (number - 1 for number in references(part.question))
    return [number for number in numbers if 0 <= number < position]


def names_of(answer: str, is_name: IsName) -> tuple[str, ...]:
    """Return the names in an answer.

    Args:
        answer: a reasoner's answer; may be empty.
        is_name: returns True for the name of a known entity. Commas and "and" separate only known names.

    Returns:
        Each name once, in order, without a note in brackets after it that is no part of a known name; the whole
        answer if it is no list.
    """
    whole = answer.strip()
    if is_name(whole):
        return (whole,)
    items = [item for part in _LIST.split(whole) if (item := part.strip())]
    if any(len(item.split()) > _WORDS_OF_A_NAME or len(item) > _LETTERS_OF_A_NAME for item in items):
        return (whole,)
    items = [item if is_name(item) else without_aside(item) or item for item in items]
    names: dict[str, str] = {}
    for name in (name for item in items for name in _split_at_joints(item, is_name)):
        names.setdefault(canonical_name(name), name)
    return tuple(names.values())


def _split_at_joints(item: str, is_name: IsName) -> list[str]:
    parts = [part for part in _JOINT.split(item) if part]
    return parts if not is_name(item) and len(parts) > 1 and all(map(is_name, parts)) else [item]


def fillings(question: str, answers: Sequence[str], is_name: IsName, limit: int) -> list[str]:
    """Replace each reference in a sub-query by the answer: one text for each name, or combination of names.

    Args:
        question: a sub-query that may refer to answers.
        answers: the answers of the sub-queries before it, in order; "" if there is none.
        is_name: see `names_of`.
        limit: how many texts at most.

    Returns:
        The texts; none if an answer that the sub-query refers to is missing.
    """
    numbers = list(dict.fromkeys(references(question)))
    if not numbers or not all(0 < number <= len(answers) and answers[number - 1].strip() for number in numbers):
        return []
    choices = [names_of(answers[number - 1], is_name) for number in numbers]
    return [_fill(question, dict(zip(numbers, chosen, strict=True))) for chosen in islice(product(*choices), limit)]


def _fill(question: str, names: Mapping[int, str]) -> str:
    return replace_references(question, lambda number: literal(names[number]))


def merged(history: Sequence[SubAnswer], proposed: Sequence[SubAnswer], is_name: IsName, limit: int) -> list[SubAnswer]:
    """Return the history updated with the answers that a reflection gave.

    An earlier round's answer stays if this one gives none. A sub-query that was asked once for each name gets all
    their answers, so the chain can continue from it.
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
    """Return the sub-queries that can be searched next and were not searched yet.

    Args:
        proposed: the sub-queries that the reasoner asks for; their references number the history's answers.
        planned: the sub-queries of the history, in its order.
        known: the history.
        searched: the keys of all sub-queries searched so far.
        is_name: see `names_of`.
        limit: how many texts one sub-query may become.

    Returns:
        The reasoner's sub-queries, split into one for each name where it put all names into one. If it asks for
        nothing new, the planned ones whose answers are now known. Those still unanswered are left out.
    """
    answers = [item.answer for item in known]
    ready: list[SubQuery] = []
    each: dict[str, list[SubQuery]] = {}
    for position, part in enumerate(planned):
        if not answers[position] and waits(part.question):
            filled = _fill_with_answers(part, answers[:position], is_name, limit)
            ready.extend(filled)
            each.update({key(text): filled for text in fillings(part.question, answers[:position], lambda _: True, 1)})
    asked = [one for part in proposed
             for one in each.get(key(part.question)) or _fill_with_answers(part, answers, is_name, limit)]
    return _drop_searched(asked, searched) or _drop_searched(ready, searched)


def without_rewordings(parts: Sequence[SubQuery], asked: Sequence[SubQuery]) -> list[SubQuery]:
    """Return the sub-queries of which no asked one has nearly all words: a model often rewords what is planned."""
    spoken = [set(words(part.question)) for part in asked]

    def is_asked(part: SubQuery) -> bool:
        said = set(words(part.question))
        return any(len(said & others) >= _SAME * len(said) for others in spoken)

    return [part for part in parts if not is_asked(part)]


def _drop_searched(parts: Sequence[SubQuery], searched: Collection[str]) -> list[SubQuery]:
    return [part for part in distinct(parts) if key(part.question) not in searched]


def _fill_with_answers(part: SubQuery, answers: Sequence[str], is_name: IsName, limit: int) -> list[SubQuery]:
    if not waits(part.question):
        return [part]
    return [part.model_copy(update={"question": text}) for text in fillings(part.question, answers, is_name, limit)]
