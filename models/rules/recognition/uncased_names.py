"""Names in languages without capital letters: by titles, surnames, nouns for places and bodies, and quotation marks.

The words of each language are in `name_cues.json`. Only what such a word introduces is a name, so most names that
occur alone are not found.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from ....text.languages import function_words
from ....text.sentences import split_sentences
from .name_cues import Cues, cues_of, occurrences
from .typed_span import Span, without_overlaps

UNCASED = frozenset({"hi", "bn", "ar", "ja", "ko"})
"""The languages that this module reads."""
_WORD = re.compile(r"[^\s\d।॥,.;:!?؟،؛\"“”‘’«»()\[\]{}|—–/*_#]+")
_QUOTED = re.compile(r"[«“‘\"「『]([^«»“”‘’\"「」『』\n।.؟!?。]{2,30})[»”’\"」』]")
_LONGEST_AT_START = 3
"""The most words before a noun that opens a sentence with it: "सारस ताल अभयारण्य"; elsewhere one belongs to it."""
_HAN = r"[\u3400-\u9fff々ヶ]"
_KATAKANA = r"[\u30a1-\u30fa\u30fc]"
_SAID = re.compile(r"[^A-Z\u30a1-\u30fa]*\Z|.*(?:ます|です|ました|でした|ません)\Z")
"""What Japanese quotation marks hold that is no name: common words and sentences."""
_ARTICLE = "ال"
_VERBAL = ("ي", "ت", "و")
"""The first letters of Arabic verbs and of words joined by 'and'."""

_Words = Sequence[re.Match[str]]


def find_uncased_names(text: str, language: str, title: str) -> list[Span]:
    """Find the names of a text in a script without capitals.

    Args:
        text: the text.
        language: its language, one of `name_cues.json`.
        title: the subject of the text, or "".

    Returns:
        The names, ascending and without overlaps.
    """
    cues = cues_of(language)
    certain = [*occurrences(text, title, cues), *(Span(*match.span(1), "name") for match in _QUOTED.finditer(text)
                                                  if language != "ja" or not _SAID.match(match[1]))]
    if language == "ja":
        return without_overlaps(certain, list(_japanese(text, cues)))
    find = _arabic if language == "ar" else _following
    about = {word for part in title.split() if cues.kind_of(word := _without_case(part, cues))}
    found = [span for start, end in split_sentences(text)
             for span in find(list(_WORD.finditer(text, start, end)), text, cues, function_words(language))]
    # "The library" later in the text is the one that the title names.
    found = [span for span in found if text[span.start : span.end].rsplit(maxsplit=1)[-1] not in about]
    return without_overlaps(certain, [span for span in found if span.kind == "person"], found)


def _adjacent(words: _Words, at: int, text: str) -> bool:
    """Return True if only a space or the full stop of a title separates a word from the one before it."""
    return 0 < at < len(words) and text[words[at - 1].end() : words[at].start()] in {" ", ". ", "."}


def _following(words: _Words, text: str, cues: Cues, functions: frozenset[str]) -> Iterator[Span]:
    """Yield the names of a language whose nouns follow the name: "रामनगर शहर", "Ramnagar town"."""
    for at, match in enumerate(words):
        word = match[0]
        noun = _without_case(word, cues)
        kind = cues.kind_of(noun)
        if kind == "person":
            stop = at + 1
            while stop < at + 3 and _adjacent(words, stop, text) and not _is_common(words[stop][0], cues, functions):
                stop += 1
            if stop > at + 1:
                yield Span(words[at + 1].start(), _end_of_name(words[stop - 1], cues), "person")
        elif kind:
            first = _first_of_name(words, at, text, cues, functions)
            if first < at:
                end = words[at - 1].end() if kind == "town" else match.start() + len(noun)
                yield Span(words[first].start(), end, "location" if kind == "town" else kind)
        elif (cues.has("surname", noun) or cues.has("after", word)) and _adjacent(words, at, text) and not _is_common(
                words[at - 1][0], cues, functions):
            end = match.start() + len(noun) if cues.has("surname", noun) else words[at - 1].end()
            yield Span(words[at - 1].start(), end, "person")


def _first_of_name(words: _Words, at: int, text: str, cues: Cues, functions: frozenset[str]) -> int:
    """Return the index of the first word of the name before a noun; `at` if there is none."""
    first = at
    inflected = tuple(cues.others.get("inflected", ()))
    while _adjacent(words, first, text) and not _is_common(words[first - 1][0], cues, functions) and (
            not words[first - 1][0].endswith(inflected)):
        first -= 1
    if at - first > 1 and not (first == 0 and at <= _LONGEST_AT_START):
        first = at - 1
    return first


def _is_common(word: str, cues: Cues, functions: frozenset[str]) -> bool:
    return word in functions or cues.has("common", word) or bool(cues.kind_of(_without_case(word, cues)))


def _without_case(word: str, cues: Cues) -> str:
    """Return a cue without its case ending ("নদীর" is নদী), any other word unchanged."""
    forms = (word, *(word.removesuffix(ending) for ending in cues.cases))
    return next((form for form in forms if cues.kind_of(form) or cues.has("surname", form)), word)


def _end_of_name(match: re.Match[str], cues: Cues) -> int:
    return match.start() + len(_without_case(match[0], cues))


def _arabic(words: _Words, text: str, cues: Cues, functions: frozenset[str]) -> Iterator[Span]:
    """Yield Arabic names, which follow their nouns: "نهر السلسال"; a definite noun is followed by persons only."""
    for at, match in enumerate(words):
        word = match[0]
        kind = cues.kind_of(word)
        if not kind and word[0] in "وبلفك":
            word = word[1:]
            kind = cues.kind_of(word)
        start = match.end() - len(word)
        following = [words[n][0] if all(_adjacent(words, m, text) for m in range(at + 1, n + 1)) else ""
                     for n in (at + 1, at + 2, at + 3)]
        first, second, third = ("" if next_word in functions or cues.has("common", next_word) else next_word
                                for next_word in following)
        if not kind or not first or (kind == "person" and first.startswith(_ARTICLE)):
            continue
        stop = at + 2
        if kind == "person":
            stop += 1 + bool(third) if second in {"بن", "بنت", "ابن", "أبو", "عبد"} else bool(second) and (
                not second.startswith(_VERBAL))
        elif not first.startswith(_ARTICLE):
            if second.startswith(_ARTICLE) or (second and kind == "town" and not second.startswith(_VERBAL)):
                stop += 1
            elif first.endswith("ة") or kind != "town":
                continue  # an adjective: "a big city"
        begin = words[at + 1].start() if kind in {"person", "town"} else start
        yield Span(begin, words[min(stop, len(words)) - 1].end(), "location" if kind == "town" else kind)


def _japanese(text: str, cues: Cues) -> Iterator[Span]:
    """Yield Japanese names: what follows a role, what precedes a title, compounds with a noun, and foreign persons."""
    persons, compounds = _japanese_forms()
    for form in persons:
        yield from (Span(*match.span("name"), "person") for match in form.finditer(text)
                    if not match["name"].endswith(tuple(cues.others["after"])))
    for match in compounds.finditer(text):
        name = match[0].removesuffix(match["noun"])
        if len(name) > 1 and not name.startswith(tuple(cues.others["common"])) and name not in cues.others["common"]:
            kind = cues.nouns[match["noun"]]
            yield Span(*match.span(), "location" if kind == "town" else kind)


@cache
def _japanese_forms() -> tuple[list[re.Pattern[str]], re.Pattern[str]]:
    """Return the forms of persons' names, and that of the compounds that end in a noun for a place or body."""
    cues = cues_of("ja")

    def alternatives(words: Iterable[str]) -> str:
        return "|".join(sorted(words, key=lambda word: (-len(word), word)))

    roles = alternatives(word for word, kind in cues.nouns.items() if kind == "person")
    nouns = alternatives(word for word, kind in cues.nouns.items() if kind != "person")
    persons = (
        rf"(?:{roles})(?:の|だった|である|、)?(?P<name>{_HAN}{{2,6}}[\u3041-\u3096]{{0,4}}?)(?<=...)(?=[はがをにでともへ、。のや])",
        rf"(?P<name>{_HAN}{{2,5}}|{_KATAKANA}{{2,10}})(?:{alternatives(cues.others['after'])})(?!{_HAN})",
        rf"(?P<name>{_HAN}{{3,6}})が(?:{alternatives(cues.others['made'])})",
        rf"(?P<name>{_KATAKANA}{{2,12}}(?:[・＝]{_KATAKANA}{{2,12}}){{1,3}})")
    letter = rf"(?:{_HAN}|{_KATAKANA}|(?<={_HAN})[のが](?={_HAN}))"
    compound = rf"(?![年月日のが]){letter}{{1,12}}?(?P<noun>{nouns})(?!{_HAN})"
    return [re.compile(form) for form in persons], re.compile(compound)
