"""Typed spans of texts: names with clean boundaries, dates and quantities.

spaCy's named-entity recogniser reads English and the languages of other installed pipelines, LAC reads Chinese, and
`text/quantities.py` reads dates and quantities.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....text.quantities import find_values
from ....text.scripts import CJK, language_of, script_of
from ....text.sentences import split_sentences
from ...parsing.parser import Parser
from .name_kinds import Span, without_emphasis, without_overlaps
from .names import find_chinese_names
from .spelled_names import find_spelled_names

if TYPE_CHECKING:
    from spacy.tokens import Doc

_HAN = re.compile(f"[{CJK}]")
_HAN_SHARE = 0.15  # the share of Han characters above which a sentence is read as Chinese
_FENCED = re.compile(r"^ {0,3}(?P<fence>```|~~~).*?(?:^ {0,3}(?P=fence)|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(?P<marks>`{1,2})(?!`)[^`\n]{1,200}(?P=marks)(?!`)")  # words of a program in a sentence
_ADDRESS = re.compile(r"https?://\S{1,500}|www\.\S{1,500}|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")
_TAG = re.compile(r"<[^<>\n]{1,300}>")
_ENTRY = re.compile(r"^[^\n]{2,100}?[ ,.]\d{1,3}(?:(?:, ?|[-–])\d{1,3}){0,20}[.,;]?$", re.MULTILINE)
"""A line that ends in numbers of pages, as the entries of an index or a table of contents do."""
_FEWEST_ENTRIES, _SHARE_OF_ENTRIES = 4, 0.3
"""How many entries a part of an index has at least, and their share of its lines, of which some are blank."""
_AUTHOR = r"[A-Z][\w’'-]{0,30}(?:\s[A-Z][\w’'-]{1,30}){0,3}"  # "Lee", or a body such as "R Core Team"
_CITED = rf"{_AUTHOR}(?:(?:,?\s(?:and|&)\s|,\s){_AUTHOR}){{0,4}}(?:\set\sal\.?)?"
_CITATION = re.compile(rf"[A-Z][\w’'-]{{1,30}}\set\sal\b|"
                       rf"[(;]\s?(?:e\.g\.,?\s|see\s)?{_CITED},?\s(?:19|20)\d\d[a-z]?(?=[,;)])|"
                       r"\b[A-Z][\w’'-]{1,30}(?:\s(?:and|&)\s[A-Z][\w’'-]{1,30})?\s\((?:19|20)\d\d[a-z]?\)")
"""The authors that a text cites: "Lee et al.", "(Lee and Blum, 2004)", "Lee (2004)"."""


def find_spans(texts: Sequence[str], parser: Parser, titles: Sequence[str] = ()) -> list[list[Span]]:
    """Return the names, dates and quantities of each text, ascending and without overlaps.

    The texts go through the recogniser in one batch, which is faster, but the spans of a text do not depend on others.
    Only a pipeline of its own language reads a text that is neither Chinese nor in Latin script. `titles` are the
    subjects of the texts, if known; their occurrences in the text are names.
    """
    han_sentences: dict[str, list[tuple[int, int]]] = {}
    spelled = list[str]()  # texts with sentences in other scripts
    for text in dict.fromkeys(texts):
        sentences, language = split_sentences(text), language_of(text)
        has_other_han = language in {"ja", "ko"}  # whose Han letters are no Chinese
        han_sentences[text] = [] if has_other_han else [
            (start, end) for start, end in sentences
            if len(_HAN.findall(text, start, end)) > _HAN_SHARE * (end - start)]
        has_pipeline = script_of(text) == "latin" or language in {"", "zh", *parser.languages()}
        has_other_sentences = has_other_han or len(han_sentences[text]) < len(sentences)
        if has_pipeline and has_other_sentences:
            spelled.append(text)
    prose = [without_emphasis(_FENCED.sub(_blank_code, text)) for text in spelled]
    docs = dict(zip(spelled, parser.entities(prose), strict=True))
    return [_spans_of(text, docs.get(text), title, han_sentences[text])
            for text, title in zip(texts, titles or [""] * len(texts), strict=True)]


def _blank_code(fenced: re.Match[str]) -> str:
    """Return a block of code with blanks between its fences: its names are hidden, and recognition takes long."""
    block = fenced[0]
    start, end = block.find("\n") + 1, block.rfind("\n")
    return f"{block[:start]}{' ' * (end - start)}{block[end:]}" if 0 < start < end else block


def _spans_of(text: str, doc: "Doc | None", title: str, han: list[tuple[int, int]]) -> list[Span]:
    """Return the spans of a text; `doc` has the recogniser's entities, `han` the places of Chinese sentences."""
    # Addresses, tags, code, citations and entries of an index are not searched for names.
    masked = [match.span() for form in (_ADDRESS, _TAG, _FENCED, _INLINE, _CITATION) for match in form.finditer(text)]
    entries = [match.span() for match in _ENTRY.finditer(text)]
    is_index = len(entries) >= max(_FEWEST_ENTRIES, _SHARE_OF_ENTRIES * len(text.split("\n")))
    masked += entries if is_index else []
    spelled: list[Span] = []
    if doc is not None:
        spelled = find_spelled_names(text, doc, [*han, *masked], title)
    if han:  # beside Chinese, a name with Han letters is none: "SIG组内成员讨论确定"
        spelled = [span for span in spelled if not _HAN.search(text, span.start, span.end)]
    chinese = [Span(*place) for place in find_chinese_names(without_emphasis(text), han, masked)]
    values = [Span(value.start, value.end, value.kind) for value in find_values(text)]
    return without_overlaps(spelled, chinese, values)

