"""The passages that come closest to a question that found no answer: what a person would read next."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...graph_store.index.lexical import terms
from ...graph_store.ledger.documents import Documents
from ...models.rules.content_words import language_of, spoken_words
from ...models.rules.likeness import likeness
from ...schemas.documents import Citation
from ...schemas.retrieval import Passage, Quote
from ...text.sentences import split_sentences
from .citing import located

_SHOWN = 3
_LONGEST = 300
"""Characters of a quote."""
_READ = 5
"""Passages, the best first; they hold the answers to 119 of 137 questions that were declined (benchmarks/newcomer)."""
_HEADING = "#"

Span = tuple[int, int]


def closest(question: str, passages: Sequence[Passage], documents: Documents) -> list[Citation]:
    """The sentences nearest to a question, each with what stands around it.

    Args:
        question: the question.
        passages: the context, best first; statements of the graph are left out.
        documents: the sources.

    Returns:
        At most three citations, the nearest first; no two overlap.
    """
    read = [(number, passage) for number, passage in enumerate(passages, 1) if not passage.statement][:_READ]
    sentences = [(number, passage, spans, at) for number, passage in read
                 for spans in [split_sentences(passage.text)] for at in range(len(spans))
                 if not passage.text.startswith(_HEADING, spans[at][0])]
    if not sentences:
        return []
    texts = [_words(passage, spans[at]) for _, passage, spans, at in sentences]
    citations: list[Citation] = []
    for place in _nearest(question, texts):
        number, passage, spans, at = sentences[place]
        words = _words(passage, _around(passage.text, spans, at))
        spot = located(Quote(passage=number, words=words), passages, documents)
        if spot is None or any(c.document == spot[0] and c.start < spot[2] and spot[1] < c.end for c in citations):
            continue
        document, start, end, quote = spot
        citations.append(Citation(id=len(citations) + 1, document=document, start=start, end=end, quote=quote,
                                  page=documents.page(document, start)))
        if len(citations) == _SHOWN:
            break
    return citations


def _words(passage: Passage, span: Span) -> str:
    return passage.text[slice(*span)].strip()[:_LONGEST]


def _nearest(question: str, texts: Sequence[str]) -> list[int]:
    """The places of texts, the nearest first: by the question's words, those most that few texts have.

    Of English, words that are used alike count as well: with these the answer is shown for 103 of those questions, with
    shared words alone for 44. Embedding sentences for it shows 105, and takes a sixth of the question (a paid call
    where another machine embeds).
    """
    asked = list(dict.fromkeys(spoken_words(question)))
    if language_of(question) == "zh" or not asked:
        bigrams = frozenset(terms(question))
        near = [float(len(bigrams.intersection(terms(text)))) for text in texts]
    else:
        counts = Counter(word for text in texts for word in set(spoken_words(text)))
        rare = np.log(1 + (len(texts) + 1) / (np.array([counts[word] for word in asked]) + 0.5))
        near = (likeness(asked, texts) @ rare).tolist()
    return sorted(range(len(texts)), key=lambda place: -near[place])


def _around(text: str, spans: Sequence[Span], at: int) -> Span:
    """A sentence with those after it, then those before it, within the length of a quote and below one heading."""
    start, end = spans[at]
    for other in range(at + 1, len(spans)):
        if text.startswith(_HEADING, spans[other][0]) or spans[other][1] - start > _LONGEST:
            break
        end = spans[other][1]
    for other in range(at - 1, -1, -1):
        if text.startswith(_HEADING, spans[other][0]) or end - spans[other][0] > _LONGEST:
            break
        start = spans[other][0]
    return start, end
