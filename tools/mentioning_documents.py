"""Questions for the documents that mention something: each document that has the words, and how often."""

import re
from collections.abc import Iterator

from ..graph_store.graph_index import GraphIndex
from ..graph_store.index.lexical import index_terms
from ..schemas.inquiry import Block
from ..schemas.naming import normalise
from ..schemas.retrieval import Place
from ..text.scripts import Language, has_han, phrase_language
from ..text.section_lines import mark_length
from ..text.sentences import split_sentences
from ..text.table_rows import DOCUMENT
from .fact_rows import fit_lines, graph_item

_DOCUMENTS = (r"(?:documents?|files?|texts?|papers?|articles?|pages?|notes?|minutes|reports?|e-?mails?|messages?|"
              r"letters?|posts?|transcripts?)")
_ASKS = r"(?:which|what|how[ ]many|list|show|name|find)(?:[ ](?:me|all|of|the|these|my|our)){0,3}+"
_VERBS = r"(?:(?:mention|name|contain)s?|refers?[ ]to|talks?[ ]about|speaks?[ ]of)"
_WHICH_CHINESE = (r"(?:哪些|哪几[篇个份]|哪[篇个份]|多少[篇个份]?)"
                  r"(?:文档|文件|文章|文本|资料|材料|论文|报告|纪要)[中里]?都?被?(?:提到|提及|谈到|讲到|说到|包含|出现)[了过]?")
_MENTIONING = re.compile(
    rf"{_ASKS}[ ]{_DOCUMENTS}(?:[ ](?:that|which|do|does))?[ ]{_VERBS}[ ](?:the[ ](?:words?|term|phrase|name)[ ])?"
    rf"([^\n]{{1,100}})|in[ ]{_ASKS}[ ]{_DOCUMENTS}[ ](?:is|are|was|were)[ ]([^\n]{{1,100}})[ ](?:mentioned|named)|"
    rf"有?{_WHICH_CHINESE}([^\n]{{1,100}})|([^\n]{{1,100}}?)在{_WHICH_CHINESE}", re.IGNORECASE)
_EDGES = " \"'“”‘’«»「」?？.。"
_QUOTES = re.compile("['’]")
_LONGEST_QUOTE = 250  # characters: those of a long sentence
_PHRASES: dict[Language, tuple[str, str]] = {
    "en": ("{} of {} documents mention “{}”", "{} ({}): “{}”"),
    "zh": ("{1} 份文档中有 {0} 份提到“{2}”", "{}（{} 处）：“{}”")}
"""The answer, with the number of documents, that of all, and the words; a document's line: title, times and quote."""


def list_mentioning(index: GraphIndex, question: str, tokens: int) -> Block | None:
    """Return a line for each document that mentions what a question asks for, most mentions first.

    A document mentions words if it has them in any case, as whole words. None if the question asks for something else,
    or if no document has these words: they may be another form of a name.
    """
    found = _MENTIONING.fullmatch(question.strip(_EDGES))
    words = next(filter(None, found.groups()), "").strip(_EDGES) if found else ""
    if not words:
        return None
    head, line = _PHRASES[phrase_language(question)]
    items = [graph_item([place], line.format(title, f"{times:,}", " ".join(place.text.split())), title, "row")
             for times, title, place in sorted(_mentions(index, words), key=lambda one: (-one[0], one[1]))]
    shown, left = fit_lines(items, tokens)
    if not shown:
        return None
    answer = head.format(f"{len(items):,}", f"{index.store.documents.count_documents():,}", words)
    first, *others = shown
    return Block(title=answer, items=(first.model_copy(update={"cells": (answer,)}), *others), left=left)


def _mentions(index: GraphIndex, words: str) -> Iterator[tuple[int, str, Place]]:
    """Yield for each document with some words how often it has them, its title, and the first sentence with them."""
    # Chinese has no spaces between words.
    begin_of_word, end_of_word = ("", "") if has_han(words) else (r"(?<!\w)", r"(?!\w)")
    in_any_spacing = r"\s+".join(_QUOTES.sub("['’]", re.escape(word)) for word in words.split())
    pattern = re.compile(begin_of_word + in_any_spacing + end_of_word, re.IGNORECASE)
    # Only documents whose passages, or the headings above these, have an index term of each word are read.
    _, document_of_chunk = index.documents
    with_each_word = [{*document_of_chunk[index.lexical.scores(word) > 0].tolist()}
                      for word in words.split() if index_terms(word)]  # a sign such as "&" has no term
    for row in sorted(set.intersection(*with_each_word)) if with_each_word else ():
        document = index.document_ids[row]
        text = index.store.documents.text(document)
        # A document's fields stand in the first line and repeat its title: they count once, if nothing below does.
        text_start = text.find("\n") if text.startswith(f"| {DOCUMENT}: ") else 0
        places = [match.start() for match in pattern.finditer(text, text_start)]
        if not places and (in_fields := pattern.search(text)):
            places = [in_fields.start()]
        if places:
            title = index.document_titles[row] or document
            is_shared = len(index.documents_by_name[normalise(title)]) > 1
            name = f"{title} ({document})" if is_shared else title
            yield len(places), name, _quote(document, text, places[0])


def _quote(document: str, text: str, at: int) -> Place:
    """Return the sentence around a character as a place, of a long one the beginning or a part around the character."""
    block_start = text.rfind("\n\n", 0, at) + 1
    block_end = text.find("\n\n", at)
    # Only the paragraph is split, because the whole text may be long.
    spans = split_sentences(text[block_start:block_end if block_end >= 0 else len(text)])
    start, end = next((block_start + first, block_start + last) for first, last in spans if at < block_start + last)
    if end - start > _LONGEST_QUOTE and at - start > _LONGEST_QUOTE // 2:
        start = text.rfind(" ", start, at - _LONGEST_QUOTE // 3) + 1 or start
    start = min(start + mark_length(text[start:end]), at)
    quote = text[start:min(end, start + _LONGEST_QUOTE)]
    return Place(document=document, start=start + len(quote) - len(quote.lstrip()), text=quote.strip())
