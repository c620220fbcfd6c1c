"""Typed spans of texts: names with clean boundaries, dates and quantities.

English and other scripts are read by spaCy's named-entity recogniser, Chinese by LAC, dates and quantities by
`text/values.py`. Lines that are no sentences (headings, table rows, greetings, navigation) hold no names.
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
"""Of a sentence's characters: with more of them in Han script it is read as Chinese."""


def find_spans(texts: Sequence[str], parser: Parser, titles: Sequence[str] = ()) -> list[list[Span]]:
    """Find the names, dates and quantities of texts.

    Args:
        texts: any texts; each is read by itself, so its spans do not depend on the others.
        parser: loads the pipelines of the texts' languages.
        titles: what each text is about, if that is known: where the text says it, it is a name.

    Returns:
        For each text its spans, ascending and without overlaps. A name may run over a line break only where a
        sentence is wrapped there; see `name_of`.
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
