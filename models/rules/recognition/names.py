"""Names in questions, messages and sentences: by capital letters, LAC's tags for Chinese, and quotation marks.

Precision comes before recall: uncertain words are left to the content words.
"""

import re
from collections.abc import Iterator

from ....schemas.naming import canonical_name
from ....text.languages import function_words, language_of, phrase_language
from ....text.lexicon import ENGLISH_STOP, word_set
from .chinese_spans import find_chinese_names
from .name_kinds import CALENDAR

Place = tuple[int, int]

_QUOTED = re.compile(r"《([^《》]+)》|「([^「」]+)」|“([^“”]+)”|\"([^\"]+)\"|『([^『』]+)』")
_WORD = re.compile(r"[^\W_]+(?:[.&'’-][^\W_]+)*\.?")
_LINK_WORDS = word_set("of the de la le du des von van der den da di del y bin al ibn")
_NOT_NAMES = ENGLISH_STOP | CALENDAR | word_set("together after before during since until while although though "
                                                "because however between among both either each all some most many "
                                                "several such other another no yes one two three four five six seven "
                                                "eight nine ten compare describe explain list summarise summarize "
                                                "outline tell show give name count find today later earlier born "
                                                "according under over through when whether its his her their our my "
                                                "ceo cfo cto coo")
_SHORTEST_WITH_STOP = 2
"""The fewest letters of a word whose full stop ends a sentence; the full stop of an initial does not."""


def find_names(text: str) -> list[Place]:
    """Return the (start, end) of the names in a text, ascending and without overlaps and quotation marks."""
    places = [match.span(match.lastindex or 0) for match in _QUOTED.finditer(text)]
    if phrase_language(text) == "zh":
        places.extend((start, end) for start, end, _ in find_chinese_names(text, [(0, len(text))], []))
    language = language_of(text)
    runs = _capital_runs(text, frozenset() if language == "en" else function_words(language))
    # Every German noun has a capital, so a single word is no name there.
    places.extend(place for place in runs if language != "de" or " " in text[slice(*place)])
    names: list[Place] = []
    for start, end in places:
        if all(end <= other_start or start >= other_end for other_start, other_end in names):  # the first one counts
            names.append((start, end))
    return sorted(names)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a text in order, each once by its canonical form."""
    unique: dict[str, str] = {}
    for start, end in find_names(text):
        unique.setdefault(canonical_name(text[start:end]), text[start:end])
    return tuple(unique.values())


def _capital_runs(text: str, functions: frozenset[str]) -> Iterator[Place]:
    """Yield the (start, end) of runs of capitalised words, which may contain 'of', 'de' and similar words."""
    run: list[re.Match[str]] = []
    links: list[re.Match[str]] = []  # link words after the run, which belong to it if a capitalised word follows
    for match in _WORD.finditer(text):
        is_adjacent = bool(run) and text[(links or run)[-1].end() : match.start()].isspace()
        is_function_word = match[0].casefold() in functions
        if is_adjacent and match.group() in _LINK_WORDS:
            links.append(match)
        elif is_adjacent and not is_function_word and _may_be_name(match, opens=False):
            run, links = [*run, *links, match], []
        else:
            if run:
                yield run[0].start(), _end_of_name(run[-1])
            begins_run = not is_function_word and _may_be_name(match, opens=True)
            run, links = ([match] if begins_run else []), []
    if run:
        yield run[0].start(), _end_of_name(run[-1])


def _may_be_name(match: re.Match[str], *, opens: bool) -> bool:
    """Return True if a word begins or continues a name; numerals can only continue one ('Apollo 11', 'Louis XIV')."""
    word = match.group()
    if word.isdigit():
        return not opens and len(word) < 4  # noqa: PLR2004 - four digits are a year
    return any(letter.isupper() for letter in word[:2]) and word.rstrip(".").casefold() not in _NOT_NAMES


def _end_of_name(last: re.Match[str]) -> int:
    """Return the end of a name by its last word, without a genitive and without the full stop of the sentence."""
    word, end = last.group(), last.end()
    if word.endswith(("'s", "’s")):
        return end - 2
    return end - 1 if word.endswith(".") and len(word) > _SHORTEST_WITH_STOP else end
