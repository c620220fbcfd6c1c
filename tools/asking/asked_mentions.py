"""Answering which documents contain some words: "How many documents mention Acme?", "哪些文档提到云溪市？"."""

import re
from collections.abc import Iterator

from ...graph_store.graph_index import GraphIndex
from ...schemas.inquiry import Block
from ...schemas.retrieval import Passage, Place
from ...text.languages import phrase_language
from ..fact_rows import graph_item
from .asked_rows import MOST_SHOWN

_ASKED = re.compile(
    r"(?:(?P<count>how many)|which|what|list (?:all|the)(?: the)?) (?:of (?:these|the) )?"
    r"(?:documents?|files?|texts?|papers?) (?:mention|name|contain|discuss|talk about|refer to)(?:s|ing)? "
    r"(?P<words>[^?]{1,100})", re.IGNORECASE)
_ASKED_IN_CHINESE = re.compile(
    r"(?:有)?(?:(?P<count>多少|几)[个篇份]?|哪些)(?:文档|文件|资料|文章)(?:中|里)?(?:提到|提及|包含|出现|谈到)了?"
    r"(?P<words>[^？?]{1,60})")
_QUESTION_END = " \t\r\n?？.。"
_ARTICLE_OR_QUOTES = re.compile(r"^(?:the |an? )?[\"'“‘「《]?|[\"'”’」》]?$", re.IGNORECASE)
_MAX_BEFORE, _MAX_AFTER = 80, 160
"""How many characters of the line before and after the words are quoted."""
_CITED_DOCUMENTS = 3
"""How many documents the line with their number cites."""


def asked_mentions(index: GraphIndex, question: str) -> list[Block]:
    """Return the documents that contain the words that a question such as "Which documents mention Acme?" asks about.

    Returns:
        A block with a row for each document, which quotes the first line with the words. For "how many", and if not
        all rows are shown, a row with the number of documents comes first. Empty if the question asks for something
        else, or no document contains the words.
    """
    bare = question.lstrip().rstrip(_QUESTION_END)
    asked = _ASKED.fullmatch(bare) or _ASKED_IN_CHINESE.fullmatch(bare)
    words = _ARTICLE_OR_QUOTES.sub("", asked["words"]).strip() if asked else ""
    mentions = list(_first_mentions(index, words)) if words else []
    if not asked or not mentions:
        return []
    rows = mentions[:MOST_SHOWN]
    if asked["count"] or len(mentions) > MOST_SHOWN:
        places = [place for mention in mentions[:_CITED_DOCUMENTS] for place in mention.places]
        count = len(mentions)
        rows.insert(0, graph_item(places, _count_text(question, words, count), "", "row", (str(count),)))
    return [Block(title=words, items=tuple(rows))]


def _first_mentions(index: GraphIndex, words: str) -> Iterator[Passage]:
    """Yield, for each document that contains some words, the part of its first line around them."""
    spaced = r"\s+".join(map(re.escape, words.split()))
    pattern = re.compile(rf"(?<![^\W_]){spaced}(?![^\W_])" if words.isascii() else spaced, re.IGNORECASE)
    for document, text in index.store.documents.whole_texts():
        if match := pattern.search(text):
            start, end = _quoted_span(text, *match.span())
            title, quote = index.store.documents.get(document).title or document, text[start:end].rstrip()
            yield graph_item([Place(document=document, start=start, text=quote)],
                             f"{title}: {' '.join(quote.split())}", title, "row", (words, title))


def _quoted_span(text: str, first: int, last: int) -> tuple[int, int]:
    """Return where to cut the line around characters `first` to `last`: at blanks if the line is too long to quote."""
    start = text.rfind("\n", 0, first) + 1
    if first - start > _MAX_BEFORE:
        start = text.find(" ", first - _MAX_BEFORE, first) + 1 or first  # 0: there is no blank
    line_end = text.find("\n", last)
    end = min(line_end if line_end >= 0 else len(text), last + _MAX_AFTER)
    if end == last + _MAX_AFTER:
        end = max(text.rfind(" ", last, end), last)
    return start, end


def _count_text(question: str, words: str, count: int) -> str:
    """Return a sentence, in the question's language, that says how many documents contain some words."""
    is_cut = count > MOST_SHOWN
    if phrase_language(question) == "zh":
        return f"{count} 份文档提到“{words}”{f'；以下列出 {MOST_SHOWN} 份' if is_cut else ''}"
    return (f"{count} document{' has' if count == 1 else 's have'} the words “{words}”"
            f"{f'; {MOST_SHOWN} of them follow' if is_cut else ''}")
