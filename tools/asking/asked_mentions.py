"""Questions for the documents that have some words: "How many documents mention Acme?", "哪些文档提到云溪市？"."""

import re
from collections.abc import Iterator

from ...schemas.inquiry import Block
from ...schemas.retrieval import Passage, Place
from ...text.content_words import language_of
from ..fact_rows import graph_item
from ..index import RetrievalIndex
from .asked_rows import MOST_SHOWN

_ASKED = re.compile(
    r"(?:(?P<count>how many)|which|what|list (?:all|the)(?: the)?) (?:of (?:these|the) )?"
    r"(?:documents?|files?|texts?|papers?) (?:mention|name|contain|discuss|talk about|refer to)(?:s|ing)? "
    r"(?P<words>[^?]{1,100})", re.IGNORECASE)
_ASKED_IN_CHINESE = re.compile(
    r"(?:有)?(?:(?P<count>多少|几)[个篇份]?|哪些)(?:文档|文件|资料|文章)(?:中|里)?(?:提到|提及|包含|出现|谈到)了?"
    r"(?P<words>[^？?]{1,60})")
_END = " \t\r\n?？.。"
"""What ends a question."""
_AROUND = re.compile(r"^(?:the |an? )?[\"'“‘「《]?|[\"'”’」》]?$", re.IGNORECASE)
"""What is about the words: an article, and quotation marks."""
_BEFORE, _AFTER = 80, 160
"""Characters of a line that are quoted with the words, at most."""
_CITED = 3


def asked_mentions(index: RetrievalIndex, question: str) -> list[Block]:
    """Return the documents that have the words that a question asks for, each with its first line that has them.

    Args:
        index: the knowledge base.
        question: the question.

    Returns:
        A block of rows, which for "how many" begins with their number; nothing if the question asks for something else
        or no document has the words.
    """
    bare = question.lstrip().rstrip(_END)
    asked = _ASKED.fullmatch(bare) or _ASKED_IN_CHINESE.fullmatch(bare)
    words = _AROUND.sub("", asked["words"]).strip() if asked else ""
    found = list(_mentions(index, words)) if words else []
    if not asked or not found:
        return []
    rows = found[:MOST_SHOWN]
    if asked["count"] or len(found) > MOST_SHOWN:
        places = [place for one in found[:_CITED] for place in one.places]
        rows.insert(0, graph_item(places, _count(question, words, len(found)), "", "row", (str(len(found)),)))
    return [Block(title=words, items=tuple(rows))]


def _mentions(index: RetrievalIndex, words: str) -> Iterator[Passage]:
    """Yield the first line of each document that has some words."""
    spaced = r"\s+".join(map(re.escape, words.split()))
    pattern = re.compile(rf"(?<![^\W_]){spaced}(?![^\W_])" if words.isascii() else spaced, re.IGNORECASE)
    for document, text in index.store.documents.whole_texts():
        if match := pattern.search(text):
            start = text.rfind("\n", 0, match.start()) + 1
            if match.start() - start > _BEFORE:
                start = text.find(" ", match.start() - _BEFORE, match.start()) + 1 or match.start()
            end = min(text.find("\n", match.end()) % (len(text) + 1), match.end() + _AFTER)
            if end == match.end() + _AFTER:
                end = max(text.rfind(" ", match.end(), end), match.end())
            title, line = index.store.documents.get(document).title or document, text[start:end].rstrip()
            yield graph_item([Place(document=document, start=start, text=line)], f"{title}: {' '.join(line.split())}",
                             title, "row", (words, title))


def _count(question: str, words: str, count: int) -> str:
    more = count > MOST_SHOWN
    if language_of(question) == "zh":
        return f"{count} 份文档提到“{words}”{f'；以下列出 {MOST_SHOWN} 份' if more else ''}"
    return (f"{count} document{' has' if count == 1 else 's have'} the words “{words}”"
            f"{f'; {MOST_SHOWN} of them follow' if more else ''}")
