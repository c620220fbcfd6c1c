"""Sub-queries that wait for answers: `#1` stands for the answer of the first one, and so on.

An answer may be several names ("Ada Byron and Carl Berg"): a sub-query that refers to it is asked once
for each of them.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product

from ...graph_store.bounding.grounding import words
from ...schemas.naming import canonical_name
from ...schemas.retrieval import SubAnswer, SubQuery
from ...tools.query import wording
from ...tools.retriever import Retriever
from .planning import Plan, distinct, key

PLACE = re.compile(r"#(\d+)")
# Between the items of a list, and hardly ever within a name.
_LIST = re.compile(r"\s*[;；、\n]\s*")
# Within many names as well: "Bosnia and Herzegovina", "Martin Luther King, Jr.", 平和县.
_JOINT = re.compile(r"\s*[,，]\s*(?:(?:and|or)\s+)?|\s+(?:and|or|&)\s+|\s*(?:以及|和|与|及)\s*")
# What has more of them is a sentence, and a mark in it parts clauses.
_WORDS_OF_A_NAME = 8
_LETTERS_OF_A_NAME = 60

IsName = Callable[[str], bool]


def names_known_to(retriever: Retriever) -> IsName:
    """Tells whether a text, as a whole, is a name in the knowledge base."""
    def is_name(text: str) -> bool:
        return [found.name for found in retriever.index.names.find(text)] == [" ".join(words(text))]

    return is_name


def waits(question: str) -> bool:
    """Whether a sub-query refers to the answer of another."""
    return PLACE.search(question) is not None


def searchable(parts: Sequence[SubQuery]) -> list[SubQuery]:
    """The sub-queries that can be searched before any is answered.

    One that waits is searched by the words it has besides `#n`, with what is found for the earlier one
    in the place of its answer. Left out is what waits for none that is searched, or has no such words.
    """
    places: set[int] = set()
    for place, part in enumerate(parts):
        led = places.intersection(_waited_for(part, place)) and words(wording(part.question))
        if led or not waits(part.question):
            places.add(place)
    return [parts[place] for place in sorted(places)]


def following(plan: Plan, planned: Sequence[SubQuery]) -> Plan:
    """A plan whose sub-queries know those that they follow.

    Args:
        plan: of the first round; some of its sub-queries may wait for answers.
        planned: the sub-queries to which `#1`, `#2`, ... refer, in order.
    """
    number_of = {key(part.question): number for number, part in plan.new}
    place_of = {key(part.question): place for place, part in enumerate(planned)}
    linked = []
    for number, part in plan.new:
        places = _waited_for(part, place_of.get(key(part.question), 0))
        found = (number_of.get(key(planned[place].question), number) for place in places)
        follows = dict.fromkeys((*part.follows, *(one for one in found if one < number)))
        linked.append((number, part.model_copy(update={"follows": tuple(follows)})))
    return replace(plan, new=tuple(linked))


def _waited_for(part: SubQuery, place: int) -> list[int]:
    """The places of the earlier sub-queries that one at `place` refers to."""
    return [number for number in (int(found) - 1 for found in PLACE.findall(part.question)) if 0 <= number < place]


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
    items = [item for item in _LIST.split(whole) if item]
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
    """A sub-query with each `#n` filled: one text for each name, or combination of names.

    Args:
        question: may hold `#1`, `#2`, ...
        answers: of the sub-queries before it, in order; empty where nothing was found.
        is_name: see `names_of`.
        limit: how many texts at most.

    Returns:
        The texts; none where an answer that it waits for is missing.
    """
    numbers = list(dict.fromkeys(int(number) for number in PLACE.findall(question)))
    if not numbers or not all(0 < number <= len(answers) and answers[number - 1].strip() for number in numbers):
        return []
    choices = [names_of(answers[number - 1], is_name) for number in numbers]
    return [_fill(question, dict(zip(numbers, chosen, strict=True))) for chosen in islice(product(*choices), limit)]


def _fill(question: str, names: Mapping[int, str]) -> str:
    return PLACE.sub(lambda found: names[int(found[1])], question)


def merged(history: Sequence[SubAnswer], said: Sequence[SubAnswer], is_name: IsName, limit: int) -> list[SubAnswer]:
    """The history with the answers that a reflection gave.

    What an earlier round answered stands where this one says nothing. A sub-query that waited and was
    asked for each name has the answers of those as its own, so that the chain goes on from it.
    """
    given = {key(item.question): item.answer for item in said if item.answer.strip()}
    known = [SubAnswer(question=item.question, answer=given.get(key(item.question), item.answer)) for item in history]
    answered = {key(item.question): item.answer for item in known if item.answer}
    for place, item in enumerate(known):
        if not item.answer:
            filled = fillings(item.question, [one.answer for one in known[:place]], is_name, limit)
            found = dict.fromkeys(answered[key(text)] for text in filled if key(text) in answered)
            known[place] = SubAnswer(question=item.question, answer="; ".join(found))
    return known


def next_parts(said: Sequence[SubQuery], planned: Sequence[SubQuery], known: Sequence[SubAnswer],
               searched: Collection[str], is_name: IsName, limit: int) -> list[SubQuery]:
    """What can be searched next and was not yet.

    Args:
        said: what the reasoner asks for; `#n` in it stands for the n-th answer of the history.
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
    for place, part in enumerate(planned):
        if not answers[place] and waits(part.question):
            filled = _filled(part, answers[:place], is_name, limit)
            ready.extend(filled)
            each.update({key(text): filled for text in fillings(part.question, answers[:place], lambda _: True, 1)})
    asked = [one for part in said for one in each.get(key(part.question)) or _filled(part, answers, is_name, limit)]
    return _unsearched(asked, searched) or _unsearched(ready, searched)


def _unsearched(parts: Sequence[SubQuery], searched: Collection[str]) -> list[SubQuery]:
    return [part for part in distinct(parts) if key(part.question) not in searched]


def _filled(part: SubQuery, answers: Sequence[str], is_name: IsName, limit: int) -> list[SubQuery]:
    if not waits(part.question):
        return [part]
    return [part.model_copy(update={"question": text}) for text in fillings(part.question, answers, is_name, limit)]
