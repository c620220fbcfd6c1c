"""Typed spans of texts: names with clean boundaries, dates and quantities.

spaCy's named-entity recogniser reads English and the languages of other installed pipelines, LAC reads Chinese, the
words of `name_cues.json` read further languages, and `text/quantities.py` reads dates and quantities. Lines that are
no sentences (headings, table rows, greetings, navigation) contain no names.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....text.languages import is_english, language_of, likely_language
from ....text.quantities import find_values
from ....text.scripts import CJK
from ....text.sentences import split_sentences
from ...parsing.parser import Parser
from .cased_names import find_cased_names
from .chinese_spans import find_chinese_names, is_outside
from .name_cues import load_cues
from .plain_lines import masked_parts
from .spelled_names import find_spelled_names, without_emphasis
from .typed_span import VALUES, Span, name_of, without_overlaps
from .uncased_names import UNCASED, find_uncased_names

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["VALUES", "Span", "cue_language", "find_spans", "name_of"]

_HAN = re.compile(f"[{CJK}]")
_LONGEST_REPEATED_TITLE = 12  # the most characters of a Chinese title whose repetitions in the text are names
_HAN_SHARE = 0.15  # the share of Han characters above which a sentence is read as Chinese


def cue_language(text: str, parser: Parser, above: str = "") -> str:
    """Return the language of a text whose names are found by the words of `name_cues.json`.

    It is "" for all other texts: in English, in Chinese, in a language for which the parser has a recogniser, and in
    an unknown language. A list or a table of names has no language of its own: it is that of the titles `above` it.
    """
    english = is_english(text)
    language = likely_language(f"{above}\n{text}") if english is None and above else language_of(text)
    needs_cues = language in load_cues() and language not in parser.languages()
    return language if needs_cues and (english is False or (english is None and above)) else ""


def find_spans(texts: Sequence[str], parser: Parser, titles: Sequence[str] = (),
               languages: Sequence[str] | None = None) -> list[list[Span]]:
    """Return the names, dates and quantities of each text, ascending and without overlaps.

    The texts go through the recogniser in one batch, which is faster, but the spans of a text do not depend on others.

    Args:
        texts: any texts.
        parser: loads the pipelines of the texts' languages.
        titles: the subject of each text, if known; its occurrences in the text are names.
        languages: what `cue_language` returns for each text (the default), or for a longer text that it is a part of.
    """
    if languages is None:
        languages = [cue_language(text, parser) for text in texts]
    chinese = {text: _han_sentences(text) for text, language in zip(texts, languages, strict=True) if not language}
    for_recogniser = [text for text, (_, has_other_sentences) in chinese.items() if has_other_sentences]
    docs = dict(zip(for_recogniser, parser.entities(list(map(without_emphasis, for_recogniser))), strict=True))
    return [_find_by_cues(text, title, language) if language
            else _find_by_recogniser(text, docs.get(text), title, chinese[text][0])
            for text, title, language in zip(texts, titles or [""] * len(texts), languages, strict=True)]


def _han_sentences(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Return the places of the Chinese sentences of a text, and whether it has other sentences."""
    sentences = split_sentences(text)
    han = [(start, end) for start, end in sentences
           if len(_HAN.findall(text, start, end)) > _HAN_SHARE * (end - start)]
    return han, len(han) < len(sentences)


def _dates_and_numbers(text: str) -> list[Span]:
    return [Span(value.start, value.end, value.kind) for value in find_values(text)]


def _find_by_cues(text: str, title: str, language: str) -> list[Span]:
    """Return the spans of a text whose names are found by the words of `name_cues.json`."""
    masked = masked_parts(text)
    names = (find_uncased_names if language in UNCASED else find_cased_names)(text, language, title)
    return without_overlaps([span for span in names if all(
        span.end <= start or span.start >= end for start, end in masked)], _dates_and_numbers(text))


def _find_by_recogniser(text: str, doc: "Doc | None", title: str, han: list[tuple[int, int]]) -> list[Span]:
    """Return the spans of a text in English, in Chinese, or in another language with a recogniser."""
    masked = masked_parts(text)
    spelled: list[Span] = []
    if doc is not None:
        spelled = [span for span in find_spelled_names(text, doc, [*han, *masked], title)
                   if not _HAN.search(text, span.start, span.end)]  # no name: "SIG组内成员讨论确定"
    chinese = [Span(*place) for place in find_chinese_names(without_emphasis(text), han, masked)]
    title_places: list[Span] = []
    if _HAN.fullmatch(title[:1]) and len(title) <= _LONGEST_REPEATED_TITLE:
        title_places = [Span(match.start(), match.end(), "name") for match in re.finditer(re.escape(title), text)]
    if sum(is_outside((span.start, span.end, ""), masked) for span in title_places) < 2:  # noqa: PLR2004
        title_places = []  # the text does not speak of its title: 历史文化
    return without_overlaps(spelled, chinese, _dates_and_numbers(text), title_places)
