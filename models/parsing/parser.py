"""Parses of texts in time linear in their length, with Banyan's sentence boundaries.

spaCy's tokenizer takes quadratic time for a long run of characters without a space. Such runs are not words and are
hidden from it. Offsets refer to the original text.
"""

import re
import threading
from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...text.languages import language_of
from ...text.sentences import split_sentences
from .pipelines import PACKAGE, installed_pipelines, load_pipeline, named_pipelines

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from thinc.backends import Ops

_LONG_RUN = re.compile(r"\S{100,}")
_CHARACTERS_COUNTED = 2000  # the number of characters at the beginning of a text by which its language is found
_LONGEST_SENTENCE = 150
"""The most tokens of a sentence: the parser takes quadratic time for longer ones, without useful results."""


class Parser:
    """A parser of texts with the pipelines of their languages. Methods may be called from several threads at once."""

    def __init__(self, configured: str = "") -> None:
        """Store the comma-separated names of pipelines to prefer (`en_core_web_md,de_core_news_sm`).

        A pipeline is loaded when a text needs it.
        """
        self._configured = configured
        self._lock = threading.Lock()

    def languages(self) -> frozenset[str]:
        """Return the languages with installed or configured pipelines; Chinese has a separate reader."""
        return frozenset(named_pipelines(self._configured).keys() - {"zh"})

    def _pipeline(self, language: str) -> "Language":
        alone = not self._configured and set(installed_pipelines().values()) == {PACKAGE}
        return load_pipeline(named_pipelines(self._configured)[language], alone=alone)

    def parse(self, text: str) -> "Doc":
        """Parse an English text: its tokens have tags, lemmas, heads and named entities."""
        pipeline = self._pipeline("en")
        with self._lock:
            return _run(pipeline, [_tokens(pipeline, text)], pipeline.pipe_names)[0]

    def entities(self, texts: Sequence[str]) -> list["Doc"]:
        """Recognise the named entities of texts, in batches.

        They are in `ents` of each document. `token.idx` is an offset into the text, and the sentences are those of
        `split_sentences`.

        Raises:
            ModelError: a pipeline is missing or damaged.
        """
        known = self.languages()
        languages = [language if (language := language_of(text[:_CHARACTERS_COUNTED])) in known else "en"
                     for text in texts]
        doc_by_index: dict[int, Doc] = {}
        for language in dict.fromkeys(languages):
            pipeline = self._pipeline(language)
            indices = [index for index, text_language in enumerate(languages) if text_language == language]
            with self._lock:
                docs = [_tokens(pipeline, texts[index]) for index in indices]
                doc_by_index |= zip(indices, _run(pipeline, docs, _recognising_parts(pipeline)), strict=True)
        return [doc_by_index[index] for index in range(len(texts))]


def _recognising_parts(pipeline: "Language") -> Sequence[str]:
    """Return the parts of a pipeline that recognise named entities; all parts if it has no separate recogniser."""
    if "ner" not in pipeline.pipe_names:
        return pipeline.pipe_names
    recogniser: Any = pipeline.get_pipe("ner")
    # Some recognisers take their input vectors from another part of the pipeline, which then has to run, too.
    needs_vectors = recogniser.model.get_ref("tok2vec").name == "tok2vec-listener"
    needed = {"ner", "transformer", "tok2vec"} if needs_vectors else {"ner"}
    return [name for name in pipeline.pipe_names if name in needed]


def _run(pipeline: "Language", docs: list["Doc"], names: Collection[str]) -> list["Doc"]:
    """Run some parts of a pipeline over documents together."""
    from thinc.backends import context_ops, set_current_ops  # noqa: PLC0415 - as slow to import as spaCy

    if context_ops.get() is None:  # else thinc looks through the installed packages in each context
        set_current_ops(_processor())
    for name, part in pipeline.pipeline:
        if name in names:
            docs = list(cast("Any", part).pipe(docs)) if hasattr(part, "pipe") else list(map(part, docs))
    return docs


@cache
def _processor() -> "Ops":
    from thinc.backends import get_ops  # noqa: PLC0415

    return get_ops("cpu")


def _tokens(pipeline: "Language", text: str) -> "Doc":
    """Tokenize a text, and mark the starts of its sentences."""
    without_long_runs = _LONG_RUN.sub(lambda run: " " * len(run.group()), text)
    doc = pipeline.make_doc(without_long_runs)
    starts = iter(start for start, _ in split_sentences(text))
    next_start, first_token = next(starts, None), 0  # the next sentence's offset, and the current one's first token
    marks: list[int] = []
    for token in doc:
        end = token.idx + len(token)
        reaches_next = next_start is not None and end > next_start
        is_first = token.i == 0 or reaches_next or token.i - first_token == _LONGEST_SENTENCE
        first_token = token.i if is_first else first_token
        marks.append(1 if is_first else -1)
        while next_start is not None and end > next_start:
            next_start = next(starts, None)
    # At once: spaCy looks through the text for each sentence that is marked by itself.
    return doc.from_array(["SENT_START"], cast("Any", np.array(marks, np.int64).astype(np.uint64).reshape(-1, 1)))
