"""Names in scripts with spaces: a recogniser's entities with clean boundaries, without those that are not names."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ....text.lexicon import ENGLISH_STOP, words
from .name_kinds import infer_kind, infer_type, kind_of_noun
from .name_likeness import is_known, may_be
from .name_runs import NameRuns
from .name_words import CALENDAR, GENERIC_ACRONYMS, HONOURS, POSTS, PREPOSITIONS, PRONOUNS, ROLES, THINGS
from .typed_span import Span, name_of, without_overlaps

if TYPE_CHECKING:
    from spacy.tokens import Doc

_KINDS = {"PERSON": "person", "ORG": "organization", "GPE": "location", "LOC": "location", "FAC": "location",
          "EVENT": "event", "WORK_OF_ART": "work", "LAW": "work", "PRODUCT": "product",
          "PER": "person", "MISC": "name"}
"""Kinds by spaCy's labels, including its pipelines for other languages; peoples, languages and values are omitted."""

_HONORIFICS = words("dr mr mrs ms miss prof professor sir dame lord lady baroness councillor captain capt")
"""Words that mark the following name as a person's, regardless of the recogniser's label."""
_NO_NAMES = CALENDAR | GENERIC_ACRONYMS | ROLES | PRONOUNS.keys()
_DETERMINERS = words("this that these those here there it what who our my your his her its their one each every")
_OTHERS = words("own your our other another such certain any each some 3rd")
"""Words that begin what a text says of somebody's things, not their names."""
_PARTICLES = words("ap bin ibn al el van ten ter da do dos di del della zu af av")
"""Lower-case parts of persons' names, in addition to those in `_SMALL`."""
_SMALL = words("a an the of in on at by for from with to into and or but nor as de la le du des der von und y el vs is")
_SINGLE = frozenset({"organization", "work", "product", "person", "event"})
"""The kinds for which a recogniser mistakes single words."""
_TOLD_WORK = re.compile(
    r"\b(?:songs?|singles?|albums?|films?|movies?|novels?|novellas?|books?|poems?|plays?|operas?|musicals?|episodes?|series|"
    r"shows?|tracks?|paintings?|sculptures?|articles?|essays?|papers?|reports?|guides?|handbooks?|magazines?|stor(?:y|ies)|"
    r"newspapers?|soundtracks?|lyrics?|games?|titled|entitled|wrote|written|writes|authors?|published|recorded|premiered|"
    r"released?|aired|broadcast|directed|starring|sang|sung|performed|composed|screenplays?|sequels?|charts?|remix|cover|"
    r"featur(?:es|ing)|read)\b", re.IGNORECASE)
"""What is said around the title of a work, and not around a term in quotation marks."""
_QUOTED = re.compile(r"[\"“«]([A-Z0-9][^\"“”«»\n]{1,78})[\"”»]")
_QUOTES = frozenset("\"“”")
_CODE = re.compile(r"[A-Z]{1,8}-\d{1,6}|[A-Za-z]{1,20}\d{1,6}|[a-z]{2,20}[A-Z]\w*")
"""A code or an identifier: EIP-20, R27, gasPrice."""
_ACRONYM = re.compile(r"[A-Z]{2,8}s?")
_IN_BRACKETS = re.compile(r" \((?:the )?[\"“]?")
_ONE_OF = re.compile(r"\b(?:an?|each|any|every|such|your|our|no)\s{1,3}\Z", re.IGNORECASE)
_THE = re.compile(r"\bthe\s{1,3}\Z", re.IGNORECASE)
_FOLLOWS = re.compile(r"\s{0,3}(?P<word>[\w’'-]*)")
_COUNTRIES = words("US USA UK UAE UN EU USSR GDR DRC PRC")
_DEFINING = re.compile(r"\([^()]{0,30}\Z")
_KIND_DEFINED = re.compile(r"\((?:each,? )?(?:an?|each) [\"“]\Z")
"""What stands before the name of a kind of thing: (each, a “Gold Member”)."""
_IS_A = re.compile(r"[\"”]?(?: \([^()]{0,120}\))?(?:,[^,.]{1,60},)? (?:is|was|are|were) (?:an?|the|one of the) ")
_MARKUP = re.compile(r"[|<>{}\[\]=\\@*_#~`^]|''|https?:|&\w+;")
_LIST = re.compile(r",\s(?!(?:Inc|Ltd|LLC|Jr|Sr|L\.P)\b)|\s[-–—]\s")
_PICTURE = "\u2600-\u27bf\U0001f000-\U0001faff"
_EMPHASIS = re.compile(rf"\*{{1,3}}|`{{1,3}}|(?<!\w)_{{1,2}}|_{{1,2}}(?!\w)|[{_PICTURE}][{_PICTURE}\ufe0f\u200d]*")
"""Marks of emphasis, and pictures among the letters."""
_SYMBOL = re.compile("[=+×−%$€£]")
_EDGES = " \t\n\r\xa0,;:.!?-–—\"“”„«»'‘’`*_#()[]•·/&+"
_ARTICLE = re.compile(r"(?:the|an?)\s{1,5}", re.IGNORECASE)
_OWNER = re.compile(r"['’]s?$")
_ABBREVIATED = re.compile(r"\b(?:(?<!/)[A-Z]|Inc|Ltd|Co|Corp|Jr|Sr|St)$")
_PART_OF_TEXT = re.compile(r"(?:Appendix|Annex|Section|Chapter|Article|Clause|Exhibit|Figure|Table|Part|Slide|Step|"
                           r"Question) (?:[IVX]{1,5}|[A-Z]|\d[\w.]*)")
_SENIOR = words("managing executive deputy vice assistant associate senior acting interim founding")
_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*\.?")
_AROUND, _AROUND_WORK = 40, 120
_LONGEST_NAME = 9
"""The most words of a name; only titles of works and names of events are longer."""


def without_emphasis(text: str) -> str:
    """Return a text with blanks for marks of emphasis and pictures, as it is recognised."""
    return _EMPHASIS.sub(lambda marks: " " * len(marks[0]), text)


def find_spelled_names(text: str, doc: "Doc", hidden: Sequence[tuple[int, int]], title: str) -> list[Span]:
    """Find the names of the sentences in scripts with spaces.

    Args:
        text: the text.
        doc: the text `without_emphasis` with its entities.
        hidden: (start, end) of the parts that are not searched for names.
        title: the subject of the text, or "".
    """
    marked, text = text, without_emphasis(text)
    shut = bytearray(len(text))
    for start, end in hidden:
        shut[start:end] = b"\1" * (end - start)
    runs = NameRuns(text, [(ent.start_char, ent.end_char) for ent in doc.ents if ent.label_ not in _KINDS], title)
    recognised = []
    for ent in doc.ents:
        kind = _KINDS.get(ent.label_)
        if kind and _has_honorific(text, ent.start_char, ent.end_char):
            kind = "person"
        place = _clean(text, ent.start_char, ent.end_char, kind) if kind else None
        if kind and place:
            start, end = _clean(text, *runs.extend(*place, of=kind != "person"), kind) or place
            recognised.append(Span(start, end, kind))
    unknown = [Span(*place, kind) for run in runs.several()
               for kind in ("person" if _has_honorific(text, *run) else "name",) if (place := _clean(text, *run, kind))]
    # The longest of the pieces of one name counts.
    pieces = [span for span in (*recognised, *unknown)
              if not _EMPHASIS.search(marked[span.start : span.end])]  # "Blum * Ltd" in a comment of several lines
    pieces.sort(key=lambda span: (span.start - span.end, span.kind == "name"))
    certain = dict.fromkeys([*_occurrences(text, title, recognised), *_quoted_titles(text, recognised)])
    spans = without_overlaps(*([s for s in layer if not any(shut[s.start : s.end])] for layer in (certain, pieces)))
    told = dict[str, str]()
    for number, span in enumerate(spans):
        as_name = replace(span, kind="name" if span.kind == "work" else span.kind)
        if not (span.kind == "work" and span in certain) and (kind := infer_kind(text, as_name)):
            spans[number] = replace(span, kind=kind)
            told.setdefault(name_of(text, span), kind)
    told |= _expanded(text, spans)
    spans = [replace(span, kind="name") if name_of(text, span) not in told and not _may_be(text, span) else span
             for span in spans]
    terms = _terms(text, spans)
    return _agree(text, [_with_article(text, span) for span in spans
                         if span in certain or (name_of(text, span) not in terms and (
                             text[span.start : span.end] in title.split() or not _is_junk(text, doc, span)))], told)


def _may_be(text: str, span: Span) -> bool:
    """Return True unless the words of a name are those of things, or an article stands before a person."""
    before = text[max(0, span.start - _AROUND) : span.start].split()
    last, name = before[-1].lower() if before else "", text[span.start : span.end]
    if span.kind == "work":
        return _is_told_work(text, span.start, span.end)
    kind = "organization" if span.kind == "product" else span.kind
    if span.kind in {"person", "location", "organization", "product"} and (
            _CODE.fullmatch(name) or (_ACRONYM.fullmatch(name) and not _is_known_acronym(name, span.kind))):
        return False
    if kind not in {"person", "location", "organization"} or last.rstrip(".") in ROLES | _HONORIFICS:
        return True
    first, _, noun = name.rpartition(" ")
    if kind in {"person", "organization"} and (noun.lower() in THINGS or noun.lower().rpartition("-")[2] in THINGS):
        return False  # "Delta Valves Projects"
    if kind != "person" and kind_of_noun(noun.lower().removesuffix("s")) == "person":
        return may_be("location", first)  # Ottawa Senators, but not Gold Members
    if kind == "person" and re.search(rf"\b{re.escape(noun.lower())}s?\b", text):
        return False  # "DAO Fork" beside "fork"
    return may_be(kind, name) and not (kind == "person" and last in {"a", "an", "the", "any", "each"})


def _is_known_acronym(name: str, kind: str) -> bool:
    """Return True for the few acronyms that are a name without a full form; a recogniser calls CPU an organization."""
    return name in _COUNTRIES if kind == "location" else kind == "organization" and is_known(name)


def _expanded(text: str, spans: Sequence[Span]) -> dict[str, str]:
    """Return the kinds of acronyms in brackets after their full names: "Oslo Pump Alliance (OPA)"."""
    return {name_of(text, short): full.kind for full, short in pairwise(spans)
            if full.kind not in {"name", "person", "location"} and (
                _ACRONYM.fullmatch(text, short.start, short.end)) and (
                _IN_BRACKETS.fullmatch(text, full.end, short.start))}


def _terms(text: str, spans: Sequence[Span]) -> set[str]:
    """Return the capitalised words that are not names: "a Purchase Order is", "the Foundation"."""
    found = set()
    for span in spans:
        name, before = text[span.start : span.end], text[max(0, span.start - _AROUND) : span.start]
        if " " not in name:
            several = name[-1] == "s" and name.title() == name  # "Subsidiaries"
            term = (several or _THE.search(before) is not None) and bool(kind_of_noun(name.lower()))
        else:
            follows = _FOLLOWS.match(text, span.end)
            word = follows["word"].lower() if follows else ""  # "a Delta Valves pump" is of a name
            term = _ONE_OF.search(before) is not None and (not word or word in ENGLISH_STOP)
        if term or _KIND_DEFINED.search(before):
            found.add(name_of(text, span))
    return found


def _has_honorific(text: str, start: int, end: int) -> bool:
    """Return True for a name after or with an honorific: "Dr Blum"."""
    before = text[max(0, start - _AROUND) : start].rstrip().rpartition(" ")[2].rpartition("\n")[2]
    first, _, rest = text[start:end].partition(" ")
    honorific = before.lower().rstrip(".") in _HONORIFICS or (rest and first.lower().rstrip(".") in _HONORIFICS)
    return bool(honorific) and not infer_type(text[start:end])  # Lady Margaret Hall


def _occurrences(text: str, title: str, recognised: Sequence[Span]) -> Iterator[Span]:
    """Yield the places of a text's title: capitalised, or defined ("An aircraft carrier is a warship")."""
    if not title:
        return
    for match in re.finditer(rf"(?<!\w){re.escape(title)}(?!\w)", text, re.IGNORECASE):
        half = len(title) / 2  # a piece of the title may be of another kind: "Education in Norway"
        kind = next((span.kind for span in recognised if match.start() <= span.start and span.end <= match.end()
                     and span.end - span.start >= half), "")
        defined = _IS_A.match(text, match.end()) is not None
        several = " " in title and match[0] == title and any(part[0].isupper() for part in title.split()[1:])
        quoted = text[match.start() - 1 : match.start()] in _QUOTES and text[match.end() : match.end() + 1] in _QUOTES
        if quoted and _is_told_work(text, *match.span()):
            kind = "work"
        if defined or several or (kind and match[0] == title):
            yield Span(*match.span(), kind or "name")


def _quoted_titles(text: str, recognised: Sequence[Span]) -> Iterator[Span]:
    """Yield titles in quotation marks: longer words have capitals, and no sentence ends inside."""
    covering = {at: span for span in recognised for at in range(span.start, span.end)}
    for match in _QUOTED.finditer(text):
        parts = _WORD.findall(match[1])
        name = match[1].rstrip(",")
        titled = all(part[0].isupper() or part[0].isdigit() or part.lower() in _SMALL for part in parts)
        start, end = match.start(1), match.start(1) + len(name)
        around = covering.get(start - 1)
        inside = around is not None and around.end > end
        defined = _DEFINING.search(text, max(0, match.start() - _AROUND), match.start()) or text.startswith(
            " means", match.end())  # (the "Fund")
        if titled and parts and len(parts) <= _LONGEST_NAME and not (inside or defined or name.isupper()) and (
                not name.endswith((".", "!", "?"))):
            yield Span(start, end, "work" if _is_told_work(text, start, end) else "name")


def _is_told_work(text: str, start: int, end: int) -> bool:
    """Return True if the words around a name, or its own, are those for works."""
    around = f"{text[max(0, start - _AROUND_WORK) : start]} {text[end : end + _AROUND_WORK]}"
    return _TOLD_WORK.search(around) is not None or infer_type(text[start:end]) == "Work"


def _with_article(text: str, span: Span) -> Span:
    """Return the span with the article of a title, or without the article of another name."""
    if span.kind == "work":
        before = text[max(0, span.start - 4) : span.start]
        return replace(span, start=span.start - len(before)) if before == "The " else span
    article = _ARTICLE.match(text, span.start, span.end)
    return replace(span, start=article.end()) if article else span


def _clean(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """Return the name without articles, possessives and marks at its ends; None if nothing is left."""
    name = text[start:end]
    for opening, closing in ("()", "[]", "“”"):
        if name.count(opening) != name.count(closing):
            cut = min((at for mark in (opening, closing) if (at := name.find(mark)) >= 0), default=len(name))
            name = name[:cut]
    if kind != "work":
        name = _LIST.split(name, maxsplit=1)[0]
    if _MARKUP.search(name.strip(_EDGES)) or "\n\n" in name:
        return None
    trimmed, before = name, ""
    while trimmed != before:
        before = trimmed
        start, trimmed = start + len(trimmed) - len(trimmed.lstrip(_EDGES)), trimmed.strip(_EDGES)
        cut = _cut_at_start(trimmed, kind)
        start, trimmed = start + cut, _OWNER.sub("", trimmed[cut:])
        head, _, last = trimmed.rpartition(" ")
        honour = head and kind == "person" and last.isupper() and last.lower() in HONOURS
        trimmed = head if honour or last in _SMALL else trimmed
    if name.rstrip().endswith(f"{trimmed}.") and _ABBREVIATED.search(trimmed):
        trimmed += "."
    return (start, start + len(trimmed)) if trimmed else None


def _cut_at_start(name: str, kind: str) -> int:
    """Return the number of characters of a leading article, preposition or person's role."""
    article = _ARTICLE.match(name) if kind != "work" or name.startswith(("the ", "a ")) else None
    if article:
        return article.end()
    first = _WORD.match(name)
    if first is None or first.end() == len(name):
        return 0
    title = first[0].rstrip(".").lower()
    role = kind == "person" and title in (ROLES | _HONORIFICS) - {"dean"}  # Dean Blum
    post = _WORD.match(name, first.end() + 1) if title in _SENIOR else None
    if post and post.end() < len(name) and post[0].lower() in ROLES:  # Managing Director Olaf Grimsby
        return post.end()
    small = first[0] in PREPOSITIONS or first[0] in _SMALL or (kind != "work" and title in {"each", "every", "any"})
    return first.end() if role or small else 0


def _is_junk(text: str, doc: "Doc", span: Span) -> bool:
    """Return True for words that are not names: common words, calendar words, pronouns, sentence-case words."""
    name = text[span.start : span.end]
    parts = _WORD.findall(name)
    if not parts or len(name) < 2 or not any(c.isalpha() for c in name):  # noqa: PLR2004 - a letter is not a name
        return True
    if (span.kind == "person" and parts[-1].lower() in POSTS) or re.search(r"\b[A-Z]{2,}s\b", name):  # "Core EIPs"
        return True
    cased = name.upper() != name.lower()
    if (cased and not (any(c.isupper() for c in parts[0]) or parts[0][0].isdigit())) or (
            span.kind == "person" and any(c.isdigit() for c in name)):
        return True
    goods = span.kind == "product" and infer_type(name) and not may_be("organization", name.rpartition(" ")[0])
    if goods or _PART_OF_TEXT.fullmatch(name):  # "Open Source Software"
        return True
    number = parts[0].isdigit() and span.kind not in {"event", "work"}
    small = span.kind == "person" and any(part.islower() and part not in _SMALL | _PARTICLES for part in parts)
    if number or small or parts[0] in {"Best", "Most", "Men's", "Women's"} or _SYMBOL.search(name):
        return True
    lowered = [part.lower().rstrip(".") for part in parts]
    several = " or " in name or ", and " in name or "3rd" in lowered
    if span.kind != "work" and (lowered[0] in _OTHERS or several or not PRONOUNS.keys().isdisjoint(lowered)):
        return True  # "Your Software", "Board or Committee", "Acme 3rd Party"
    common = name not in {"US", "IT"} and all(
        part in _NO_NAMES or part[0].isdigit() or doc.vocab[part].is_stop for part in lowered)
    too_long = len(parts) > _LONGEST_NAME and span.kind not in {"work", "event"}
    return common or too_long or (len(parts) == 1 and _is_common_word(text, span))


def _is_common_word(text: str, span: Span) -> bool:
    """Return True for a single word that is capitalised by its position only, or that a recogniser guessed."""
    name = text[span.start : span.end]
    before = text[max(0, span.start - _AROUND) : span.start].rstrip(" \t\"“'(*-•")
    if any(c.isupper() for c in name[1:]) or span.kind not in _SINGLE:
        return False
    last = before.rpartition(" ")[2].lower().rstrip(".")
    once = len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text)) == 1
    return last in {"the", "a", "an", "this"} or (once and last not in ROLES | _HONORIFICS)


def _agree(text: str, spans: Sequence[Span], told: Mapping[str, str]) -> list[Span]:
    """Give all places of a name the kind that words tell or its most common one, and a surname that of the person."""
    counts: dict[str, Counter[str]] = {}
    for span in spans:
        counts.setdefault(name_of(text, span), Counter())[span.kind] += 1
    surnames = {name.rpartition(" ")[2] for name, kinds in counts.items() if kinds["person"] and " " in name}
    agreed = {name: "person" if name in surnames else told.get(name) or kinds.most_common(1)[0][0]
              for name, kinds in counts.items()}
    return [replace(span, kind=agreed[name_of(text, span)]) for span in spans]
