"""Candidate answers in a sentence: spans of the expected kind, the likeliest first."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ....schemas.naming import canonical_name
from ....schemas.retrieval import TypedFact
from ....text.dates import find_dates
from ....text.quantities import find_numbers
from ..content_words import content_words, language_of
from ..lexicon import ORGANISATION_NOUNS, PLACE_NOUNS
from ..name_words import CHINESE_SURNAMES
from ..questions.answer_types import Expected, Question
from ..questions.names import find_names, mentions

_PRONOUN = re.compile(r"\b(?:He|She|he|she|It|it|They|they)\b|^[他她它]|(?<=[，,。])[他她它]|该公司|本公司|^公司")
_PLACE_LEAD = re.compile(r"\b(?:in|at|near|on|from|to|into|through|outside|across)\s+(?:the\s+)?(?:\w+\s+of\s+)?$|"
                         r"(?:在|于|位于|来自|到|流经|流入)$", re.IGNORECASE)
_AGENT_LEAD = re.compile(r"\bby\s+(?:[a-z-]+\s+){0,4}$|(?:由|被|是)$")
_PLACE_TAIL = re.compile(r"(?:省|市|县|区|州|国|江|河|湖|山|岛|洋|海|村|镇)$")
_ORGANISATION_TAIL = re.compile(r"(?:公司|集团|大学|学院|研究[所院]|实验室|银行|医院|"
                                r"中心|基金会|协会|学会|出版社|社|部|馆|台)$")
_PIECE = re.compile(r"(?=([\u3400-\u9fff]{2}))|(?<![^\W\u3400-\u9fff])([^\W_\u3400-\u9fff]+(?:-[^\W_\u3400-\u9fff]+)*)")
_CHINESE_PERSON = re.compile(rf"[{''.join(sorted(CHINESE_SURNAMES))}][\u4e00-\u9fff]{{1,3}}|"
                             r"[\u4e00-\u9fff]+(?:[·・•][\u4e00-\u9fff]+)+")
_DESCRIBING = re.compile(r"\b(?:the|an?|its|his|her)\s+$", re.IGNORECASE)
_NEAR = 40.0
_BEFORE = 20
_LEAD = 40
# More than the words around a span can tell, which is at most about two.
_KNOWN = 3.0


@dataclass(frozen=True)
class Candidate:
    """A span that may be the answer: its words, how well it fits (higher is better), its normal form if known."""

    words: str
    fit: float
    normal: str = ""


def candidates(question: Question, sentence: str, title: str, known: Sequence[str] = (),
               facts: Sequence[TypedFact] = ()) -> list[Candidate]:
    """The spans of a sentence that are of the expected kind and not in the question.

    Args:
        question: the question taken apart.
        sentence: one sentence.
        title: the title above it, the antecedent of a pronoun that opens the sentence.
        known: names known from elsewhere, such as the titles of other passages.
        facts: what the graph has from this sentence: of two values the one that it has of the asked
            entity and attribute is the likelier.

    Returns:
        The candidates, best first; none for questions whose answer has no known form.
    """
    if question.expected is Expected.TEXT:
        return []
    anchors = _anchors(question, sentence)
    best: dict[str, Candidate] = {}
    for start, end, words in _spans(question, sentence, title, known):
        key = canonical_name(words)
        if not key or _stands_in(question, words):
            continue
        fit = _fit(question, sentence, start, end, words) - _distance(question, anchors, start, end) / _NEAR
        fact = next((fact for fact in facts if _is_value(words, fact)), None)
        fit += _KNOWN if fact and _asks_for(question, fact) else 0.0
        if key not in best or fit > best[key].fit:
            best[key] = Candidate(words, fit, fact.normal if fact else "")
    return sorted(best.values(), key=lambda candidate: -candidate.fit)


def _is_value(words: str, fact: TypedFact) -> bool:
    """Whether a span is a fact's value; the graph's may be a little longer or shorter (about 12 km)."""
    spoken, known = canonical_name(words), canonical_name(fact.value)
    return spoken == known or (min(len(spoken), len(known)) > 1 and (spoken in known or known in spoken))


def _asks_for(question: Question, fact: TypedFact) -> bool:
    """Whether a question asks for a fact's attribute of its entity."""
    of_it = any(mentions(name, entity) or mentions(entity, name) for name in question.names for entity in fact.entities)
    words = frozenset(content_words(question.text))
    return of_it and any(needed and words.issuperset(needed)
                         for needed in (content_words(cue.replace("_", " ")) for cue in fact.asked_by))


def _spans(question: Question, sentence: str, title: str, known: Sequence[str]) -> list[tuple[int, int, str]]:
    dates = list(find_dates(sentence, intervals=False))
    if question.expected is Expected.DATE:
        return [(start, end, sentence[start:end]) for start, end in dates]
    if question.expected is Expected.NUMBER:
        return [(start, end, sentence[start:end].strip()) for start, end in find_numbers(sentence, counts=True)
                if all(end <= a or start >= b for a, b in dates)]
    spans = [(start, end, sentence[start:end]) for start, end in find_names(sentence, known)]
    pronoun = _PRONOUN.search(sentence)
    heading = re.sub(r"\s*[(（].*?[)）]", "", title).strip()
    if pronoun and heading and question.expected is Expected.PERSON:
        spans.append((*pronoun.span(), heading))
    return spans


def _stands_in(question: Question, words: str) -> bool:
    """Whether the question itself holds the span: then it cannot be the answer."""
    folded = canonical_name(words)
    return folded in canonical_name(question.text) or any(mentions(words, name) for name in question.names)


def _anchors(question: Question, sentence: str) -> list[tuple[int, int]]:
    """Where the words the question says of its names stand in the sentence."""
    wanted = {*question.words, *content_words(question.focus)}
    pieces = [match.span(match.lastindex or 0) for match in _PIECE.finditer(sentence)]
    return [(a, b) for a, b in pieces if wanted.intersection(content_words(sentence[a:b]))]


def _distance(question: Question, anchors: list[tuple[int, int]], start: int, end: int) -> float:
    """Characters to the nearest anchor, at most 4 `_NEAR`; the farthest where there is none.

    A Chinese number follows what it measures (营业收入为5亿元), so one before it counts as farther.
    """
    before = _BEFORE if question.expected is Expected.NUMBER and question.language == "zh" else 0
    gaps = [start - b if start >= b else max(a - end, 0) + before for a, b in anchors]
    return min([*gaps, 4 * _NEAR])


def _fit(question: Question, sentence: str, start: int, end: int, words: str) -> float:
    """How much a span looks like the expected kind, by its own words and the words before it."""
    lead = sentence[max(0, start - _LEAD) : start]
    nouns = {word.casefold() for word in re.findall(r"[^\W\d_]+", words)}
    is_place = bool(nouns & PLACE_NOUNS or _PLACE_TAIL.search(words))
    is_organisation = bool(nouns & ORGANISATION_NOUNS or _ORGANISATION_TAIL.search(words))
    led_by_place = bool(_PLACE_LEAD.search(lead))
    with_next_word = sentence[start : end + len(question.focus) + 1].casefold()
    focus = 1.0 if question.focus and question.focus in with_next_word else 0.0
    if question.expected is Expected.PERSON:
        describes = " " not in words and bool(_DESCRIBING.search(lead) and re.match(r"[ -][a-z]", sentence[end:]))
        unlike = language_of(words) == "zh" and not _CHINESE_PERSON.fullmatch(words)
        wrong = is_place or led_by_place or describes or unlike
        return 1.0 * bool(_AGENT_LEAD.search(lead)) - 2.0 * wrong - 0.7 * is_organisation
    if question.expected is Expected.PLACE:
        looks = 1.0 * led_by_place + 0.5 * is_place - 0.8 * is_organisation
        return looks + focus + _in_chain(question, sentence, start, end)
    if question.expected is Expected.ORGANISATION:
        return 1.0 * is_organisation + focus
    if question.expected is Expected.DATE:
        return 0.02 * len(words)
    return focus


def _in_chain(question: Question, sentence: str, start: int, end: int) -> float:
    """'Ulm, Germany': the last part is the country, the first the city."""
    first = bool(re.match(r",\s[A-Z]", sentence[end : end + 3]))
    last = start > 1 and bool(re.search(r"[^\W\d_],\s$", sentence[max(0, start - 3) : start]))
    if question.focus in {"country", "nation", "state"}:
        return 1.2 * (last and not first) - 0.8 * first
    return 0.2 * first - 0.5 * last
