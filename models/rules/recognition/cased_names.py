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
_QUOTED = re.compile(r"[«“„\"]([^«»“”„\"\n]{2,60})[»”“\"]")
_LISTED = re.compile(r", | (?:y|e|et|und|en|и) (?:[^\W\d_]{1,5} ){0,2}")
_APART = re.compile(r"[,;:()\n]")
_NUMERAL = re.compile(r"[IVXLCDM]{1,8}")
_OPENING = frozenset({"—", "–", ":", "«", "„", "“", '"', "¿", "¡"})
_ADJECTIVE = re.compile(r".*e[nrsm]?")
"""German words with these endings begin a sentence as adjectives do: "Jeden Dienstag"."""
_LONGEST_QUOTED = 5
_BETWEEN = 4
"""The most words in lower case between a noun and the name that it introduces: "fábrica de sombreros Aznarte"."""

_Words = Sequence[re.Match[str]]


def find_cased_names(text: str, language: str, title: str) -> list[Span]:
    """Find the names of a text in a script with capitals.

    Args:
        text: the text.
        language: its language, one of `name_cues.json`.
        title: the subject of the text, or "".

    Returns:
        The names, ascending and without overlaps; those that nothing gives a kind are of the kind "name".
    """
    cues, found = cues_of(language), list[Span]()
    for start, end in split_sentences(text):
        words = list(_WORD.finditer(text, start, end))
        for first, stop in _runs(words, text, language, cues):
            span = _give_kind(words, first, stop, text, language, cues)
            if span is not None and (not found or found[-1].end <= span.start):
                joined = bool(found) and _LISTED.fullmatch(text, found[-1].end, span.start)
                kind = found[-1].kind if joined and span.kind == "name" else span.kind
                found.append(Span(span.start, span.end, kind))
    return without_overlaps(occurrences(text, title, cues), _find_quoted(text, cues), found)


def _runs(words: _Words, text: str, language: str, cues: Cues) -> Iterator[tuple[int, int]]:
    """Yield the runs of capitalised words, as indices of words, with links such as 'de la' inside."""
    at = 0
    while at < len(words):
        word = words[at][0]
        opens = at == 0 or text[words[at - 1].end() : words[at].start()].strip() in _OPENING
        if not _may_begin(word, language, cues, opens=opens):
            at += 1
            continue
        stop = ahead = at + 1
        linked = language != "de" or bool(cues.kind_of(word))
        while ahead < len(words) and text[words[ahead - 1].end() : words[ahead].start()] in {" ", "\n", ""}:
            following = words[ahead][0]
            if following[0].isupper() and following.casefold() not in function_words(language):
                stop = ahead + 1
            elif not linked or not (cues.has("of", following) or cues.has("link", following)):
                break
            ahead += 1
        if stop - at > 1 or not opens or cues.kind_of(word):
            yield at, stop
        at = stop


def _may_begin(word: str, language: str, cues: Cues, *, opens: bool) -> bool:
    """Return True if a word may begin a name; one that `opens` a sentence or a quotation has a capital for that."""
    if not word[0].isupper() or len(word) < 2 or _NUMERAL.fullmatch(word):  # noqa: PLR2004
        return False
    if cues.kind_of(word):
        return True
    adjective = opens and language == "de" and _ADJECTIVE.fullmatch(word)
    article = not opens and (cues.has("link", word) and language != "de")  # "La Huerta"
    return not adjective and (article or word.casefold() not in function_words(language))


def _give_kind(words: _Words, first: int, stop: int, text: str, language: str, cues: Cues) -> Span | None:
    """Return the name of a run with its kind, without a title and with the noun before it; None if it is none."""
    while stop - first > 1 and cues.kind_of(words[first][0]) in {"person", "town"}:
        first += 1
    begin, end = words[first].start(), words[stop - 1].end()
    own = cues.kind_of(words[first][0])
    if own and own not in {"person", "town"}:
        compound = language == "de" and words[first][0].casefold() not in cues.nouns
        alone = stop - first == 1 and (not compound or (first > 0 and cues.has("a", words[first - 1][0])))
        return None if alone else Span(begin, end, own)
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
            return Span(begin, end, "location") if kind == "town" else Span(before.start(), end, kind)
    return _kind_by_place(words, first, stop, text, language, cues)


def _kind_by_place(words: _Words, first: int, stop: int, text: str, language: str, cues: Cues) -> Span | None:
    """Return the name of a run that no noun introduces, with the kind by a definition, its position or its length."""
    begin, end = words[first].start(), words[stop - 1].end()
    defined = words[stop : stop + 3]
    if defined and cues.has("is", defined[0][0]) and any(cues.has("a", word[0]) for word in defined[1:2]):
        kind = next(filter(None, (cues.kind_of(word[0]) for word in defined[2:])), "name")
        return Span(begin, end, "location" if kind == "town" else kind)
    near = first > 0 and text[words[first - 1].end() : begin].isspace()
    before = words[first - 1][0] if near else ""
    single = stop - first == 1
    if language == "de" and single and not (cues.has("at", before) and not cues.has("common", words[first][0])):
        return None
    if cues.has("at", before) or (single and (cues.has("to", before) or cues.has("of", before))):
        return Span(begin, end, "location")
    capitals = all(word[0][0].isupper() for word in words[first:stop])
    quoted = text[begin - 1 : begin] in _OPENING
    return Span(begin, end, "person" if capitals and not single and not quoted else "name")


def _find_quoted(text: str, cues: Cues) -> list[Span]:
    """Return the names in quotation marks, with the kind of the noun before them: a club «Полярник»."""
    found = []
    for match in _QUOTED.finditer(text):
        before = text[max(0, match.start() - 30) : match.start()].split()
        short = len(match[1].split()) <= _LONGEST_QUOTED and not match[1].endswith((".", "!", "?", ","))
        if short and (match[1][0].isupper() or not match[1][0].islower()):
            found.append(Span(match.start(1), match.end(1), cues.kind_of(before[-1]) if before else "name"))
    return [span if span.kind not in {"", "person", "town"} else Span(span.start, span.end, "name") for span in found]
