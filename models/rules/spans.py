"""Typed spans of texts: names with clean boundaries, dates and quantities.

English and other scripts are read by spaCy's named-entity recogniser, Chinese by LAC, dates and quantities by
`text/values.py`. Lines that are no sentences (headings, table rows, greetings, navigation) hold no names, except for
their values.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...text.scripts import CJK
from ...text.sentences import split_sentences
from ...text.values import find_values
from ..parsing.parser import Parser
from .chinese_spans import find_chinese_names
from .lexicon import words
from .name_kinds import told_kind
from .name_runs import Runs
from .name_words import CALENDAR, GENERIC_ACRONYMS, PREPOSITIONS, PRONOUNS, ROLES

if TYPE_CHECKING:
    from spacy.tokens import Doc

VALUES = frozenset({"date", "number"})
"""The kinds that are values and no names."""

_KINDS = {"PERSON": "person", "ORG": "organization", "GPE": "location", "LOC": "location", "FAC": "location",
          "EVENT": "event", "WORK_OF_ART": "work", "LAW": "work", "PRODUCT": "product",
          "PER": "person", "MISC": "name"}
"""spaCy's labels, those of its pipelines for other languages included; peoples, languages and values are no names."""

_HAN = re.compile(f"[{CJK}]")
_HAN_SHARE = 0.15
_ROW = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
_LINE = re.compile(r"^[^\n]+$", re.MULTILINE)
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]|[ \t]*[=~_*-]{3,}[ \t]*$|</?\w+[^>]*>$")
_GREETING = re.compile(
    r"[ \t]*(?:(?:dear|hi|hello|hey)\b[^.\n]{0,60}[,!:]?$|(?:good (?:morning|afternoon|evening))\b[^.\n]{0,60}$"
    r"|(?:(?:with )?(?:best|kind|warm|kindest|warmest)(?: regards| wishes)?|regards|sincerely|yours (?:\w+)|"
    r"cheers|thanks|thank you|many thanks|all the best|respectfully|cordially|see you)\b[^.\n]{0,40}[,!]?$)",
    re.IGNORECASE)
_NAVIGATION = re.compile(r"(?:[^|»›•·\n]{1,40}[ \t]+[|»›•·][ \t]+){2,}[^|»›•·\n]{0,40}$"
                         r"|[^>\n]{1,30}(?: > [^>\n]{1,30}){2,}$")
_MENU = words(
    "home login logout contact contacts about products services imprint privacy search menu sitemap "
    "careers blog news help support faq skip back next previous")
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\w+|\S*[\\/]\S*\.\w{1,5}\b")
_QUOTED = re.compile(r"[\"“«]([A-Z0-9][^\"“”«»\n]{1,78})[\"”»]")
_SMALL = words(
    "a an the of in on at by for from with to into and or but nor as de la le du des der von und y "
    "el vs is")
_MARKUP = re.compile(r"[|<>{}\[\]=\\@*_#~`^]|https?:|&\w+;")
_EMPHASIS = re.compile(r"\*{1,3}|`{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)")
_EDGES = " \t\n\r\xa0,;:.!?-–—\"“”„«»'‘’`*_#()[]•·/&+"
_ARTICLE = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_OWNER = re.compile(r"['’]s?$")
_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*\.?")
_LONGEST_NAME = 9
"""Words; only titles of works are longer."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a text and what they are.

    `kind` is "person", "organization", "location", "event", "work", "product", "date", "number", or "name" for a name
    of unknown type.
    """

    start: int
    end: int
    kind: str


def find_spans(texts: Sequence[str], parser: Parser) -> list[list[Span]]:
    """Find the names, dates and quantities of texts.

    Args:
        texts: any texts; each is read by itself, so its spans do not depend on the others.
        parser: loads the pipelines of the texts' languages.

    Returns:
        For each text its spans, ascending and without overlaps. A name may run over a line break only where a
        sentence is wrapped there; see `name_of`.
    """
    return [_find(text, parser) for text in texts]


def name_of(text: str, span: Span) -> str:
    """Return the words of a span with white space collapsed, as names are stored."""
    words = text[span.start : span.end]
    return " ".join(words.split()) if not _HAN.search(words) else "".join(words.split("\n"))


def _find(text: str, parser: Parser) -> list[Span]:
    sentences = split_sentences(text)
    han = [(start, end) for start, end in sentences
           if len(_HAN.findall(text, start, end)) > _HAN_SHARE * (end - start)]
    masked = _masked(text)
    found: list[Span] = []
    if len(han) < len(sentences):
        found += _spelled_names(text, parser, [*han, *masked])
    names = _without_overlaps(found, [Span(*place) for place in find_chinese_names(text, han, masked)])
    values = [Span(value.start, value.end, value.kind) for value in find_values(text)]
    return _without_overlaps(names, values)


def _without_overlaps(*layers: Sequence[Span]) -> list[Span]:
    """The spans of all layers, ascending; of two that overlap the one of the earlier layer."""
    kept: list[Span] = []
    taken = bytearray(max((span.end for layer in layers for span in layer), default=0))
    for span in (span for layer in layers for span in layer):
        if not any(taken[span.start : span.end]):
            taken[span.start : span.end] = b"\1" * (span.end - span.start)
            kept.append(span)
    return sorted(kept, key=lambda span: span.start)


def _masked(text: str) -> list[tuple[int, int]]:
    """The parts of a text in which no names are looked for."""
    lines = [match for match in _LINE.finditer(text) if _is_no_sentence(match[0], alone=_stands_alone(text, match))]
    return [match.span() for match in (*lines, *_ADDRESS.finditer(text))]


def _is_no_sentence(line: str, *, alone: bool) -> bool:
    """Return True for a heading, a table row, a greeting, a closing or a navigation bar."""
    if _ROW.match(line) or _HEADING.match(line) or _GREETING.match(line) or _NAVIGATION.match(line):
        return True
    words = _WORD.findall(line)
    letters = [word for word in words if word[0].isalpha()]
    if len(letters) > 1 and line.isupper():
        return True
    menu = sum(word.lower() in _MENU for word in letters)
    if len(words) <= 12 and menu > 1 and not line.rstrip().endswith((".", "!", "?")):  # noqa: PLR2004 - a bar of links
        return True
    # A short line between blank ones without a full stop is a heading, unless it is a list item or a key with a value.
    return (alone and 1 < len(words) <= 10 and not line.rstrip().endswith((".", "!", "?", "\"", "”"))  # noqa: PLR2004
            and ":" not in line and not line.lstrip().startswith(("-", "*", "•")))


def _stands_alone(text: str, line: re.Match[str]) -> bool:
    """Return True for a line with a blank line after it, and a blank one or none before, in a text of several lines."""
    before, after = text[: line.start()], text[line.end() :]
    return after.startswith("\n\n") and (not before or before.endswith("\n\n"))


def _spelled_names(text: str, parser: Parser, hidden: Sequence[tuple[int, int]]) -> list[Span]:
    """The names of the sentences in scripts with spaces."""
    text = _EMPHASIS.sub(lambda marks: " " * len(marks[0]), text)
    doc = parser.entities(text)
    shut = bytearray(len(text))
    for start, end in hidden:
        shut[start:end] = b"\1" * (end - start)
    runs = Runs(text, [(ent.start_char, ent.end_char) for ent in doc.ents if ent.label_ not in _KINDS])
    recognised = []
    for ent in doc.ents:
        kind = _KINDS.get(ent.label_)
        place = _clean(text, ent.start_char, ent.end_char, kind) if kind else None
        if kind and place and not any(shut[place[0] : place[1]]):
            recognised.append(Span(*(_clean(text, *runs.extend(*place), kind) or place), kind))
    titles = [Span(*place, "work") for place in _titles(text) if not any(shut[place[0] : place[1]])]
    titles = [title for title in titles if not any(
        span.start < title.start and span.end > title.end for span in recognised)]  # Edward "Ed" Smith
    recognised += [Span(*place, "name") for run in runs.several() if not any(shut[run[0] : run[1]]) and (
        place := _clean(text, *run, "name"))]
    # Of the pieces of one name the longest.
    recognised.sort(key=lambda span: (span.start - span.end, span.kind == "name"))
    quoted = set(titles)
    spans = [span if span in quoted else replace(span, kind=told_kind(text, span) or span.kind)
             for span in _without_overlaps(titles, recognised)]
    return _agree(text, [span for span in spans if span in quoted or not _is_junk(text, doc, span)])


def _titles(text: str) -> Iterator[tuple[int, int]]:
    """Quoted titles: each longer word has a capital, and no sentence ends in them."""
    for match in _QUOTED.finditer(text):
        words = _WORD.findall(match[1])
        said = match[1].rstrip(",")
        titled = all(word[0].isupper() or word[0].isdigit() or word.lower() in _SMALL for word in words)
        if titled and words and len(words) <= _LONGEST_NAME and not said.endswith((".", "!", "?")):
            yield match.start(1), match.start(1) + len(said)


def _clean(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """The name without articles, possessives and marks at its ends; None where nothing of a name is left."""
    said = text[start:end]
    for opening, closing in ("()", "[]", "“”"):
        if said.count(opening) != said.count(closing):
            cut = min((at for mark in (opening, closing) if (at := said.find(mark)) >= 0), default=len(said))
            said = said[:cut]
    if _MARKUP.search(said.strip(_EDGES)) or "\n\n" in said:
        return None
    trimmed = said
    while True:
        begun = len(trimmed) - len(trimmed.lstrip(_EDGES))
        start, trimmed = start + begun, trimmed.strip(_EDGES)
        article = _ARTICLE.match(trimmed) if kind != "work" or trimmed.startswith(("the ", "a ")) else None
        cut = article.end() if article else 0
        first = _WORD.match(trimmed)
        if first and first.end() < len(trimmed) and not cut and (
                (kind == "person" and first[0].rstrip(".").lower() in ROLES) or first[0] in PREPOSITIONS
                or first[0] in _SMALL):
            cut = first.end()
        shorter = _OWNER.sub("", trimmed[cut:])
        last = shorter.rpartition(" ")[2]
        if last in _SMALL and last != shorter:
            shorter = shorter[: -len(last)]
        if not cut and shorter == trimmed:
            break
        start, trimmed = start + cut, shorter
    if said.rstrip().endswith(f"{trimmed}.") and re.search(r"\b(?:[A-Z]|Inc|Ltd|Co|Corp|Jr|Sr|St)$", trimmed):
        trimmed += "."
    return (start, start + len(trimmed)) if trimmed else None


def _is_junk(text: str, doc: "Doc", span: Span) -> bool:
    """Return True for words that are no name: common words, calendar words, pronouns, sentence-case words."""
    said = text[span.start : span.end]
    words = _WORD.findall(said)
    lowered = [word.lower().rstrip(".") for word in words]
    cased = said.upper() != said.lower()
    if not words or len(said) < 2 or not any(c.isalpha() for c in said):  # noqa: PLR2004 - a letter names nothing
        return True
    if cased and not (any(c.isupper() for c in words[0]) or words[0][0].isdigit()):
        return True
    if span.kind == "person" and any(c.isdigit() for c in said):
        return True
    if len(words) > _LONGEST_NAME and span.kind not in {"work", "event"}:
        return True
    known = CALENDAR | GENERIC_ACRONYMS | ROLES | PRONOUNS.keys()
    if all(word in known or doc.vocab[word].is_stop for word in lowered) and said not in {"US", "IT"}:
        return True
    if len(words) == 1 and not said.isupper() and span.kind in {"organization", "work", "product", "person", "event"}:
        before = text[: span.start].rstrip().rpartition(" ")[2].lower()
        alone = len(re.findall(rf"\b{re.escape(said)}\b", text)) == 1
        if before in {"the", "a", "an", "this"} or (alone and span.kind == "person" and before not in ROLES):
            return True
    opens = span.start == 0 or text[:span.start].rstrip(" \t\"“'(*-•").endswith(("\n", ".", "!", "?", ":")) or not (
        text[:span.start].strip())
    return opens and len(words) == 1 and re.search(rf"(?<![\w.]){re.escape(said.lower())}s?\b", text) is not None


def _agree(text: str, spans: Sequence[Span]) -> list[Span]:
    """Give the places of one name the kind that most of them have; a surname the kind of the person's full name."""
    counts: dict[str, Counter[str]] = {}
    for span in spans:
        counts.setdefault(name_of(text, span), Counter())[span.kind] += 1
    surnames = {name.rpartition(" ")[2] for name, kinds in counts.items() if kinds["person"] and " " in name}
    agreed = {name: "person" if name in surnames else kinds.most_common(1)[0][0] for name, kinds in counts.items()}
    return [replace(span, kind=agreed[name_of(text, span)]) for span in spans]
