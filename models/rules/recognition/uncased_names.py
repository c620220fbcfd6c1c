"""Names in languages without capital letters: by titles, surnames, nouns for places and bodies, and quotation marks.

The words of each language are in `name_cues.json`. Only what such a word introduces is a name, so most names that
occur alone are not found.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from ....text.languages import function_words
from ....text.sentences import split_sentences
from .name_cues import Cues, cues_of, occurrences
from .typed_span import Span, without_overlaps

UNCASED = frozenset({"hi", "bn", "ar", "ja", "ko"})
"""The languages that this module reads."""
_WORD = re.compile(r"[^\s\d।॥,.;:!?؟،؛\"“”‘’«»()\[\]{}|—–/*_#]+")
_QUOTED = re.compile(r"[«“‘\"「『]([^«»“”‘’\"「」『』\n।.؟!?。]{2,30})[»”’\"」』]")
_HAN = r"[\u3400-\u9fff々ヶ]"
_KATAKANA = r"[\u30a1-\u30fa\u30fc]"
_JAPANESE_NON_NAME = re.compile(r"[^A-Z\u30a1-\u30fa]*\Z|.*(?:ます|です|ました|でした|ません)\Z")
"""What Japanese quotation marks hold that is no name: common words and sentences."""
_ARABIC_ARTICLE = "ال"
_ARABIC_VERB_LETTERS = ("ي", "ت", "و")  # the first letters of Arabic verbs and of words joined by 'and'

_Words = Sequence[re.Match[str]]


def find_uncased_names(text: str, language: str, title: str) -> list[Span]:
    """Return the names of a text in a script without capitals, ascending and without overlaps."""
    cues = cues_of(language)
    certain = [*occurrences(text, title, cues), *(Span(*match.span(1), "name") for match in _QUOTED.finditer(text)
                                                  if language != "ja" or not _JAPANESE_NON_NAME.match(match[1]))]
    if language == "ja":
        return without_overlaps(certain, list(_japanese_names(text, cues)))
    find = _arabic_names if language == "ar" else _names_by_following_nouns
    found = [span for start, end in split_sentences(text)
             for span in find(list(_WORD.finditer(text, start, end)), text, cues, function_words(language))]
    return without_overlaps(certain, [span for span in found if span.kind == "person"], found)


def _words_after(words: _Words, at: int, most: int, text: str, common: Callable[[str], bool]) -> list[re.Match[str]]:
    """Return the words after the word at index `at` that may belong to one name."""
    name_words = list[re.Match[str]]()
    for before, word in pairwise(words[at : at + most + 1]):
        if text[before.end() : word.start()] not in {" ", ". ", "."} or common(word[0]):
            break
        name_words.append(word)
    return name_words


def _names_by_following_nouns(words: _Words, text: str, cues: Cues, functions: frozenset[str]) -> Iterator[Span]:
    """Yield the names of a sentence in a language whose nouns follow the name: "रामनगर शहर", "Ramnagar town"."""
    def is_common(word: str) -> bool:
        return word in functions or cues.has("common", word) or bool(cues.kind_of(_without_case(word, cues)))

    for at, match in enumerate(words):
        noun = _without_case(match[0], cues)
        kind = cues.kind_of(noun)
        before = words[at - 1] if at and not is_common(words[at - 1][0]) else None
        if kind == "person" and (named := _words_after(words, at, 2, text, is_common)):
            yield Span(named[0].start(), named[-1].start() + len(_without_case(named[-1][0], cues)), "person")
        elif kind == "town" and before:
            yield Span(before.start(), before.end(), "location")
        elif kind != "person" and before and (kind or cues.has("surname", noun)):
            yield Span(before.start(), match.start() + len(noun), kind or "person")
        elif before and cues.has("after", match[0]):
            yield Span(before.start(), before.end(), "person")


def _without_case(word: str, cues: Cues) -> str:
    """Return a noun or surname of the cues without its case ending (নদী for "নদীর"), and any other word unchanged."""
    forms = (word, *(word.removesuffix(ending) for ending in cues.cases))
    return next((form for form in forms if cues.kind_of(form) or cues.has("surname", form)), word)


def _arabic_names(words: _Words, text: str, cues: Cues, functions: frozenset[str]) -> Iterator[Span]:
    """Yield Arabic names, which follow their nouns ("نهر السلسال")."""
    for at, match in enumerate(words):
        kind = cues.kind_of(match[0])
        name_words = _words_after(words, at, 3, text, functions.__contains__) if kind else []
        first, second = (name_words[n][0] if n < len(name_words) else "" for n in (0, 1))
        is_definite = first.startswith(_ARABIC_ARTICLE)
        if not name_words or (kind == "person" and is_definite):
            continue
        may_be_verb = second.startswith(_ARABIC_VERB_LETTERS)
        if kind == "person":
            last = 2 if second in {"بن", "بنت", "ابن", "أبو", "عبد"} else int(not may_be_verb)
        else:
            continues = second.startswith(_ARABIC_ARTICLE) or (kind == "town" and not may_be_verb)
            last = int(continues and not is_definite)
        end = name_words[min(last, len(name_words) - 1)].end()
        if kind in {"person", "town"}:  # the noun does not belong to the name
            yield Span(name_words[0].start(), end, "location" if kind == "town" else "person")
        else:
            yield Span(match.start(), end, kind)


def _japanese_names(text: str, cues: Cues) -> Iterator[Span]:
    """Yield Japanese names: persons after a role or before a title, and compounds that end in a noun."""
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
    """Return the regular expressions of persons' names, and that of compounds with a noun for a place or body."""
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
