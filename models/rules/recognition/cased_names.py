"""Names in languages with capital letters for which no recogniser is installed: runs of capitals and words around them.

The words of each language are in `name_cues.json`. A run of capitals is a name; a noun before or in it, a title, or a
preposition of place gives its kind. German, whose nouns have capitals too, needs one of these or two adjacent words.
"""

import re
from collections.abc import Iterator, Sequence

from ....text.languages import function_words
from ....text.sentences import split_sentences
from .name_cues import Cues, cues_of, occurrences
from .typed_span import Span, without_overlaps

_WORD = re.compile(r"[dlDL]['’](?=[^\W\d_])|[^\W\d_]+(?:[-’'][^\W\d_]+)*+")
_APART = re.compile(r"[,;:()\n»]")
_QUOTES = frozenset("«„“\"")
_ADJECTIVE = re.compile(r".*e[nrsm]?")
"""German words with these endings begin a sentence as adjectives do: "Jeden Dienstag"."""
_BETWEEN = 4
"""The most words in lower case between a noun and the name that it introduces: "fábrica de sombreros Aznarte"."""

_Words = Sequence[re.Match[str]]


def find_cased_names(text: str, language: str, title: str) -> list[Span]:
    """Find the names of a text in a script with capitals.

    Returns:
        The names, ascending and without overlaps; those that nothing gives a kind are of the kind "name".
    """
    cues = cues_of(language)
    runs = ((words, first, stop) for start, end in split_sentences(text)
            for words in [list(_WORD.finditer(text, start, end))] for first, stop in _runs(words, text, language, cues))
    found = filter(None, (_give_kind(*run, text, language, cues) for run in runs))
    return without_overlaps(occurrences(text, title, cues), list(found))


def _runs(words: _Words, text: str, language: str, cues: Cues) -> Iterator[tuple[int, int]]:
    """Yield the runs of capitalised words, as indices of words, with links such as 'de la' inside.

    A word that opens a sentence has a capital for that: alone it is a name only as a noun for names.
    """
    def is_cased(word: str) -> bool:
        return word[0].isupper() and word.casefold() not in function_words(language)

    at = 0
    while at < len(words):
        opens, stop, ahead = at == 0, at + 1, at + 1
        if not is_cased(words[at][0]) or (opens and language == "de" and _ADJECTIVE.fullmatch(words[at][0])):
            at += 1
            continue
        is_linked = language != "de" or bool(cues.kind_of(words[at][0]))
        while ahead < len(words) and text[words[ahead - 1].end() : words[ahead].start()] in {" ", "\n", ""}:
            following = words[ahead][0]
            if is_cased(following):
                stop = ahead + 1
            elif not is_linked or not (cues.has("of", following) or cues.has("link", following)):
                break
            ahead += 1
        if stop - at > 1 or not opens or cues.kind_of(words[at][0]):
            yield at, stop
        at = stop


def _give_kind(words: _Words, first: int, stop: int, text: str, language: str, cues: Cues) -> Span | None:
    """Return the name of a run with its kind, without a title and with the noun before it; None if it is none."""
    while stop - first > 1 and cues.kind_of(words[first][0]) in {"person", "town"}:
        first += 1
    begin, end = words[first].start(), words[stop - 1].end()
    own, single = cues.kind_of(words[first][0]), stop - first == 1
    if own and own not in {"person", "town"}:
        compound = words[first][0].casefold() not in cues.nouns and not (first and cues.has("a", words[first - 1][0]))
        return None if single and not compound else Span(begin, end, own)
    for back in range(1, min(first, _BETWEEN) + 1):
        before = words[first - back]
        between = text[before.end() : begin]
        kind = cues.kind_of(before[0])
        if _APART.search(between) or (before[0][0].isupper() and not kind):
            break
        if kind == "person" and back == 1:
            return Span(begin, end, "person")
        linked = back == 1 or any(cues.has("of", word) or cues.has("link", word) for word in between.split())
        a_kind = first > back and cues.has("a", words[first - back - 1][0])
        if kind and kind != "person" and linked and not a_kind:
            named_alone = kind == "town" or between.strip() in _QUOTES  # the plant «Lebed»
            return Span(begin if named_alone else before.start(), end, "location" if kind == "town" else kind)
    before_it = words[first - 1][0] if first else ""
    if language == "de" and single and not (cues.has("at", before_it) and not cues.has("common", words[first][0])):
        return None  # German nouns have capitals
    if cues.has("at", before_it) or (single and (cues.has("to", before_it) or cues.has("of", before_it))):
        return Span(begin, end, "location")
    return Span(begin, end, "name" if single else "person")
