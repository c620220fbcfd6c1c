"""Candidate answers in a sentence: spans of the expected kind, the likeliest first."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....schemas.naming import canonical_name
from ....schemas.retrieval import TypedFact
from ....text.dates import find_days
from ....text.quantities import find_numbers
from ..content_words import content_words, language_of
from ..lexicon import ORGANISATION_NOUNS, PLACE_NOUNS
from ..name_words import CHINESE_SURNAMES
from ..questions.answer_types import Expected, Question
from ..questions.names import find_names, mentions
from ..questions.unfolding_english import asks
from .measures import is_coarser_date, of_another_measure

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_PRONOUN = re.compile(r"\b(?:He|She|he|she|It|it|They|they)\b|^[他她它]|(?<=[，,。])[他她它]|该公司|本公司|^公司")
_PLACE_LEAD = re.compile(r"\b(?:in|at|near|on|from|to|into|through|outside|across)\s+(?:the\s+)?(?:\w+\s+of\s+)?$|"
                         r"(?:在|于|位于|来自|到|流经|流入)$", re.IGNORECASE)
_LEAVING = re.compile(r"(?:从|由|\bfrom)\s*$", re.IGNORECASE)
_LEAVING_ASKED = re.compile(r"\b(?:from|before|formerly|come|born)\b|[从原前]", re.IGNORECASE)
_AGENT_LEAD = re.compile(r"\bby\s+(?:[a-z-]+\s+){0,4}$|(?:由|被|是)$")
_PLACE_TAIL = re.compile(r"(?:省|市|县|区|州|国|江|河|湖|山|岛|洋|海|村|镇)$")
_ORGANISATION_TAIL = re.compile(r"(?:公司|集团|大学|学院|研究[所院]|实验室|银行|医院|"
                                r"中心|基金会|协会|学会|出版社|社|部|馆|台)$")
_PIECE = re.compile(r"(?=([\u3400-\u9fff]{2}))|(?<![^\W\u3400-\u9fff])([^\W_\u3400-\u9fff]+(?:-[^\W_\u3400-\u9fff]+)*)")
_CHINESE_PERSON = re.compile(rf"[{''.join(sorted(CHINESE_SURNAMES))}][\u4e00-\u9fff]{{1,3}}|"
                             r"[\u4e00-\u9fff]+(?:[·・•][\u4e00-\u9fff]+)+")
_PARENTHESES = re.compile(r"(?:(?<!\s)\s++)?+[(（][^)）\n]{0,200}+[)）]")
_DESCRIBING = re.compile(r"\b(?:the|an?|its|his|her)\s+$", re.IGNORECASE)
_TIME = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|June|July|August|September|"
    r"October|November|December|[Ss]pring|[Ss]ummer|[Aa]utumn|[Ww]inter|Christmas|Easter|noon|midnight|"
    r"\d{1,2}[.:]\d\d(?: ?[ap]\.?m\b)?|\d{1,2} ?[ap]\.?m\b|(?:\d{1,2}|[a-z]{3,6}) o['’]clock)|"
    r"[上下中]午[一二三四五六七八九十\d]{1,3}点半?|(?:周|星期)[一二三四五六日天末]")
"""Times that are no dates: what may answer 'when' as well."""
_NEAR = 40.0
_BEFORE = 20
_LEAD = 40
_LABELS = {"PERSON": Expected.PERSON, "GPE": Expected.PLACE, "LOC": Expected.PLACE, "FAC": Expected.PLACE,
           "ORG": Expected.ORGANISATION}
_LABELLED, _MISLABELLED, _ROLE, _STEP = 1.0, 1.0, 1.0, 0.35
_FARTHEST = 8
_LONGEST_LIST = 200
# More than the words around a span can tell, which is at most about two.
_KNOWN = 3.0


@dataclass(frozen=True)
class Candidate:
    """A span that may be the answer: its words, how well it fits (higher is better), its normal form if known.

    `looks` is how far it is of the expected kind (0 or more: it may be), wherever it stands in the sentence.
    """

    words: str
    fit: float
    normal: str = ""
    looks: float = 0.0


def candidates(question: Question, sentence: str, title: str, known: Sequence[str] = (),
               facts: Sequence[TypedFact] = (), parse: "Doc | None" = None) -> list[Candidate]:
    """The spans of a sentence that are of the expected kind and not in the question.

    Args:
        question: the question taken apart.
        sentence: one sentence.
        title: the title above it, the antecedent of a pronoun that opens the sentence.
        known: names known from elsewhere, such as the titles of other passages.
        facts: what the graph has from this sentence: of two values the one that it has of the asked
            entity and attribute is the likelier.
        parse: of the sentence, where it is English: what a name is and does in it then counts.

    Returns:
        The candidates, best first; none for questions whose answer has no known form. Of several that are joined
        ('Marie and Pierre Curie') the first stands for all.
    """
    if question.expected in {Expected.TEXT, Expected.REASON, Expected.POLAR}:
        return []
    anchors = _anchors(question, sentence)
    best: dict[str, Candidate] = {}
    for start, end, name in _spans(question, sentence, title, known):
        key, words = canonical_name(name), name
        if not key or _stands_in(question, words):
            continue
        span = parse.char_span(start, end, alignment_mode="expand") if parse is not None else None
        if not _may_answer(question, words, span, known):
            continue
        looks = fit = _fit(question, sentence, start, end, words)
        if span is None or not len(span):
            fit -= _distance(question, anchors, start, end) / _NEAR
        else:
            label = _label_fit(question, span)
            looks, fit = looks + label, fit + label + _parsed_fit(question, span)
            words = _joined(question, span, words)
        fact = next((fact for fact in facts if _is_value(words, fact)), None)
        fit += _KNOWN if fact and _asks_for(question, fact) else 0.0
        if key not in best or fit > best[key].fit:
            best[key] = Candidate(words, fit, fact.normal if fact else "", looks)
    return sorted(best.values(), key=lambda candidate: -candidate.fit)


def _may_answer(question: Question, words: str, span: "Span | None", known: Sequence[str]) -> bool:
    """Whether a number measures what is asked for, and a name is one by its parse; 'Report' opening a line is none."""
    if question.expected is Expected.NUMBER:
        return not of_another_measure(question, words)
    if question.expected is Expected.DATE:
        return not is_coarser_date(question, words)
    if span is None or words in known:
        return True
    if _TIME.fullmatch(words):
        return False
    return any(token.ent_type_ or token.pos_ in {"PROPN", "PRON"} for token in span)


def _label_fit(question: Question, span: "Span") -> float:
    """How well a span's label as a named entity fits."""
    kind = _LABELS.get(span.root.ent_type_)
    if kind is None or question.expected not in set(_LABELS.values()):
        return 0.0
    if kind is question.expected:
        return _LABELLED
    if Expected.PERSON not in {kind, question.expected}:
        return 0.0
    return -_MISLABELLED if Expected.PLACE in {kind, question.expected} else -_MISLABELLED / 2


def _parsed_fit(question: Question, span: "Span") -> float:
    """How well a span fits by its part in the clause and how near it hangs to the question's words."""
    token = span.root
    fit = 0.0
    wanted = {*question.words, *content_words(question.focus)}
    anchors = [other for other in span.doc if other.pos_ in {"NOUN", "VERB", "PROPN", "ADJ", "AUX"}
               and not span.start <= other.i < span.end and wanted.intersection(content_words(other.text))]
    fit -= _STEP * min((_steps_between(token, other) for other in anchors), default=_FARTHEST)
    counted = span.doc[span.end].lemma_.lower() if span.end < len(span.doc) else ""
    if question.expected is Expected.NUMBER and wanted.intersection(content_words(f"{counted} {token.head.text}")):
        fit += _ROLE
    if (asked := _asked_preposition(question)) and asked == _preposition(token):
        fit += _ROLE
    role = _asked_role(question)
    joined_by = token.head if token.dep_ in {"attr", "nsubj"} and token.head.lemma_ == "be" else None
    if joined_by is not None and any(other.head == joined_by for other in anchors):
        fit += _ROLE
    verbs = [other for other in anchors if other.pos_ == "VERB"]
    parts = {_part(token, verb) for verb in verbs} - {""}
    return fit + (_ROLE * ((role in parts) - (not parts.isdisjoint({"subject", "object"} - {role}))) if role else 0.0)


def _steps_between(left: "Token", right: "Token") -> int:
    """The edges of the parse between two tokens of a sentence."""
    above = {token.i: steps for steps, token in enumerate([left, *left.ancestors])}
    for steps, token in enumerate([right, *right.ancestors]):
        if token.i in above:
            return min(steps + above[token.i], _FARTHEST)
    return _FARTHEST


def _asked_role(question: Question) -> str:
    """Whether a question asks for who does something or for whom it is done to; empty where for neither."""
    asking = next((token for token in question.parse if asks(token)), None) if question.parse is not None else None
    if asking is None:
        return ""
    head = asking.head if asking.dep_ == "det" else asking
    return _part(head, head.head) if head.head.pos_ == "VERB" else ""


def _asked_preposition(question: Question) -> str:
    """The preposition of a question's asking word ('On which river ...'); empty where it has none."""
    asking = next((token for token in question.parse if asks(token)), None) if question.parse is not None else None
    return _preposition(asking.head if asking.dep_ == "det" else asking) if asking is not None else ""


def _preposition(token: "Token") -> str:
    while token.dep_ in {"conj", "appos", "compound"}:
        token = token.head
    return token.head.lower_ if token.dep_ in {"pobj", "pcomp"} else ""


def _part(token: "Token", verb: "Token") -> str:
    """The part that a noun has in what a verb says, active or passive: 'subject', 'object', or none."""
    while token.dep_ in {"conj", "appos", "compound"}:
        token = token.head
    if token.head == verb and token.dep_ in {"nsubj", "nsubjpass", "dobj"}:
        return "subject" if token.dep_ == "nsubj" else "object"
    agent = token.dep_ == "pobj" and token.head.head == verb and token.head.lower_ == "by"
    return "subject" if agent and verb.tag_ == "VBN" else ""


def only_as_owner(question: Question, parse: "Doc") -> bool:
    """Whether a sentence names the role that a question asks for only as an owner: 'Ann is the warden's deputy'."""
    if question.expected is not Expected.PERSON:
        return False
    role = next((token for token in question.parse or () if token.dep_ == "nsubj" and token.head.lemma_ == "be"), None)
    if role is None:
        return False
    named = [token for token in parse if content_words(token.text) == content_words(role.text) != ()]
    return bool(named) and all(token.dep_ == "poss" for token in named)


def _joined(question: Question, span: "Span", words: str) -> str:
    """A name with all that it is joined to by commas and 'and', as the sentence has them."""
    if question.expected in {Expected.DATE, Expected.NUMBER}:
        return words
    first = span.root
    while first.dep_ == "conj" and first.head.pos_ in {"NOUN", "PROPN"}:
        first = first.head
    chain = [first]
    while following := next((child for child in chain[-1].rights if child.dep_ == "conj" and (
            not first.ent_type_ or _named_by(child) is not None)), None):
        chain.append(following)
    if len(chain) == 1:
        return words
    final = _named_by(chain[-1]) or chain[-1]
    last = final.idx + len(final)
    start = next((token.idx for token in first.subtree if token.dep_ != "det"), first.idx)
    listed = span.doc.text[start:last]
    return listed if len(listed) <= _LONGEST_LIST and words in listed else words


def _named_by(token: "Token") -> "Token | None":
    """The token of a name in a phrase: itself, or what is put to it ('his sister Louise')."""
    others = (other for other in token.rights if other.dep_ != "conj")
    return next((other for other in (token, *others) if other.ent_type_), None)


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
    dates = list(find_days(sentence))
    if question.expected is Expected.DATE:
        times = [match.span() for match in _TIME.finditer(sentence)]
        times = [(start, end) for start, end in times if all(end <= a or start >= b for a, b in dates)]
        return [(start, end, sentence[start:end]) for start, end in sorted([*dates, *times])]
    if question.expected is Expected.NUMBER:
        return [(start, end, sentence[start:end].strip()) for start, end in find_numbers(sentence, counts=True)
                if all(end <= a or start >= b for a, b in dates)]
    spans = [(start, end, sentence[start:end]) for start, end in find_names(sentence, known)]
    pronoun = _PRONOUN.search(sentence)
    heading = _PARENTHESES.sub("", title).strip()
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
        looks = 1.0 * led_by_place + 0.5 * is_place - 0.8 * is_organisation - 1.0 * bool(
            _LEAVING.search(lead) and not _LEAVING_ASKED.search(question.text))
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
