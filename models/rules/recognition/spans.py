"""Typed spans of texts: names with clean boundaries, dates and quantities.

spaCy's named-entity recogniser reads English and the languages of other installed pipelines, LAC reads Chinese, the
words of `name_cues.json` read further languages, and `text/quantities.py` reads dates and quantities. Lines that are
no sentences (headings, table rows, greetings, navigation) contain no names.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....text.languages import is_english, language_of
from ....text.quantities import find_values
from ....text.scripts import CJK
from ....text.sentences import split_sentences
from ...parsing.parser import Parser
from .cased_names import find_cased_names
from .chinese_spans import find_chinese_names
from .name_cues import load_cues
from .plain_lines import masked_parts
from .spelled_names import find_spelled_names, without_emphasis
from .typed_span import VALUES, Span, name_of, without_overlaps
from .uncased_names import UNCASED, find_uncased_names

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["VALUES", "Span", "cue_language", "find_spans", "name_of"]

_HAN = re.compile(f"[{CJK}]")
_LONGEST_CALLED = 12
"""The most characters of a Chinese title that the text repeats as a name."""
_HAN_SHARE = 0.15
"""The share of Han characters above which a sentence is read as Chinese."""


def cue_language(text: str, parser: Parser) -> str:
    """Return the language of a text whose names are found by the words of `name_cues.json`.

    It is "" for a text in English, in Chinese, in a language for which the parser has a recogniser, or in none that is
    known.
    """
    language = language_of(text)
    known = language in load_cues() and language not in parser.languages()
    return language if known and is_english(text) is False else ""


def find_spans(texts: Sequence[str], parser: Parser, titles: Sequence[str] = (),
               languages: Sequence[str] | None = None) -> list[list[Span]]:
    """Find the names, dates and quantities of texts.

    Args:
        texts: any texts; each is read separately, so its spans do not depend on the others. Several are recognised
            together, which is faster.
        parser: loads the pipelines of the texts' languages.
        titles: the subject of each text, if known; its occurrences in the text are names.
        languages: what `cue_language` returns for each, or for a longer text of which it is a part; by default each is
            asked.

    Returns:
        The spans of each text, ascending and without overlaps. A name may contain a line break only if a sentence is
        wrapped there; see `name_of`.
    """
    if languages is None:
        languages = [cue_language(text, parser) for text in texts]
    chinese = {text: _han_sentences(text) for text, own in zip(texts, languages, strict=True) if not own}
    spelled = [text for text, (_, others) in chinese.items() if others]
    docs = dict(zip(spelled, parser.entities(list(map(without_emphasis, spelled))), strict=True))
    return [_find_by_cues(text, title, own) if own else _find(text, docs.get(text), title, chinese[text][0])
            for text, title, own in zip(texts, titles or [""] * len(texts), languages, strict=True)]


def _han_sentences(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Return the places of Chinese sentences, and whether there are others."""
    sentences = split_sentences(text)
    han = [(start, end) for start, end in sentences
           if len(_HAN.findall(text, start, end)) > _HAN_SHARE * (end - start)]
    return han, len(han) < len(sentences)


def _values(text: str) -> list[Span]:
    return [Span(value.start, value.end, value.kind) for value in find_values(text)]


def _find_by_cues(text: str, title: str, language: str) -> list[Span]:
    masked = masked_parts(text)
    names = (find_uncased_names if language in UNCASED else find_cased_names)(text, language, title)
    return without_overlaps([span for span in names if all(
        span.end <= start or span.start >= end for start, end in masked)], _values(text))


def _find(text: str, doc: "Doc | None", title: str, han: list[tuple[int, int]]) -> list[Span]:
    """Return the spans of a text; `doc`: with its entities, None where all of its sentences are Chinese."""
    masked = masked_parts(text)
    spelled: list[Span] = []
    if doc is not None:
        spelled = [span for span in find_spelled_names(text, doc, [*han, *masked], title)
                   if not _HAN.search(text, span.start, span.end)]  # no name: "SIG组内成员讨论确定"
    chinese = [Span(*place) for place in find_chinese_names(text, han, masked)]
    called = [Span(found.start(), found.end(), "name") for found in re.finditer(re.escape(title), text)
              ] if _HAN.fullmatch(title[:1]) and len(title) <= _LONGEST_CALLED else []
    return without_overlaps(spelled, chinese, _values(text), called)
