"""Names in languages with capital letters for which no recogniser is installed: runs of capitals and words around them.

The words of each language are in `name_cues.json`. A run of capitals is a name; a noun before or in it, a title, or a
preposition of place gives its kind. German nouns have capitals too, so a German name also needs a noun or a title, the
given name of a person, or the name or the ending of a known place.
"""

import re
from collections.abc import Iterator, Sequence

from ....text.languages import function_words
from ....text.sentences import split_sentences
from .name_cues import Cues, cues_of, occurrences
from .typed_span import Span, without_overlaps

_WORD = re.compile(r"[dlDL]['’](?=[^\W\d_])|[^\W\d_]+(?:[-’'][^\W\d_]+)*+")
_SEPARATING_MARK = re.compile(r"[,;:()\n»\d€]")
_OPENING = re.compile(r"[.:*#\]–-]\s*$")
"""What stands before a word that has a capital because something begins with it: "Art. 6 - Ämter"."""
_MOST_WORDS_BETWEEN = 4
"""The most words in lower case between a noun and the name that it introduces: "fábrica de sombreros Aznarte"."""
_LONGEST_PERSON = 3
"""The most words of a person's name that is known by its first word."""

_Words = Sequence[re.Match[str]]


def find_cased_names(text: str, language: str, title: str) -> list[Span]:
    """Return the names of a text in a script with capitals, ascending and without overlaps; "name" is no known kind."""
    cues = cues_of(language)
    runs = ((words, first, stop) for start, end in split_sentences(text)
            for words in [list(_WORD.finditer(text, start, end))] for first, stop in _runs(words, text, language, cues))
    found = filter(None, (_name_with_kind(*run, text, language, cues) for run in runs))
    return without_overlaps(occurrences(text, title, cues), list(found))


def _runs(words: _Words, text: str, language: str, cues: Cues) -> Iterator[tuple[int, int]]:
    """Yield the runs of capitalised words of a sentence, with links such as 'de la' inside."""
    def is_capitalised(word: str) -> bool:
        return word[0].isupper() and word.casefold() not in function_words(language)

    first = 0
    while first < len(words):
        opens_sentence = first == 0 or _OPENING.search(text, words[first - 1].end(), words[first].start()) is not None
        stop = ahead = first + 1
        if not is_capitalised(words[first][0]):
            first += 1
            continue
        may_have_links = language != "de" or cues.kind_of(words[first][0]) not in {"", "person"}
        while ahead < len(words) and text[words[ahead - 1].end() : words[ahead].start()] in {" ", "\n", ""}:
            following = words[ahead][0]
            if is_capitalised(following):
                stop = ahead + 1
            elif not may_have_links or not (cues.has("of", following) or cues.has("link", following)):
                break
            ahead += 1
        if stop - first > 1 or not opens_sentence or cues.kind_of(words[first][0]):
            yield first, stop
        first = stop


def _name_with_kind(words: _Words, first: int, stop: int, text: str, language: str, cues: Cues) -> Span | None:
    """Return the name in a run of capitalised words with its kind, or None if the run is no name."""
    while stop - first > 1 and cues.kind_of(words[first][0]) in {"person", "town"}:
        first += 1
    begin, end = words[first].start(), words[stop - 1].end()
    first_word_kind, is_single = cues.kind_of(words[first][0]), stop - first == 1
    word_before = words[first - 1][0] if first else ""
    if first_word_kind and first_word_kind not in {"person", "town"}:
        # "Nordsee" is a name by itself; "Universität" and "ein Bergsee" are not.
        is_compound = words[first][0].casefold() not in cues.nouns and not (first and cues.has("a", word_before))
        is_common_noun = language == "de" and first_word_kind != "location"  # "der Verein", "Werkbank"
        return None if is_single and (is_common_noun or not is_compound) else Span(begin, end, first_word_kind)
    for distance in range(1, min(first, _MOST_WORDS_BETWEEN) + 1):
        noun = words[first - distance]
        between = text[noun.end() : begin]
        kind = cues.kind_of(noun[0])
        is_other_name = noun[0][0].isupper() and not kind
        if _SEPARATING_MARK.search(between) or is_other_name:
            break
        if kind == "person" and distance == 1:
            return Span(begin, end, "person")
        links = [cues.has("of", word) or cues.has("link", word) for word in between.split()]
        is_linked = distance == 1 or (all(links) if language == "de" else any(links))
        is_indefinite = first > distance and cues.has("a", words[first - distance - 1][0])
        if kind and kind != "person" and is_linked and not is_indefinite:
            excludes_noun = kind == "town" or between.strip() in {*"«„“\""}  # the plant «Lebed»
            return Span(begin if excludes_noun else noun.start(), end, "location" if kind == "town" else kind)
    return _name_by_itself(words, first, stop, text, language, cues)


def _name_by_itself(words: _Words, first: int, stop: int, text: str, language: str, cues: Cues) -> Span | None:
    """Return the name in a run that no noun or title introduces, by a given name in it or the word before it."""
    begin, end, is_single = words[first].start(), words[stop - 1].end(), stop - first == 1
    word_before = words[first - 1][0] if first else ""
    given = next((word for word in words[max(first, stop - _LONGEST_PERSON) : stop - 1]
                  if cues.has("given", word[0].partition("-")[0])), None)
    if given:
        return Span(given.start(), end, "person")
    is_place = cues.has("at", word_before)
    if language == "de":  # its nouns have capitals
        is_place = is_place and is_single and cues.has("place", words[first][0])
    elif is_single:
        is_place = is_place or cues.has("to", word_before) or cues.has("of", word_before)
    has_given_names = "given" in cues.others
    is_no_name = language == "de" or (has_given_names and is_single and text[begin:end].istitle())
    kind = "location" if is_place else "" if is_no_name else "name" if has_given_names or is_single else "person"
    return Span(begin, end, kind) if kind else None
