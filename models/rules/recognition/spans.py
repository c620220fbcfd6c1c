"""Typed spans of texts: names with clean boundaries, dates and quantities.

spaCy's named-entity recogniser reads English and the languages of other installed pipelines, LAC reads Chinese, and
`text/quantities.py` reads dates and quantities. Lines that are no sentences (headings, table rows, greetings,
navigation) contain no names.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ....text.languages import language_of
from ....text.lexicon import word_set
from ....text.quantities import find_values
from ....text.scripts import CJK, script_of
from ....text.sentences import split_sentences
from ...parsing.parser import Parser
from .chinese_spans import find_chinese_names, is_outside
from .name_kinds import VALUES, Span, name_of, without_overlaps
from .spelled_names import find_spelled_names, without_emphasis

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["VALUES", "Span", "find_spans", "name_of"]

_HAN = re.compile(f"[{CJK}]")
_LONGEST_REPEATED_TITLE = 12  # the most characters of a Chinese title whose repetitions in the text are names
_HAN_SHARE = 0.15  # the share of Han characters above which a sentence is read as Chinese
_LINE = re.compile(r"^[^\n]+$", re.MULTILINE)
_TABLE_ROW = re.compile(r"[ \t]{0,20}\|")
_UNNAMED_CELLS = re.compile(r"Column \d{1,4}: ")  # cells of a sheet without headers
_FENCED = re.compile(r"^ {0,3}(?P<fence>```|~~~).*?(?:^ {0,3}(?P=fence)|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(?P<marks>`{1,2})(?!`)[^`\n]{1,200}(?P=marks)(?!`)")  # words of a program in a sentence
_CODE = re.compile(r"[;{}]\s*$|[=!<>:+-]=|=>|->|&&|[a-z_]\((?!e?s\))[\w, ]*\)|^\s*[\w.\[\]]{1,60}(?:: ?\w{1,40})? = |"
                   r"^\s*(?:def|class|return|import|const|let|var|function|fn|struct|#include|//|/\*)(?!\w)")
"""What a line of a program has, and a sentence has not."""
_SYMBOL_WORD = re.compile(r"[A-Z]+|[^\W\d]*\d\w*")  # a word of assembler, a constant or a number
_SYMBOL_SHARE = 0.8  # a line with a larger share of such words is no sentence
_HEADING = re.compile(r"[ \t]{0,20}(?:#{1,6}[ \t]|[=~_*-]{3,80}[ \t]{0,20}$|</?\w{1,20}[^>\n]{0,300}>)")
_GREETING = re.compile(
    r"[ \t]{0,20}(?:(?:dear|hi|hello|hey)\b[^.\n]{0,60}[,!:]?$|(?:good (?:morning|afternoon|evening))\b[^.\n]{0,60}$"
    r"|(?:(?:with )?(?:best|kind|warm|kindest|warmest)(?: regards| wishes)?|regards|sincerely|yours (?:\w{1,12})|"
    r"cheers|thanks|thank you|many thanks|all the best|respectfully|cordially|see you)\b[^.\n]{0,40}[,!]?$)",
    re.IGNORECASE)
_BAR_SEPARATOR = re.compile(r" [|»›•·>] ")
_MENU_WORDS = word_set("home login logout contact contacts about products services imprint privacy search menu sitemap "
                       "careers blog news help support faq skip back next previous")
_ADDRESS = re.compile(r"https?://\S{1,500}|www\.\S{1,500}|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")
_TAG = re.compile(r"<[^<>\n]{1,300}>")
_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
_LONGEST_HEADING = 10
_LONGEST_BAR = 12
_INITIALED = re.compile(r"\b(?:[A-Z][\w’'-]{1,20},? (?:[A-Z]\.?-?\s?){1,3}(?=[,;:&(]| and\b| et al)|"
                        r"(?:[A-Z]\.[ -]?){1,3} ?[A-Z][\w’'-]{1,20}(?=[,;]| and\b| et al))")
"""An author with initials, as lists of references have them: "Curie, M.,", "M. Curie and"."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CITED = r"[A-Z][\w’'-]{1,30}(?:(?:,? (?:and|&) |, )[A-Z][\w’'-]{1,30}){0,4}(?: et al\.?)?"
_CITATION = re.compile(rf"[A-Z][\w’'-]{{1,30}} et al\b|"
                       rf"[(;] ?(?:e\.g\.,? |see )?{_CITED},? (?:19|20)\d\d[a-z]?(?=[,;)])|"
                       r"\b[A-Z][\w’'-]{1,30}(?: (?:and|&) [A-Z][\w’'-]{1,30})? \((?:19|20)\d\d[a-z]?\)")
"""The authors that a text cites: "Lee et al.", "(Lee and Blum, 2004)", "Lee (2004)"."""
_LEAST_AUTHORS, _LONGEST_ENTRY = 4, 250
"""How many authors with initials make a list of references, and how far apart they are at most, in characters."""


def find_spans(texts: Sequence[str], parser: Parser, titles: Sequence[str] = ()) -> list[list[Span]]:
    """Return the names, dates and quantities of each text, ascending and without overlaps.

    The texts go through the recogniser in one batch, which is faster, but the spans of a text do not depend on others.
    Only a pipeline of its own language reads a text that is neither Chinese nor in Latin script. `titles` are the
    subjects of the texts, if known; their occurrences in the text are names.
    """
    han_sentences = {text: _han_sentences(text) for text in texts}
    spelled = [text for text, (_, has_others) in han_sentences.items() if has_others and (
        script_of(text) == "latin" or language_of(text) in {"", "zh", *parser.languages()})]
    docs = dict(zip(spelled, parser.entities(list(map(without_emphasis, spelled))), strict=True))
    return [_spans_of(text, docs.get(text), title, han_sentences[text][0])
            for text, title in zip(texts, titles or [""] * len(texts), strict=True)]


def _han_sentences(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Return the places of the Chinese sentences of a text, and whether it has other sentences."""
    sentences = split_sentences(text)
    if language_of(text) in {"ja", "ko"}:
        return [], True
    han = [(start, end) for start, end in sentences
           if len(_HAN.findall(text, start, end)) > _HAN_SHARE * (end - start)]
    return han, len(han) < len(sentences)


def _spans_of(text: str, doc: "Doc | None", title: str, han: list[tuple[int, int]]) -> list[Span]:
    """Return the spans of a text; `doc` has the recogniser's entities, `han` the places of Chinese sentences."""
    masked = masked_parts(text)
    spelled: list[Span] = []
    if doc is not None:
        spelled = [span for span in find_spelled_names(text, doc, [*han, *masked], title)
                   if not han or not _HAN.search(text, span.start, span.end)]  # no name: "SIG组内成员讨论确定"
    chinese = [Span(*place) for place in find_chinese_names(without_emphasis(text), han, masked)]
    values = [Span(value.start, value.end, value.kind) for value in find_values(text)]
    title_places: list[Span] = []
    if _HAN.fullmatch(title[:1]) and len(title) <= _LONGEST_REPEATED_TITLE:
        title_places = [Span(match.start(), match.end(), "name") for match in re.finditer(re.escape(title), text)]
    if sum(is_outside((span.start, span.end, ""), masked) for span in title_places) < 2:  # noqa: PLR2004
        title_places = []  # the text does not speak of its title: 历史文化
    return without_overlaps(spelled, chinese, values, title_places)


def masked_parts(text: str) -> list[tuple[int, int]]:
    """Return the parts of a text, as (start, end), that are not searched for names."""
    parts = [match.span() for form in (_ADDRESS, _TAG, _FENCED, _INLINE, _CITATION) for match in form.finditer(text)]
    # Lists of references have authors with initials, one after the other, with years among them.
    lists, authors = list[tuple[int, int]](), list(_INITIALED.finditer(text))
    starts = [0, *(at for at in range(1, len(authors))
                   if authors[at].start() - authors[at - 1].end() > _LONGEST_ENTRY), len(authors)]
    for first, last in pairwise(starts):
        group = authors[first:last]
        if len(group) >= _LEAST_AUTHORS:
            start, end = group[0].start(), min(len(text), group[-1].end() + _LONGEST_ENTRY)
            if len(_YEAR.findall(text, start, end)) * _LEAST_AUTHORS * 2 >= len(group):
                lists.append((start, end))
    parts += lists
    for match in _LINE.finditer(text):
        is_followed_by_blank = text.startswith("\n\n", match.end())
        is_paragraph = is_followed_by_blank and (match.start() == 0 or text.endswith("\n\n", 0, match.start()))
        if _is_no_sentence(match[0], alone=is_paragraph):
            parts.append(match.span())
    return parts


def _is_no_sentence(line: str, *, alone: bool) -> bool:
    """Return True for a heading, a table row, a line of code, a greeting, a closing or a navigation bar."""
    if (_TABLE_ROW.match(line) or _UNNAMED_CELLS.match(line) or _HEADING.match(line) or _GREETING.match(line)
            or len(_BAR_SEPARATOR.findall(line)) > 1):
        return True
    line_words = _WORD.findall(line)
    letter_words = [word for word in line_words if word[0].isalpha()]
    has_end_mark = line.rstrip().endswith((".", "!", "?", "\"", "”", "。", "！", "？"))
    symbols = sum(_SYMBOL_WORD.fullmatch(word) is not None for word in line_words)
    if len(letter_words) > 1 and (line.isupper() or symbols > _SYMBOL_SHARE * len(line_words)):
        return True
    if has_end_mark:
        return False
    menu_words = sum(word.lower() in _MENU_WORDS for word in letter_words)
    if _CODE.search(line) or (len(line_words) <= _LONGEST_BAR and menu_words > 1):
        return True
    is_list_item = ":" in line or line.lstrip().startswith(("-", "*", "•"))
    return alone and 1 < len(line_words) <= _LONGEST_HEADING and not is_list_item
