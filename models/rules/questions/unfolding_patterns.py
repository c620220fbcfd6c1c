"""Nested English questions unfolded by patterns of words, innermost noun phrase first.

The parser misreads many inverted questions ('In which city was the woman who discovered polonium born?'). Their word
order is regular, so these patterns are tried first and the parse takes what they leave whole.

'On which river does the birthplace of the discoverer of polonium lie?' asks three things. Each
step replaces the innermost described noun phrase by a reference to its answer and asks for it on its own. Phrases are
relative clauses, participles with 'by', and chains of relational nouns with 'of' or 's. A wrong
split is worse than none: what does not match clearly stays as it is.
"""

import re
from dataclasses import dataclass

from ....schemas.references import reference
from ..lexicon import PERSON_NOUNS, words
from .names import find_names

RELATIONAL_NOUNS = frozenset(
    (PERSON_NOUNS - words("person man woman people general scientist physicist chemist doctor"))
    | words("birthplace capital hometown headquarters publisher employer label studio manufacturer")
)
"""Nouns that name a thing by its relation to another: 'the R of X' is then a question of its own."""

PARTICIPLES = words(
    "written born built made led won held known sung taught drawn shot begun given hidden bought sold "
    "spoken found run set worn thrown"
)
"""Irregular past participles and past forms that may begin or stand in a relative clause."""

PAST_FORMS = words(
    "wrote sang led won built made held taught drew began bought sold ran gave became got "
                       "found went left lost met spoke took shot came grew"
)

FINAL_VERBS = words(
    "lie live die come belong flow border work study attend win play start begin end open close compete "
    "serve speak have receive join marry born located founded established published released built formed "
    "buried educated situated headquartered die graduate retire lose use rise move grow teach write direct "
    "discover invent design compose sing perform run stand own created written made died opened"
)
"""Verbs that may end a question whose subject comes before them ('does ... lie', 'was ... born')."""

_FINAL = "|".join(sorted(FINAL_VERBS))
_STEP = "\ufdd0"
"""Before the number of a step while patterns are tried: one sign that is no word, and no character of any text."""
_NUMBERED = re.compile(rf"{_STEP}(\d+)")
_NUMBERED_LAST = re.compile(rf"{_STEP}\d+$")
_AUX = r"(?:is|are|was|were|has|have|had)"
_RELATIVE = re.compile(
    r"\bthe (?P<noun>(?:(?!of\b)[\w-]+ ){0,2}?(?!of\b)[\w-]+),? "
    rf"(?:(?P<main>{_FINAL}) )?"
    r"(?P<relative>(?:in|on|at|to|from|with|by|for|into|after|under|through) (?:which|whom)|"
    r"who|which|that|where|whose) "
    r"(?P<clause>[^?]+)"
)
_PARTICIPLE = re.compile(
    rf"\bthe (?P<noun>(?:[\w-]+ )?[\w-]+) (?P<clause>(?:[a-z]+ed|{'|'.join(sorted(PARTICIPLES))}) by [^?]+)")
_CHAIN = re.compile(rf"\bthe (?P<noun>(?:[\w-]+ ){{0,2}}?(?:{'|'.join(sorted(RELATIONAL_NOUNS))})) of ")
_POSSESSED = re.compile(rf"['’]s? (?P<noun>(?:[a-z]+ )?(?:{'|'.join(sorted(RELATIONAL_NOUNS))}))\b(?! of\b)")
_ANCHOR_WORD = re.compile(rf"(?:the )?(?:{_STEP}\d+|[a-z][a-z-]*)"
                          rf"(?=\s*[?,]|\s*$|\s+(?:{_AUX}|{_FINAL}|[a-z]+ed|did|does)\b)")
_DESCRIPTION = re.compile(r"(?:the )?(?:(?!of |and |or |in |on |at |from |to |by )[a-z][a-z-]* ){1,2}")
_PLAIN = re.compile(rf"\s*(?:\w+ )?(?:who|what|which|where)\s+(?:is|are|was|were)\s+"
                    rf"(?:the name of )?{_STEP}\d++\s*+\??\s*+|"
                    rf"\s*{_STEP}\d++\s*+\??\s*+", re.IGNORECASE)
_INVERTED = re.compile(r"\b(?:(?P<support>do|does|did)|is|are|was|were|has|have)\s++"
                       r"(?:the\s++(?:[\w-]++\s++){1,8}?of\s++)?$", re.IGNORECASE)
_COPULAR = re.compile(r"\s*(?:who|what)\s+(?:is|are|was|were)\b", re.IGNORECASE)
_LAST_VERB = re.compile(rf"(?<!\s)\s++(?P<main>(?:{_FINAL})(?: (?:from|to|in|into|at|on))?)\s*+$")
_VERB = re.compile(rf"\b(?:{_AUX}|[a-z]+ed|{'|'.join(sorted(PAST_FORMS | PARTICIPLES | {'born'}))}|(?:{_FINAL})s)\b|"
                   r"^[a-z]+s\b")
_INSIDE_RELATIVE = re.compile(r"\b(?:which|whom|where|that|who)\s$")
_LAST_PREDICATE = re.compile(rf"(?<!\s)\s++(?P<main>(?:{_AUX} )?"
                             rf"(?:(?:{_FINAL})s?|[a-z]+ed|{'|'.join(sorted(PAST_FORMS))})"
                             r"(?: (?:from|to|in|into|at|on))?)\s*+$")
# After a comma the question may go on with what it asks.
_BREAK = re.compile(r",\s+(?:what|which|who|when|where|how|in|on|at)\b", re.IGNORECASE)
_GENERIC_PEOPLE = frozenset({"person", "man", "woman", "people"})


@dataclass(frozen=True)
class _Phrase:
    """A noun phrase that is a question of its own; `tail` is what follows it in the outer question."""

    start: int
    end: int
    asked: str
    tail: str = ""


def unfold_by_patterns(question: str, limit: int) -> list[str]:
    """The questions a nested question is made of, in the order they can be answered.

    Args:
        question: one English question.
        limit: the most questions wanted.

    Returns:
        The questions, referring to answers of earlier ones; the question alone where it is not
        nested, or where it would need more than `limit`.
    """
    steps: list[str] = []
    rest = question.strip().replace(_STEP, " ")
    while phrase := _innermost(rest):
        outer = f"{rest[:phrase.start]}{_STEP}{len(steps) + 1}{phrase.tail}{rest[phrase.end:]}"
        if _PLAIN.fullmatch(outer):
            break
        steps.append(phrase.asked)
        rest = outer
    return [_spelt_out(step) for step in (*steps, rest)] if len(steps) < limit else [question]


def _spelt_out(step: str) -> str:
    return _NUMBERED.sub(lambda match: reference(int(match[1])), step)


def _innermost(text: str) -> _Phrase | None:
    """The described noun phrase that begins last: none lies inside it."""
    phrases = [phrase for phrase in (_relative(text), _by_participle(text), _of_chain(text), _possessive(text))
             if phrase is not None]
    return max(phrases, key=lambda phrase: phrase.start, default=None)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The match that begins last, overlapping ones included."""
    match = None
    position = 0
    while later := pattern.search(text, position):
        match, position = later, later.start() + 1
    return match


def _relative(text: str) -> _Phrase | None:
    match = _last(_RELATIVE, text)
    if match is None:
        return None
    if match["main"]:
        clause, tail = match["clause"].strip(), f" {match['main']}"
    else:
        clause, tail = _split_clause(text[: match.start()], match["clause"])
    if not clause or re.search(rf"\b{_AUX}$", clause) or not (_VERB.search(clause) or _whole(match, clause)):
        return None
    return _Phrase(match.start(), match.end(), _ask_relative(match["noun"], match["relative"], clause), tail)


def _whole(match: re.Match[str], clause: str) -> bool:
    """Whether a clause goes on to the end of its sentence: then its verb is in it, whatever word that is."""
    return clause == match["clause"].strip() and " " in clause and not _BREAK.search(clause)


def _split_clause(before: str, clause: str) -> tuple[str, str]:
    """The relative clause, and the main verb that may follow it at the end of the question.

    A clause that cannot be told from the main verb comes back empty.
    """
    clause = clause.strip()
    if _INSIDE_RELATIVE.search(before):
        return _cut(clause, _LAST_PREDICATE) or ("", "")
    inverted = _INVERTED.search(before)
    if inverted is None or (_COPULAR.match(before) and not inverted["support"]):
        return clause, ""
    return _cut(clause, _LAST_VERB) or (("", "") if inverted["support"] else (clause, ""))


def _cut(clause: str, predicate: re.Pattern[str]) -> tuple[str, str] | None:
    """The clause without its last predicate, and that predicate; None where no whole clause is left."""
    last = predicate.search(clause)
    inner = clause[: last.start()].rstrip(" ,") if last else ""
    if last is None or not _VERB.search(inner) or re.search(rf"\b{_AUX}$", inner):
        return None
    return inner, f" {last['main']}"


def _ask_relative(noun: str, relative: str, clause: str) -> str:
    """The relative clause as a question for its noun: 'where X was born' -> 'In which city was X born?'."""
    if relative == "whose":
        return f"Whose {clause}?"
    if relative in {"who", "which", "that"}:
        opening = "Who" if noun in _GENERIC_PEOPLE and _VERB.match(clause) else f"Which {noun}"
        return f"{opening} {clause}?"
    preposition = "in" if relative == "where" else relative.partition(" ")[0]
    auxiliary = re.search(rf"\s({_AUX})\s", clause)
    if auxiliary:
        clause = f"{auxiliary.group(1)} {clause[: auxiliary.start()]} {clause[auxiliary.end():]}"
    return f"{preposition.capitalize()} which {noun} {clause}?"


def _by_participle(text: str) -> _Phrase | None:
    match = _last(_PARTICIPLE, text)
    if match is None:
        return None
    named = _STEP in match["clause"] or any(start > match.start("clause") for start, _ in find_names(text))
    if not named:
        return None
    clause, tail = _split_clause(text[: match.start()], match["clause"])
    if not clause:
        return None
    return _Phrase(match.start(), match.end(), f"Which {match['noun']} was {clause}?", tail)


def _of_chain(text: str) -> _Phrase | None:
    match = _last(_CHAIN, text)
    end = _anchor_end(text, match.end()) if match else 0
    if match is None or not end:
        return None
    return _Phrase(match.start(), end, f"{_wh(match['noun'])} is {text[match.start():end]}?")


def _anchor_end(text: str, start: int) -> int:
    """Where the name, answer or single noun that starts here ends; 0 where none starts here."""
    after_article = start + (4 if text.startswith("the ", start) else 0)
    for a, b in find_names(text):
        if a in {start, after_article} or (a == start + 1 and text[start] in "\"“'"):
            return b + (a == start + 1)
        # "the birthplace of race walker Ron Laird", "of the band Orodruin"
        if a > start and _DESCRIPTION.fullmatch(text, start, a):
            return b
    match = _ANCHOR_WORD.match(text, start)
    return match.end() if match else 0


def _possessive(text: str) -> _Phrase | None:
    match = _last(_POSSESSED, text)
    if match is None:
        return None
    owners = [a for a, b in find_names(text) if b == match.start()]
    number = _NUMBERED_LAST.search(text[: match.start()])
    start = owners[0] if owners else number.start() if number else -1
    if start < 0:
        return None
    return _Phrase(start, match.end(), f"{_wh(match['noun'])} is {text[start:match.end()]}?")


def _wh(noun: str) -> str:
    return "Who" if noun.rpartition(" ")[2] in PERSON_NOUNS else "What"
