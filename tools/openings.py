"""What documents are about: of each its title and the sentence that says it best, or of each folder its titles."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ..graph_store.ledger.document_rows import Documents
from ..schemas.documents import Document, Frozen
from ..schemas.naming import has_name, normalise
from ..schemas.retrieval import Passage, Place
from ..text.content_words import content_words
from ..text.markup import without_markup
from ..text.sentences import split_sentences
from .index import RetrievalIndex
from .line_budget import item_cost

_SENTENCE = re.compile(r"(?!\s*(?:[#|*=<-]|\w+:))(?:\S+\s+){4}|(?!\s*[#|*=<-])[^\n]*[\u4e00-\u9fff]{8}")
"""A sentence, not a heading, a row, a tag or a field."""
_ITEM = re.compile(r"\s*[-*•][^\S\n]+(?:\S+\s+){3}")
"""An item of a list: a document that begins with one, such as minutes, says in its items what it is about."""
_WHOLE = re.compile(r"(?![a-z]).*[.!?…。！？][”’\"')\]]*\Z", re.DOTALL)
"""A sentence that no end of a line cuts off."""
_MARK = re.compile(r"\A[-*•]\s+")
_OPENING = 250
"""Characters of an opening: a long sentence."""
_FIRST = 5
"""How many first sentences of a document its opening is chosen from."""
_MOST_DOCUMENTS = 300
_MOST_ALONE, _MOST_TITLES = 20, 12
"""Documents of several folders that are listed one by one, and titles of a folder; of more, their number is said."""
_LONG = 5
"""Words that count against a sentence besides its own, so that the shortest are not the best."""
_FOLDER_ASKED = re.compile(
    r"\b(?:about|(?:describ|cover|contain|discuss)(?:e?s|e?d|ing|e)?|deals? with|in the folder)\b|"
    r"关于|介绍|讲|包含|收录|文件夹", re.IGNORECASE)


class DocumentSummary(Frozen):
    """A document, and the sentence that says best what it is about with its place; "" where it has no sentence."""

    document: str
    title: str
    start: int
    end: int
    said: str


_Opening = tuple[DocumentSummary, str]
"""A document with its own words at the place of its summary, of one without a sentence those of its first line."""


def openings(index: RetrievalIndex, tokens: int, folder: str = "") -> list[Passage]:
    """Return the openings of documents: one by one if they are few, else a folder an item; nothing if they do not fit.

    Args:
        index: the knowledge base.
        tokens: the budget, estimated tokens.
        folder: the folder whose documents are wanted; by default all are.
    """
    documents = index.store.documents
    ids = [entry.id for entry in documents.entries() if not folder or folder in PurePosixPath(entry.id).parts[:-1]]
    if len(ids) > _MOST_DOCUMENTS:
        return []
    found = list(_openings([documents.get(key) for key in ids]))
    groups: dict[str, list[_Opening]] = {}
    for one in found:
        groups.setdefault("/".join(PurePosixPath(one[0].document).parts[:-1]), []).append(one)
    alone = [_alone(*one) for one in found]
    if (len(groups) == 1 or len(found) <= _MOST_ALONE) and sum(map(item_cost, alone)) <= tokens:
        return alone
    items = [_group(name, group) for name, group in sorted(groups.items())]
    return items if sum(map(item_cost, items)) <= tokens else []


def summarise_documents(documents: Documents, ids: Sequence[str] = ()) -> list[DocumentSummary]:
    """Return of each document the sentence that says best what it is about, without a model.

    Args:
        documents: those of a knowledge base.
        ids: the documents to summarise; none means all.

    Raises:
        UnknownDocumentError: there is no such document.
    """
    wanted = ids or [entry.id for entry in documents.entries()]
    return [summary for summary, _ in _openings([documents.get(key) for key in wanted])]


def asked_folder(index: RetrievalIndex, question: str) -> str:
    """Return the folder about whose documents a question asks, as "which firms are in the case studies?"; "" if none.

    Args:
        index: the knowledge base.
        question: the question.
    """
    if not _FOLDER_ASKED.search(question):
        return ""
    paths = (key for key in index.document_ids if "/" in key)
    folders = Counter(part for path in paths for part in set(PurePosixPath(path).parts[:-1]))
    named = [folder for folder in folders if has_name(question, re.sub(r"[-_]+", " ", folder))]
    return min(named, key=lambda folder: (folders[folder], folder), default="")  # the most specific one


def _alone(one: DocumentSummary, words: str) -> Passage:
    return Passage(chunk_id="", document=one.document, title=one.title, text=words, start=one.start, score=0.0,
                   kind="opening", statement=": ".join(filter(None, [one.title, one.said])))


def _group(name: str, group: Sequence[_Opening]) -> Passage:
    """Return a folder's titles, with the opening that has most words in common with the others."""
    own = [set(content_words(words)) for _, words in group]
    shared = Counter(word for of_one in own for word in of_one)
    likeness = [sum(shared[word] - 1 for word in of_one) / (len(of_one) + _LONG) for of_one in own]
    best, text = group[max(range(len(group)), key=lambda at: (bool(group[at][0].said), likeness[at], -at))]
    titles = "; ".join(one.title for one, _ in group[:_MOST_TITLES])
    more = f" (+{len(group) - _MOST_TITLES})" if len(group) > _MOST_TITLES else ""
    places = tuple(Place(document=one.document, start=one.start, text=words, member=one.title) for one, words in group)
    quoted = f". “{best.said}”" if best.said else ""
    return Passage(chunk_id="", document=best.document, title=name, text=text, start=best.start, score=0.0,
                   kind="opening", places=places,
                   statement=f"{name}{': ' if name else ''}{titles}{more}{quoted}")


def _openings(documents: Sequence[Document]) -> Iterator[_Opening]:
    """Yield of each document the sentence that has most words of its title, the first one of several.

    Sentences that several documents share, such as the first words of all of a company's reports, are used only for
    documents without others. A document without a sentence opens with its first line.
    """
    first = [_first_sentences(document) for document in documents]
    shared = Counter(words for sentences in first for words in {normalise(words) for _, words in sentences})
    for document, sentences in zip(documents, first, strict=True):
        own = [sentence for sentence in sentences if shared[normalise(sentence[1])] == 1] or sentences
        title = set(content_words(document.title))
        line = document.text.lstrip()[:_OPENING].partition("\n")[0].rstrip()
        start, words = max(own, key=lambda one: (len(title.intersection(content_words(one[1]))), -one[0]),
                           default=(len(document.text) - len(document.text.lstrip()), line))
        if words:
            said = " ".join(without_markup(_MARK.sub("", words)).split()) if own else ""
            yield DocumentSummary(document=document.id, title=document.title or document.id, start=start,
                                  end=start + len(words), said=said), words


def _first_sentences(document: Document) -> Sequence[tuple[int, str]]:
    """Return the first sentences of a document with their places, without headings, rows and fields.

    Those that a line's end cuts off count only where all are, and items of lists where the document begins with one.
    """
    text = document.text
    places = [(start, end) for start, end in split_sentences(text)
              if _SENTENCE.match(text[start:end]) or _ITEM.match(text[start:end])]
    if places and not _ITEM.match(text[slice(*places[0])]):
        places = [(start, end) for start, end in places if _SENTENCE.match(text[start:end])]
    whole = [(start, end) for start, end in places[:_FIRST] if _WHOLE.match(text[start:end].strip())]
    return [(start, text[start:min(end, start + _OPENING)].strip()) for start, end in whole or places[:_FIRST]]
