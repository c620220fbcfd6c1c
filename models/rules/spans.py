"""Typed spans of texts: names with clean boundaries, dates and quantities.

spaCy's named-entity recogniser reads English and other scripts, LAC reads Chinese, and `text/values.py` reads dates and
quantities. Lines that are not sentences (headings, table rows, greetings, navigation) contain no names.
"""

import re
from collections.abc import Sequence

from ...text.scripts import CJK
from ...text.sentences import split_sentences
from ...text.values import find_values
from ..parsing.parser import Parser
from .chinese_spans import find_chinese_names
from .plain_lines import masked_parts
from .spelled_names import find_spelled_names
from .typed_span import VALUES, Span, name_of, without_overlaps

__all__ = ["VALUES", "Span", "find_spans", "name_of"]

_HAN = re.compile(f"[{CJK}]")
_HAN_SHARE = 0.15
"""The share of Han characters above which a sentence is read as Chinese."""


def find_spans(texts: Sequence[str], parser: Parser, titles: Sequence[str] = ()) -> list[list[Span]]:
    """Find the names, dates and quantities of texts.

    Args:
        texts: any texts; each is read separately, so its spans do not depend on the others.
        parser: loads the pipelines of the texts' languages.
        titles: the subject of each text, if known; its occurrences in the text are names.

    Returns:
        The spans of each text, ascending and without overlaps. A name may contain a line break only if a sentence is
        wrapped there; see `name_of`.
    """
    return [_find(text, parser, titles[number] if titles else "") for number, text in enumerate(texts)]


def _find(text: str, parser: Parser, title: str) -> list[Span]:
    sentences = split_sentences(text)
    han = [(start, end) for start, end in sentences
           if len(_HAN.findall(text, start, end)) > _HAN_SHARE * (end - start)]
    masked = masked_parts(text)
    spelled: list[Span] = []
    if len(han) < len(sentences):
        spelled = find_spelled_names(text, parser, [*han, *masked], title)
    chinese = [Span(*place) for place in find_chinese_names(text, han, masked)]
    values = [Span(value.start, value.end, value.kind) for value in find_values(text)]
    return without_overlaps(spelled, chinese, values)
