"""Names in scripts with spaces: a recogniser's entities with clean boundaries, without those that are not names."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ....text.lexicon import word_set
from ..likeness import is_known, may_be
from .name_kinds import (
    CALENDAR,
    GENERIC_ACRONYMS,
    HONOURS,
    PREPOSITIONS,
    PRONOUNS,
    ROLES,
    Span,
    infer_kind,
    infer_type,
    kind_of_noun,
    name_of,
    without_overlaps,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc

_KINDS = {"PERSON": "person", "ORG": "organization", "GPE": "location", "LOC": "location", "FAC": "location",
          "EVENT": "event", "WORK_OF_ART": "work", "LAW": "work", "PRODUCT": "product",
          "PER": "person", "MISC": "name"}
"""Kinds by spaCy's labels, including its pipelines for other languages; peoples, languages and values are omitted."""

_HONORIFICS = word_set("dr mr mrs ms miss prof professor sir dame lord lady baroness councillor captain capt")
"""Words that mark the following name as a person's, regardless of the recogniser's label."""
_NOT_NAMES = CALENDAR | GENERIC_ACRONYMS | ROLES | PRONOUNS
_PARTICLES = word_set("ap bin ibn al el van ten ter da do dos di del della zu af av")
"""Parts of persons' names in lower case, in addition to those in `_LOWER_CASE_WORDS`."""
_LOWER_CASE_WORDS = word_set("a an the of in on at by for from with to into and or but nor as de la le du des der von "
                             "und y el vs is")
_WORK_CONTEXT = re.compile(
    r"\b(?:songs?|singles?|albums?|films?|movies?|novels?|novellas?|books?|poems?|plays?|operas?|musicals?|episodes?|series|"
    r"shows?|tracks?|paintings?|sculptures?|articles?|essays?|papers?|reports?|guides?|handbooks?|magazines?|stor(?:y|ies)|"
    r"newspapers?|soundtracks?|lyrics?|games?|titled|entitled|wrote|written|writes|authors?|published|recorded|premiered|"
    r"released?|aired|broadcast|directed|starring|sang|sung|performed|composed|screenplays?|sequels?|charts?|remix|cover|"
    r"featur(?:es|ing)|read)\b", re.IGNORECASE)
"""What is said around the title of a work, and not around a term in quotation marks."""
_QUOTES = frozenset("\"“«")
_TITLE_WORD = r"(?:[A-Z0-9][\w’'-]*|a|an|and|at|by|for|in|of|on|the|to|with)"
_QUOTED = re.compile(rf"[\"“«]({_TITLE_WORD}(?: {_TITLE_WORD}){{0,8}})[,\"”»]")
"""A title in quotation marks: all its words but "of" and the like have capitals."""
_CODE = re.compile(r"[A-Z]{1,8}-\d{1,6}|[A-Za-z]{1,20}\d{1,6}|[a-z]{2,20}[A-Z]\w*")
"""A code or an identifier: EIP-20, R27, gasPrice."""
_ACRONYM = re.compile(r"[A-Z]{2,8}s?")
_OPENING_BRACKET = re.compile(r" \((?:the )?[\"“]?")
_COUNTRY_ACRONYMS = word_set("US USA UK UAE UN EU USSR GDR DRC PRC")
_IS_A = re.compile(r"[\"”]?(?: \([^()]{0,120}\))?(?:,[^,.]{1,60},)? (?:is|was|are|were) (?:an?|the|one of the) ")
_MARKUP = re.compile(r"[|<>{}\[\]=\\@*_#~`^]|''|https?:|&\w+;")
_END_OF_FIRST_ITEM = re.compile(r",\s(?!(?:Inc|Ltd|LLC|Jr|Sr|L\.P)\b)|\s[-–—]\s")
_PICTOGRAPHS = "\u2600-\u27bf\U0001f000-\U0001faff"
_EMPHASIS = re.compile(
    rf"\*{{1,3}}|`{{1,3}}|(?<!\w)_{{1,2}}|_{{1,2}}(?!\w)|[{_PICTOGRAPHS}][{_PICTOGRAPHS}\ufe0f\u200d]*")
"""Marks of emphasis, and pictures among the letters."""
_SYMBOL = re.compile("[=+×−%$€£]")
_EDGES = " \t\n\r\xa0,;:.!?-–—\"“”„«»'‘’`*_#()[]•·/&+"
_ARTICLE = re.compile(r"(?:the|an?)\s{1,5}", re.IGNORECASE)
_ARTICLE_BEFORE = re.compile(r"\b(?:the|an?|this)\s{1,3}\Z", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_ABBREVIATED = re.compile(r"\b(?:(?<!/)[A-Z]|Inc|Ltd|Co|Corp|Jr|Sr|St)$")
_PART_OF_TEXT = re.compile(r"(?:Appendix|Annex|Section|Chapter|Article|Clause|Exhibit|Figure|Table|Part|Slide|Step|"
                           r"Question) (?:[IVX]{1,5}|[A-Z]|\d[\w.]*)")
_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*\.?")
_CAPITALS = "A-Z" + "".join(letter for letter in map(chr, range(0xC0, 0x180)) if letter.isupper())
_PART = (rf"(?:[{_CAPITALS}]\.|[{_CAPITALS}]\w*(?:-[{_CAPITALS}0-9]\w*)*(?:[’'](?!s\b)\w+)*"
         rf"(?:\.(?=[{_CAPITALS}]))?)")
_LONGEST_RUN = 15  # the most words of a run after the first one
_NICKNAME = r' \(?["“][A-Z][a-z]+["”]\)? '
"""What may stand after a person's first name, as in Ronald ("Ron") Laird."""
_RUN = re.compile(rf"{_PART}(?:{_NICKNAME}{_PART})?(?:(?: | [-–] | & |–){_PART}){{0,{_LONGEST_RUN}}}")
_RUN_WORD = re.compile(r"[\w’'.&-]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n\"“(*•]|-\s)\s{0,3}$")
_ITEM_START = re.compile(r"(?:[-*•][ \t]{1,4})?\Z", re.MULTILINE)
_ITEM_END = re.compile(r"[ \t]{0,4}(?:$| \([A-Z]|,? v(?:ersion|\.)? ?\d|, wh(?:ich|o|ose)\b)", re.MULTILINE)
"""What stands before and after a name that is an item of a list or a line of its own."""
_MIXED_CASE = re.compile(r"[A-Z][a-z]+[A-Z]\w*")
_NOT_IN_NAMES = CALENDAR | PREPOSITIONS | PRONOUNS | word_set("the a an this that these those and or but if "
                                                                     "when while where as so yet then there here who "
                                                                     "which what how why both born died see also most "
                                                                     "many some all each every no not former current "
                                                                     "new first second third since until although "
                                                                     "though because however")
_NOT_AT_START = _NOT_IN_NAMES | ROLES | word_set("member members bachelor master doctor deputy minister leader winner "
                                                 "author founder owner article section chapter part clause one two "
                                                 "most some many order officer commander knight provost rector "
                                                 "opposition")
_CONTEXT_LENGTH, _WORK_CONTEXT_LENGTH = 40, 120
_LONGEST_NAME = 9  # the most words of a name; only titles of works and names of events are longer


def without_emphasis(text: str) -> str:
    """Return a text with blanks for marks of emphasis and pictures, as it is recognised."""
    return _EMPHASIS.sub(lambda marks: " " * len(marks[0]), text)


def find_spelled_names(text: str, doc: "Doc", hidden: Sequence[tuple[int, int]], title: str) -> list[Span]:
    """Return the names of the sentences in scripts with spaces, outside the `hidden` parts.

    They are the recogniser's entities and runs of capitalised words. Their kinds are corrected by the words around
    them, and common words are removed, but not those of the title. `doc` is the text `without_emphasis` with its
    entities.
    """
    marked, text = text, without_emphasis(text)
    is_hidden = bytearray(len(text))
    for start, end in hidden:
        is_hidden[start:end] = b"\1" * (end - start)
    # "Blum * Ltd" in a comment of several lines is no name.
    found = [span for span in _candidates(text, doc, title)
             if not any(is_hidden[span.start : span.end]) and not _EMPHASIS.search(marked[span.start : span.end])]
    # The same name may be found in pieces: the longest one counts, and of equal ones the one with a known kind.
    found.sort(key=lambda span: (span.start - span.end, span.kind == "name"))
    spans, kinds_by_words = _correct_kinds(text, without_overlaps(found))
    names = [span for span in spans
             if text[span.start : span.end] in title.split() or not _is_junk(text, doc, span)]
    return _unify_kinds(text, names, kinds_by_words)


def _candidates(text: str, doc: "Doc", title: str) -> Iterator[Span]:
    """Yield the recogniser's entities and titles in quotation marks, and runs of capitalised words.

    A run takes in the names that it overlaps, and is of the longest one's kind.
    """
    quoted = (match.span(1) for match in _QUOTED.finditer(text))
    recognised = [Span(*place, "work") for place in quoted if _is_called_work(text, *place)]
    if title:  # where the text says what its title is
        recognised += [Span(*match.span(), "name") for match in re.finditer(rf"(?<!\w){re.escape(title)}(?!\w)", text)
                       if _IS_A.match(text, match.end())]
    for ent in doc.ents:
        kind = "person" if _has_honorific(text, ent.start_char, ent.end_char) else _KINDS.get(ent.label_)
        if kind and (place := _trim(text, ent.start_char, ent.end_char, kind)):
            recognised.append(Span(*place, kind))
    yield from recognised
    others = [(ent.start_char, ent.end_char) for ent in doc.ents if ent.label_ not in _KINDS]
    known = {at for span in recognised for at in range(span.start, span.end)}
    for run_start, run_end in _name_runs(text, others, known, title):
        parts = [span for span in recognised if run_start < span.end and span.start < run_end]
        if parts and parts[-1].kind == "person" and parts[-1].end < run_end:
            continue  # "Yuki Machida Date" is no longer name of Yuki Machida
        start = min([run_start, *(span.start for span in parts)])
        end = max([run_end, *(span.end for span in parts)])
        longest = max(parts, key=lambda span: span.end - span.start, default=None)
        kind = "person" if _has_honorific(text, start, end) else longest.kind if longest else "name"
        if place := _trim(text, start, end, kind):
            yield Span(*place, kind)


def _name_runs(text: str, barriers: Sequence[tuple[int, int]], known: Container[int],
               title: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of the runs of at least two capitalised words of a text.

    The first word of a sentence is cut off, and so are words that do not begin or end names, such as roles. `barriers`
    are (start, end) of words that are not part of names, such as peoples and dates. Words of the title, and those at
    characters that are `known` as names, are names even at the beginning of a sentence, where any word has a capital.
    """
    barred, title_words = {at for start, end in barriers for at in range(start, end)}, frozenset(title.split())
    for run in _RUN.finditer(text):
        parts = list(_RUN_WORD.finditer(text, *run.span()))
        while parts and (parts[0][0].lower().rstrip(".") in _NOT_AT_START or (
                parts[0].start() not in known and parts[0][0] not in title_words
                and _has_position_capital(text, run, parts[0].start()))):
            del parts[0]
        while parts and parts[-1][0].lower() in _NOT_IN_NAMES:
            del parts[-1]
        if len(parts) > 1 and not any(part.start() in barred for part in parts):
            yield parts[0].start(), parts[-1].end()


def _has_position_capital(text: str, run: re.Match[str], at: int) -> bool:
    """Return True if a word of a run may have its capital only because it opens a sentence."""
    if at > 0 and not _SENTENCE_START.search(text[max(0, at - 4) : at]):
        return False
    line_start = text.rfind("\n", 0, at) + 1
    opens_line = run.start() == at and "\n" in text and _ITEM_START.fullmatch(text[line_start:at].lstrip())
    is_whole_line = opens_line and _ITEM_END.match(text, run.end())
    return not (is_whole_line or _MIXED_CASE.match(text, at))


def _correct_kinds(text: str, spans: Sequence[Span]) -> tuple[list[Span], dict[str, str]]:
    """Return the spans with the kinds that words give, and these kinds by name; other kinds are only guesses."""
    kinds_by_words = dict[str, str]()
    corrected = list[Span]()
    for span in spans:
        is_quoted_work = span.kind == "work" and text[span.start - 1 : span.start] in _QUOTES
        kind = "" if is_quoted_work else infer_kind(text, replace(
            span, kind="name" if span.kind == "work" else span.kind))
        corrected.append(replace(span, kind=kind) if kind else span)
        if kind:
            kinds_by_words.setdefault(name_of(text, span), kind)
    for full, short in pairwise(corrected):  # the acronym in brackets after a full name is of its kind
        if (full.kind not in {"name", "person", "location"} and _ACRONYM.fullmatch(text, short.start, short.end)
                and _OPENING_BRACKET.fullmatch(text, full.end, short.start)):
            kinds_by_words[name_of(text, short)] = full.kind
    return [span if name_of(text, span) in kinds_by_words or _may_be_of_kind(text, span)
            else replace(span, kind="name") for span in corrected], kinds_by_words


def _may_be_of_kind(text: str, span: Span) -> bool:
    """Return True if a name can be of the kind that the recogniser gives it."""
    words_before = text[max(0, span.start - _CONTEXT_LENGTH) : span.start].split()
    word_before, name = words_before[-1].lower() if words_before else "", text[span.start : span.end]
    if span.kind == "work":
        return _is_called_work(text, span.start, span.end)
    kind = "organization" if span.kind == "product" else span.kind
    if kind not in {"person", "location", "organization"}:
        return True
    is_known_acronym = name in _COUNTRY_ACRONYMS if kind == "location" else kind == "organization" and is_known(name)
    if _CODE.fullmatch(name) or (_ACRONYM.fullmatch(name) and not is_known_acronym):
        return False
    if word_before.rstrip(".") in ROLES | _HONORIFICS:
        return True
    first_words, _, last_word = name.rpartition(" ")
    noun = last_word.lower()
    if kind != "person" and kind_of_noun(noun.removesuffix("s")) == "person":
        return may_be("location", first_words)  # Ottawa Senators, but not Gold Members
    if kind == "person" and re.search(rf"\b{re.escape(noun)}s?\b", text):
        return False  # "DAO Fork" beside "fork"
    return may_be(kind, name) and not (kind == "person" and word_before in {"a", "an", "the", "any", "each"})


def _has_honorific(text: str, start: int, end: int) -> bool:
    """Return True if an honorific stands before a name or begins it ("Dr Blum")."""
    word_before = text[max(0, start - _CONTEXT_LENGTH) : start].rstrip().rpartition(" ")[2].rpartition("\n")[2]
    first, _, rest = text[start:end].partition(" ")
    follows_honorific = word_before.lower().rstrip(".") in _HONORIFICS
    begins_with_honorific = bool(rest) and first.lower().rstrip(".") in _HONORIFICS
    return (follows_honorific or begins_with_honorific) and not infer_type(text[start:end])  # Lady Margaret Hall


def _is_called_work(text: str, start: int, end: int) -> bool:
    """Return True if a word near a name, or the name's own noun, is one for works such as "novel"."""
    around = f"{text[max(0, start - _WORK_CONTEXT_LENGTH) : start]} {text[end : end + _WORK_CONTEXT_LENGTH]}"
    return _WORK_CONTEXT.search(around) is not None or infer_type(text[start:end]) == "Work"


def _trim(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """Return the start and end of a name without articles, possessives and marks at its ends."""
    name = text[start:end]
    for opening, closing in ("()", "[]", "“”"):
        if name.count(opening) != name.count(closing):
            first_mark = min((at for mark in (opening, closing) if (at := name.find(mark)) >= 0), default=len(name))
            name = name[:first_mark]
    if kind != "work":
        name = _END_OF_FIRST_ITEM.split(name, maxsplit=1)[0]
    if _MARKUP.search(name.strip(_EDGES)) or "\n\n" in name:
        return None
    # Each cut may uncover something else to cut, so they are repeated until nothing changes.
    trimmed, previous = name, ""
    while trimmed != previous:
        previous = trimmed
        start, trimmed = start + len(trimmed) - len(trimmed.lstrip(_EDGES)), trimmed.strip(_EDGES)
        leading = _cut_at_start(trimmed, kind)
        start, trimmed = start + leading, _POSSESSIVE.sub("", trimmed[leading:])
        other_words, _, last = trimmed.rpartition(" ")
        is_honour = other_words and kind == "person" and last.isupper() and last.lower() in HONOURS
        trimmed = other_words if is_honour or last in _LOWER_CASE_WORDS else trimmed
    # The stop of an abbreviation at the end belongs to the name: "Acme Inc."
    if name.rstrip().endswith(f"{trimmed}.") and _ABBREVIATED.search(trimmed):
        trimmed += "."
    return (start, start + len(trimmed)) if trimmed else None


def _cut_at_start(name: str, kind: str) -> int:
    """Return the length of what does not belong to a name at its start: an article, or a role before a person."""
    may_have_article = kind != "work" or name.startswith(("the ", "a "))  # the article of a work has a capital
    if may_have_article and (article := _ARTICLE.match(name)):
        return article.end()
    first = _WORD.match(name)
    is_role = first is not None and first[0].rstrip(".").lower() in ROLES | _HONORIFICS
    return first.end() if first and is_role and kind == "person" and first.end() < len(name) else 0


def _is_junk(text: str, doc: "Doc", span: Span) -> bool:
    """Return True for words that are not names: common words, calendar words, pronouns, sentence-case words."""
    name = text[span.start : span.end]
    parts = _WORD.findall(name)
    if not parts or len(name) < 2 or not any(c.isalpha() for c in name):  # noqa: PLR2004 - a letter is not a name
        return True
    if re.search(r"\b[A-Z]{2,}s\b", name):  # "Core EIPs"
        return True
    has_letter_case = name.upper() != name.lower()
    begins_like_name = any(c.isupper() for c in parts[0]) or parts[0][0].isdigit()
    if (has_letter_case and not begins_like_name) or (span.kind == "person" and any(c.isdigit() for c in name)):
        return True
    is_generic_product = span.kind == "product" and infer_type(name) and not may_be(
        "organization", name.rpartition(" ")[0])  # "Open Source Software"
    if is_generic_product or _PART_OF_TEXT.fullmatch(name):
        return True
    begins_with_number = parts[0].isdigit() and span.kind not in {"event", "work"}
    has_common_word = span.kind == "person" and any(
        part.islower() and part not in _LOWER_CASE_WORDS | _PARTICLES for part in parts)
    is_superlative = parts[0] in {"Best", "Most", "Men's", "Women's"}
    if begins_with_number or has_common_word or is_superlative or _SYMBOL.search(name):
        return True
    lowered = [part.lower().rstrip(".") for part in parts]
    is_composed = " or " in name or ", and " in name  # "Board or Committee"
    is_indefinite = not PRONOUNS.isdisjoint(lowered)  # "Its Software"
    if span.kind != "work" and (is_composed or is_indefinite):
        return True
    has_common_words_only = name not in {"US", "IT"} and all(
        part in _NOT_NAMES or part[0].isdigit() or doc.vocab[part].is_stop for part in lowered)
    is_too_long = len(parts) > _LONGEST_NAME and span.kind not in {"work", "event"}
    has_article = len(parts) == 1 and name[1:].islower() and span.kind != "location" and _ARTICLE_BEFORE.search(
        text, max(0, span.start - _CONTEXT_LENGTH), span.start) is not None  # "the Foundation"
    return has_common_words_only or is_too_long or has_article


def _unify_kinds(text: str, spans: Sequence[Span], kinds_by_words: Mapping[str, str]) -> list[Span]:
    counts: dict[str, Counter[str]] = {}
    for span in spans:
        counts.setdefault(name_of(text, span), Counter())[span.kind] += 1
    surnames = {name.rpartition(" ")[2] for name, kinds in counts.items() if kinds["person"] and " " in name}
    kind_of_name = {name: "person" if name in surnames else kinds_by_words.get(name) or kinds.most_common(1)[0][0]
                    for name, kinds in counts.items()}
    return [replace(span, kind=kind_of_name[name_of(text, span)]) for span in spans]
