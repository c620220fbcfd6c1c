"""Typed spans of texts: names with clean boundaries, dates and quantities.

spaCy's named-entity recogniser reads English and the languages of other installed pipelines, LAC reads Chinese, and
`text/quantities.py` dates and quantities. What a recogniser finds is cut to whole names, without what is no name.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ....text.lexicon import ENGLISH_STOP, WORDS, read_patterns, word_set
from ....text.quantities import find_values
from ....text.scripts import CJK, language_of, script_of
from ....text.sentences import split_sentences
from ...parsing.parser import Parser
from .. import likeness
from . import name_kinds
from .name_kinds import HONORIFICS, PRONOUNS, ROLES, Span, has_address, infer_type, name_of, split_people
from .names import LEGAL_FORMS, NameRuns, cut_opening_word, find_chinese_names

if TYPE_CHECKING:
    from spacy.tokens import Doc

_HAN = re.compile(f"[{CJK}]")
_HAN_SHARE = 0.15  # the share of Han characters above which a sentence is read as Chinese
_FENCED = re.compile(r"^ {0,3}(?P<fence>```|~~~).*?(?:^ {0,3}(?P=fence)|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(?P<marks>`{1,2})(?!`)[^`\n]{1,200}(?P=marks)(?!`)")  # words of a program in a sentence
_ADDRESS = re.compile(r"https?://\S{1,500}|www\.\S{1,500}|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")
_TAG = re.compile(r"<[^<>\n]{1,300}>")
_ENTRY = re.compile(r"^[^\n]{2,100}?[ ,.]\d{1,3}(?:(?:, ?|[-–])\d{1,3}){0,20}[.,;]?$", re.MULTILINE)
"""A line that ends in numbers of pages, as the entries of an index or a table of contents do."""
_FEWEST_ENTRIES, _SHARE_OF_ENTRIES = 4, 0.3
"""How many entries a part of an index has at least, and their share of its lines, of which some are blank."""
_KINDS = {"PERSON": "person", "ORG": "organization", "GPE": "location", "LOC": "location", "FAC": "location",
          "EVENT": "event", "WORK_OF_ART": "work", "LAW": "work", "PRODUCT": "product", "PER": "person", "MISC": "name"}
"""Kinds by spaCy's labels, including its pipelines for other languages; peoples, languages and values are omitted."""
_NOT_NAMES = name_kinds.CALENDAR | name_kinds.GENERIC_ACRONYMS | ROLES | HONORIFICS | PRONOUNS
_INDEFINITE_WORDS = word_set("own other another such certain any each every some this that these those 3rd")
"""Words before a common noun with capitals, which is then no name: "Your Software"."""
_EPITHETS = word_set("old young poor dear")  # said of persons, and no part of their names: "Old Sapt"
_LOWER_CASE_WORDS = WORDS["lower case words"]
_PARTICLES = _LOWER_CASE_WORDS | word_set("ap bin ibn al el van ten ter da do dos di del della zu af av")
"""What may be in lower case within a name: "of", "van"."""
_INITIALS_AND_SURNAME = re.compile(r"(?P<initials>(?:[A-Z]\.[- ]?){1,4})[A-Z][\w’'-]+")
_FORMS = {name: re.compile(form) for name, form in read_patterns("rules.toml")["spelled_names"].items()}
_FULL_NAME = re.compile(r"[A-Z]\w+(?: (?:[A-Z]\.|[A-Z][\w’'-]+|v[ao]n|de[rn]?|di|da)){1,4}|"
                        r"[A-Z]\w+ (?:the|of) [A-Z]\w+")
"""A first name with a surname, or with a place or a quality: "Leopold of Tuscany", "Frederick the Great"."""
_UNSURE_KINDS = frozenset({"organization", "work", "product", "event"})  # often given to single words of other kinds
_QUOTED = re.compile(r"[\"“«]([A-Z0-9][^\"“”«»\n]{1,78})[\"”»]")
_IN_SPEECH = re.compile(r"[.!?—–-]\Z|['’]s\Z|[!?]\s|[A-Za-z]{3}\.\s[A-Z]|\A(?:Oh|Ah|Well|Yes|No),\s")
"""What somebody says has, and a title has not: "Well, Ann", "Yes. But", "Game and—", "Your Majesty's"."""
_CONTRACTED = re.compile(r"\w['’](?:s|m|re|ve|ll|d)\s|\sI['’]\w")  # no person: "Garnet's Narrative", "Beale I'm"
_ENDS_IN_INITIALS = re.compile(r" (?!(?:I{2,3}|IV|V)$)[A-Z][A-Z.]{0,4}$")  # how citations give names: "Curie M"
_SMALL_INITIAL = re.compile("[A-Z][a-z][A-Z]")  # initials with that of a small word: "CoC" for a code of conduct
_ACRONYM = re.compile(r"[A-Z]{2,8}s?")
_OPENING_BRACKET = re.compile(r" \((?:the )?[\"“]?")
_INDEFINITE_ARTICLE = re.compile(r"\b(?:an?|each|any|every|such|your|our|no)\s{1,3}\Z", re.IGNORECASE)
_NEXT_WORD = re.compile(r"\s{0,3}(?P<word>[\w’'-]*)")
_COUNTRY_ACRONYMS = word_set("US USA UK UAE UN EU USSR GDR DRC PRC")
_OPEN_BRACKET = re.compile(r"\([^()]{0,30}\Z")
_REST_OF_NAME = re.compile(r"\)? [A-Z]")
_MARKUP = re.compile(r"[|<>{}\[\]=\\@*_#~`^]|''|https?:|&\w+;|\n\n")
_END_OF_FIRST_ITEM = re.compile(rf"[!?]|--|,\s(?!(?:{'|'.join(sorted(LEGAL_FORMS))}|L\.P)\b)|\s[-–—]\s")
_ADDRESS_BEFORE = re.compile(rf"\b(?:{'|'.join(one.title() for one in sorted(HONORIFICS))})\.?\s{{1,3}}\Z")
_BEHIND_PERSONS = re.compile(r"(?<=\w) (?:Is|Was|Has|(?P<participle>[A-Z][a-z]{4,}ed))\Z")
"""What headings have behind a person's name and is none of it: "Ann Lee Nominated"."""
_EDGES = " \t\n\r\xa0,;:.!?-–—\"“”„«»'‘’`*_#()[]•·/&+"
_ARTICLE = re.compile(r"(?:the|an?)\s{1,5}", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_ABBREVIATED = re.compile(r"\b(?:(?<!/)[A-Z]|Inc|Ltd|Co|Corp|Jr|Sr|St)$")
_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*\.?")
_MIXED_CASE = re.compile(r"(?<![\w./@#’'-])(?P<head>[A-Z][a-z]+)[A-Z][^\W\d_]+(?![\w/@(]|[.-]\w)")
_SAID_OF_BODIES = (r"\b(?:at|by|join\w*|members? of|represent\w*) {0}\b|"
                   r"\b{0}(?:['’]s)? (?:members?|board|president|treasurer|directors?|staff|employees|elections?)\b")
_CAPITALISED = re.compile(r"(?<![\w.’'-])[A-Z][a-z]+(?!\w)")
_CONTEXT_LENGTH, _WORK_CONTEXT_LENGTH = 40, 120
_LONGEST_NAME = 9  # the most words of a name; only titles of works and names of events are longer


def find_spans(texts: Sequence[str], parser: Parser, titles: Sequence[str] = ()) -> list[list[Span]]:
    """Return the names, dates and quantities of each text, ascending and without overlaps.

    The texts go through the recogniser in one batch, which is faster, but the spans of a text do not depend on others.
    Only a pipeline of its own language reads a text that is neither Chinese nor in Latin script. `titles` are the
    subjects of the texts, if known; their occurrences in the text are names.
    """
    han_sentences: dict[str, list[tuple[int, int]]] = {}
    spelled = list[str]()  # texts with sentences in other scripts
    for text in dict.fromkeys(texts):
        sentences, language = split_sentences(text), language_of(text)
        has_other_han = language in {"ja", "ko"}  # whose Han letters are no Chinese
        han_sentences[text] = [] if has_other_han else [
            (start, end) for start, end in sentences
            if len(_HAN.findall(text, start, end)) > _HAN_SHARE * (end - start)]
        has_pipeline = script_of(text) == "latin" or language in {"", "zh", *parser.languages()}
        has_other_sentences = has_other_han or len(han_sentences[text]) < len(sentences)
        if has_pipeline and has_other_sentences:
            spelled.append(text)
    prose = [name_kinds.without_emphasis(_FENCED.sub(_blank_code, text)) for text in spelled]
    docs = dict(zip(spelled, parser.entities(prose), strict=True))
    return [_spans_of(text, docs.get(text), title, han_sentences[text])
            for text, title in zip(texts, titles or [""] * len(texts), strict=True)]


def _blank_code(fenced: re.Match[str]) -> str:
    """Return a block of code with blanks between its fences: its names are hidden, and recognition takes long."""
    block = fenced[0]
    start, end = block.find("\n") + 1, block.rfind("\n")
    return f"{block[:start]}{' ' * (end - start)}{block[end:]}" if 0 < start < end else block


def _spans_of(text: str, doc: "Doc | None", title: str, han: list[tuple[int, int]]) -> list[Span]:
    """Return the spans of a text; `doc` has the recogniser's entities, `han` the places of Chinese sentences."""
    # Addresses, tags, code and entries of an index are not searched for names.
    masked = [match.span() for form in (_ADDRESS, _TAG, _FENCED, _INLINE) for match in form.finditer(text)]
    entries = [match.span() for match in _ENTRY.finditer(text)]
    is_index = len(entries) >= max(_FEWEST_ENTRIES, _SHARE_OF_ENTRIES * len(text.split("\n")))
    masked += entries if is_index else []
    spelled = _find_spelled_names(text, doc, [*han, *masked], title) if doc is not None else []
    spelled = [span for span in spelled if not name_kinds.EMPHASIS.search(text, span.start, span.end)]  # two names
    if han:  # beside Chinese, a name with Han letters is none: "SIG组内成员讨论确定"
        spelled = [span for span in spelled if not _HAN.search(text, span.start, span.end)]
    chinese = [Span(*place) for place in find_chinese_names(name_kinds.without_emphasis(text), han, masked)]
    values = [Span(value.start, value.end, value.kind) for value in find_values(text)]
    return name_kinds.without_overlaps(spelled, chinese, values)


def _find_spelled_names(text: str, doc: "Doc", hidden: Sequence[tuple[int, int]], title: str) -> list[Span]:
    """Return the names of sentences in scripts with spaces, outside the `hidden` parts; `doc` has the entities."""
    text = name_kinds.without_emphasis(text)
    is_hidden = bytearray(len(text))
    for start, end in hidden:
        is_hidden[start:end] = b"\1" * (end - start)
    runs = NameRuns(text, [(ent.start_char, ent.end_char) for ent in doc.ents if ent.label_ not in _KINDS], title)
    unknown = [Span(*place, "name") for run in runs.of_several_words() if (place := _trim_name(text, *run, "name"))]
    # The same name may be found in pieces: the longest one counts, and of equal ones the one with a known kind.
    pieces = sorted((*_recognised_names(text, doc, runs), *unknown),
                    key=lambda span: (span.start - span.end, span.kind == "name"))
    listed = [Span(*word.span(), "person") for span in pieces if _lists_people(text, span)
              for word in _WORD.finditer(text, span.start, span.end)]
    quoted_titles = list(_quoted_titles(text))

    visible = [span for span in (*quoted_titles, *listed, *pieces) if not any(is_hidden[span.start : span.end])]
    spans, kinds_by_words = _correct_kinds(text, name_kinds.without_overlaps(visible), quoted_titles)
    terms = _common_terms(text, spans)

    def is_name(span: Span) -> bool:
        """Return True for a quoted title and a word of the document's title, and for others without a flaw."""
        is_quoted_title = span in quoted_titles and span.kind != "person"
        is_word_of_title = text[span.start : span.end] in title.split()
        return is_quoted_title or is_word_of_title or not (name_of(text, span) in terms or _is_junk(text, doc, span))

    names = list[Span]()
    for span in filter(is_name, spans):
        article = _ARTICLE.match(text, span.start, span.end) if span.kind != "work" else None
        names.append(replace(span, start=article.end()) if article else span)
    return _with_one_kind_each(text, names, kinds_by_words)


def _recognised_names(text: str, doc: "Doc", runs: NameRuns) -> Iterator[Span]:
    """Yield the recogniser's entities, trimmed and extended to complete names, and persons that it overlooks."""
    found = [(ent.start_char, ent.end_char, _KINDS[ent.label_]) for ent in doc.ents if ent.label_ in _KINDS]
    found += [(*match.span(), "person") for match in _CAPITALISED.finditer(text)
              if has_address(text, *match.span())
              or (likeness.is_first_name(match[0]) and not runs.has_position_capital(match.start()))]
    found += [(*match.span(), "organization") for match in _MIXED_CASE.finditer(text)
              if likeness.is_coined(match[0]) and not likeness.is_first_name(match["head"])]  # no "NickB"
    for start, end, guessed_kind in found:
        kind = "person" if has_address(text, start, end) else guessed_kind
        if place := _trim_name(text, start, end, kind):
            extended = _trim_name(text, *runs.extend(*place), kind)
            span = Span(*(extended or place), kind)
            # Of a name of one word, the form of address tells who of a family is meant.
            address = _ADDRESS_BEFORE.search(text, max(0, span.start - _CONTEXT_LENGTH), span.start)
            is_person_of_one_word = kind == "person" and " " not in name_of(text, span)
            yield replace(span, start=address.start()) if address and is_person_of_one_word else span


def _lists_people(text: str, span: Span) -> bool:
    """Return True for a list of persons without commas that was read as one name."""
    name = name_of(text, span)
    may_be_people = span.kind == "person" or (span.kind == "name" and likeness.is_first_name(name.partition(" ")[0]))
    return may_be_people and split_people(name) != [name]


def _with_one_kind_each(text: str, names: Sequence[Span], kinds_by_words: Mapping[str, str]) -> list[Span]:
    """Return the names with one kind for all places of a name: what words give, else its most common one."""
    counts: dict[str, Counter[str]] = {}
    for span in names:
        counts.setdefault(name_of(text, span), Counter())[span.kind] += 1
    kind_of_name = {name: kinds_by_words.get(name) or kinds.most_common(1)[0][0] for name, kinds in counts.items()}
    # What is the last word of a person's name elsewhere in the text is a person.
    surnames = {name.rpartition(" ")[2] for name, kinds in counts.items() if kinds["person"] and " " in name}
    kind_of_name |= {name: "person" for name in counts if name in surnames}
    return [replace(span, kind=kind_of_name[name_of(text, span)]) for span in names]


def _correct_kinds(text: str, spans: Sequence[Span],
                   quoted_titles: Sequence[Span]) -> tuple[list[Span], dict[str, str]]:
    """Return the spans with the kinds that words give, and these by name; a guess that a name cannot be is "name"."""
    kinds_by_words = dict[str, str]()
    for span in spans:
        is_quoted_work = span.kind == "work" and span in quoted_titles
        # A work that the recogniser only guesses may be anything.
        unbiased = replace(span, kind="name") if span.kind == "work" else span
        kind = "" if is_quoted_work else name_kinds.infer_kind(text, unbiased)
        if not kind and _is_formed_like_person(name_of(text, span)):
            kind = "person"
        if not kind and span.kind == "organization" and likeness.is_coined(name_of(text, span)):
            said_of_bodies = _SAID_OF_BODIES.format(re.escape(name_of(text, span)))
            kind = "organization" if re.search(said_of_bodies, text) else "product"  # as most often: TensorFlow
        if kind:
            kinds_by_words.setdefault(name_of(text, span), kind)
    for full, short in pairwise(spans):  # the acronym in brackets after a full name is of its kind
        kind = kinds_by_words.get(name_of(text, full), full.kind)
        is_acronym_in_brackets = (_ACRONYM.fullmatch(text, short.start, short.end)
                                  and _OPENING_BRACKET.fullmatch(text, full.end, short.start))
        if is_acronym_in_brackets and kind not in {"name", "person", "location"}:  # which have no acronyms
            kinds_by_words[name_of(text, short)] = kind
    guessed = (span if span in quoted_titles or _may_be_of_kind(text, span) else replace(span, kind="name")
               for span in spans)
    return [replace(span, kind=kinds_by_words.get(name_of(text, span), span.kind)) for span in guessed], kinds_by_words


def _is_formed_like_person(name: str) -> bool:
    """Return True for initials or a first name with a surname, and a first name with an epithet."""
    if initialed := _INITIALS_AND_SURNAME.fullmatch(name):
        return initialed["initials"].replace(".", "").strip() not in _COUNTRY_ACRONYMS  # U.S. Government
    first = name.partition(" ")[0]
    is_full_name = _FULL_NAME.fullmatch(name) and likeness.is_first_name(first) and not infer_type(name)
    return bool(is_full_name) and (likeness.is_called_like_person(name) or " the " in name or " of " in name)


def _may_be_of_kind(text: str, span: Span) -> bool:
    """Return True if a name can be of the kind that the recogniser gives it."""
    name = text[span.start : span.end]
    if span.kind == "work":  # "Swift 6" is a version, and "Future Directions" a part of a text
        is_proper = likeness.has_proper_word(name) and not name[-1].isdigit()
        return is_proper and _is_called_work(text, span.start, span.end)
    kind = "organization" if span.kind == "product" else span.kind  # products are called by their makers' names
    if kind not in {"person", "location", "organization"}:
        return True
    if _ACRONYM.fullmatch(name):  # a person is called by none
        is_known_acronym = name in _COUNTRY_ACRONYMS if kind == "location" else likeness.is_known(name)
        if kind == "person" or not is_known_acronym:
            return False
    first_words, _, last_word = name.rpartition(" ")
    noun = last_word.lower()
    if kind == "person" and not first_words and likeness.is_known_place(name) and not likeness.is_first_name(name):
        return False
    if kind == "person" and re.search(rf"\b{re.escape(noun)}s?\b", text):
        return False  # "DAO Fork" beside "fork"
    return likeness.may_be(kind, name)


def _common_terms(text: str, spans: Sequence[Span]) -> set[str]:
    """Return the capitalised words that are not names, as they have an article: "a Purchase Order is"."""
    terms = set()
    for span in spans:
        match = _NEXT_WORD.match(text, span.end)
        next_word = match["word"].lower() if match else ""
        # In "a Delta Valves pump" the article belongs to the pump.
        takes_article = not next_word or next_word in ENGLISH_STOP
        article = _INDEFINITE_ARTICLE.search(text, max(0, span.start - _CONTEXT_LENGTH), span.start)
        if " " in text[span.start : span.end] and takes_article and article:
            terms.add(name_of(text, span))
    return terms


def _quoted_titles(text: str) -> Iterator[Span]:
    """Yield titles in quotation marks: all words but "of" and the like have capitals, and no sentence ends in them."""
    for match in _QUOTED.finditer(text):
        name = match[1].rstrip(",")
        parts = _WORD.findall(name)
        has_title_case = 0 < len(parts) <= _LONGEST_NAME and all(
            part[0].isupper() or part[0].isdigit() or part.lower() in _LOWER_CASE_WORDS for part in parts)
        is_nickname = len(parts) == 1 and _REST_OF_NAME.match(text, match.end())  # Ronald ("Ron") Keller
        # A contract defines its terms so: (the "Seller"), or "Seller" means.
        context_start = max(0, match.start() - _CONTEXT_LENGTH)
        is_term = _OPEN_BRACKET.search(text, context_start, match.start()) or text.startswith(" means", match.end())
        is_speech = name.isupper() or _IN_SPEECH.search(name) is not None
        if has_title_case and not (is_nickname or is_term or is_speech):
            start, end = match.start(1), match.start(1) + len(name)
            yield Span(start, end, "work" if _is_called_work(text, start, end) else "name")


def _is_called_work(text: str, start: int, end: int) -> bool:
    """Return True if a word near a name, or the name's own noun, is one for works such as "novel"."""
    around = f"{text[max(0, start - _WORK_CONTEXT_LENGTH) : start]} {text[end : end + _WORK_CONTEXT_LENGTH]}"
    return _FORMS["work_context"].search(around) is not None or infer_type(text[start:end]) == "Work"


def _trim_name(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """Return the start and end of a name without articles, possessives and marks at its ends; None if none is left."""
    name = text[start:end]
    for opening, closing in ("()", "[]", "“”"):
        if name.count(opening) != name.count(closing):  # a name ends before a bracket that has no counterpart
            name = re.split(f"[{re.escape(opening + closing)}]", name, maxsplit=1)[0]
    if kind != "work":
        name = _END_OF_FIRST_ITEM.split(name, maxsplit=1)[0]
    if _MARKUP.search(name.strip(_EDGES)):
        return None
    # Each cut may uncover something else to cut, so they are repeated until nothing changes.
    trimmed, previous = name, ""
    while trimmed != previous:
        previous = trimmed
        start += len(trimmed) - len(trimmed.lstrip(_EDGES))
        trimmed = trimmed.strip(_EDGES)
        length_to_cut = _cut_at_start(trimmed, kind) or cut_opening_word(text, start, trimmed, kind)
        start += length_to_cut
        trimmed = _POSSESSIVE.sub("", trimmed[length_to_cut:])
        behind = _BEHIND_PERSONS.search(trimmed) if kind in {"person", "name"} else None
        if behind and not likeness.is_first_name(behind["participle"] or ""):  # Mohammed
            trimmed = trimmed[:behind.start()]
        other_words, _, last = trimmed.rpartition(" ")
        is_place = kind == "location" or likeness.is_known_place(other_words) or infer_type(other_words) == "Location"
        is_pronoun = last == "I" and is_place  # "In Paris I met"
        trimmed = other_words if last in _LOWER_CASE_WORDS or is_pronoun else trimmed
    # The stop of an abbreviation at the end belongs to the name: "Acme Inc."
    if name.rstrip().endswith(f"{trimmed}.") and _ABBREVIATED.search(trimmed):
        trimmed += "."
    return (start, start + len(trimmed)) if trimmed else None


def _cut_at_start(name: str, kind: str) -> int:
    """Return the length of what does not belong to a name at its start: an article, a preposition or a role."""
    article = _ARTICLE.match(name)
    if article and (kind != "work" or name.startswith(("the ", "a "))):  # the article of a work has a capital
        return article.end()
    first = _WORD.match(name)
    if first is None or first.end() == len(name):  # a name of one word has nothing to cut
        return 0
    word = first[0].rstrip(".").lower()
    is_address = word in HONORIFICS and " " not in name[first.end():].strip()  # it belongs to the name in "Mr. Blum"
    # "Dean" is also a first name.
    is_role = kind == "person" and word in (ROLES | HONORIFICS | _EPITHETS) - {"dean"} and not is_address
    if word in HONORIFICS and name.startswith(" of ", first.end()):  # "Duke of Mill" is no name without it
        return 0
    is_function_word = first[0] in name_kinds.PREPOSITIONS or first[0] in _LOWER_CASE_WORDS or first[0] == "I"
    is_determiner = kind != "work" and word in _INDEFINITE_WORDS
    return first.end() if is_role or is_function_word or is_determiner else 0


def _is_junk(text: str, doc: "Doc", span: Span) -> bool:
    """Return True for words that are not names: common words, calendar words, pronouns, sentence-case words."""
    name = text[span.start : span.end]
    parts = _WORD.findall(name)
    if not parts or len(name) == 1 or not any(c.isalpha() for c in name):
        return True
    lowered = [part.lower().rstrip(".") for part in parts]
    is_indefinite = span.kind != "work" and (lowered[0] in _INDEFINITE_WORDS or not PRONOUNS.isdisjoint(lowered))
    if is_indefinite or parts[-1].islower() or _is_spelled_unlike_name(name, parts, span.kind):
        return True
    if len(parts) == 1 and _is_common_word(text, span):
        return True
    if name in {"US", "IT"}:  # in lower case they are pronouns
        return False
    return all(part in _NOT_NAMES or part[0].isdigit() or doc.vocab[part].is_stop for part in lowered)


def _is_spelled_unlike_name(name: str, parts: Sequence[str], kind: str) -> bool:
    """Return True for what is written as no name of a kind is: codes, citations, parts of texts, common words."""
    if kind not in {"work", "event"}:  # whose names may have any words
        joins_names = " or " in name or (" and " in name and not infer_type(name))
        has_common_word = any(part.islower() and part not in _PARTICLES for part in parts)
        if joins_names or has_common_word or parts[0].isdigit() or len(parts) > _LONGEST_NAME:
            return True
    if kind == "person" and _CONTRACTED.search(name):
        return True
    if kind == "person" and (any(c.isdigit() for c in name) or _ENDS_IN_INITIALS.search(name) or " & " in name):
        return True
    is_heading = name.isupper() and len(parts) > 1 and infer_type(name) != "Organization"  # "KATRINE'S OWN COUNTRY"
    is_code = kind not in {"work", "event", "name"} and _FORMS["mixed"].search(name)
    is_lower_case = parts[0].islower() or (name[0].islower() and not parts[0].isalnum())  # "non-Apple", "libpump.so"
    is_common = parts[0] in {"Best", "Most"} or re.search(r"\b[A-Z]{2,}s\b", name)  # "Core EIPs"
    return bool(is_heading or _SMALL_INITIAL.fullmatch(name) or is_code or is_lower_case or is_common)


def _is_common_word(text: str, span: Span) -> bool:
    """Return True for a single word that is probably a common word, which a recogniser took for a name."""
    name = text[span.start : span.end]
    if any(c.isupper() for c in name[1:]) or span.kind not in _UNSURE_KINDS or likeness.is_first_name(name):
        return False
    if re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", text):  # "Hush, hush!"
        return True
    before = text[max(0, span.start - _CONTEXT_LENGTH) : span.start].rstrip(" \t\"“'(*-•")
    occurs_once = len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text)) == 1
    return occurs_once or before.rpartition(" ")[2].lower() in {"the", "a", "an", "this"}
