"""Parses of texts in time linear in their length, with Banyan's sentence boundaries.

spaCy's tokenizer takes quadratic time for a long run of characters without a space. Such runs are not words and are
hidden from it. Offsets refer to the original text.
"""

import importlib
import re
import threading
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...text.sentences import split_sentences
from .pipelines import PACKAGE, installed_pipelines, load_pipeline, pipeline_name

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from thinc.backends import Ops

_LONG_RUN = re.compile(r"\S{100,}")
_WORD = re.compile(r"[^\W\d_]+")
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
        named = (Path(name.strip()).name.partition("_")[0] for name in self._configured.split(",") if name.strip())
        return frozenset({*installed_pipelines(), *named} - {"zh"})

    def _pipeline(self, language: str) -> "Language":
        """Load the pipeline of a language; without one, the error asks for the language's small pipeline."""
        name = pipeline_name(language, self._configured)
        alone = not self._configured and set(installed_pipelines().values()) == {PACKAGE}
        return load_pipeline(name if name is not None else f"{language}_core_news_sm", alone=alone)

    def parse(self, text: str, language: str = "en") -> "Doc":
        """Parse a text in a language given by spaCy's code.

        The tokens have tags, lemmas and heads; `recognise` adds the named entities. The sentences are those of
        `split_sentences`, and `token.idx` is an offset into the text.

        Raises:
            ParsingError: the pipeline is missing or damaged.
        """
        pipeline = self._pipeline(language)
        with self._lock:
            return _run(pipeline, [_tokens(pipeline, text)], _parsing_parts(pipeline))[0]

    def recognise(self, doc: "Doc") -> None:
        """Add the named entities to a parsed text, which takes nearly as long as the parse."""
        pipeline = self._pipeline(doc.lang_)
        if "ner" in pipeline.pipe_names:
            with self._lock:
                _run(pipeline, [doc], _recognising_parts(pipeline))

    def parse_sentences(self, sentences: Sequence[str], most_words: int) -> list["Doc | None"]:
        """Parse English sentences together, without their named entities; return None for those that are too long.

        Raises:
            ParsingError: the pipeline is missing or damaged.
        """
        pipeline = self._pipeline("en")
        with self._lock:
            docs = [_tokens(pipeline, text, one=True) for text in sentences]
            short = [index for index, doc in enumerate(docs) if len(doc) <= most_words]
            parsed = _run(pipeline, [docs[index] for index in short], _parsing_parts(pipeline))
        parsed_by_index = dict(zip(short, parsed, strict=True))
        return [parsed_by_index.get(index) for index in range(len(sentences))]

    def entities(self, texts: Sequence[str]) -> list["Doc"]:
        """Recognise only the named entities of texts, in batches; this takes at most a third of the time of a parse.

        They are in `ents` of each document; `token.idx` is an offset into the text.

        Raises:
            ParsingError: the pipeline for a text's language is missing or damaged.
        """
        languages = [_language_of(text, self.languages()) for text in texts]
        doc_by_index: dict[int, Doc] = {}
        for language in dict.fromkeys(languages):
            pipeline = self._pipeline(language)
            indices = [index for index, text_language in enumerate(languages) if text_language == language]
            with self._lock:
                docs = [_tokens(pipeline, texts[index]) for index in indices]
                doc_by_index |= zip(indices, _run(pipeline, docs, _recognising_parts(pipeline)), strict=True)
        return [doc_by_index[index] for index in range(len(texts))]


def _language_of(text: str, languages: Iterable[str]) -> str:
    """Return the language whose function words are most common in a text; English if no other has more."""
    candidates = sorted(set(languages))
    if len(candidates) == 1:
        return candidates[0]
    words = [word.lower() for word in _WORD.findall(text[:_CHARACTERS_COUNTED])]
    counts = {code: sum(map(_stop_words(code).__contains__, words)) for code in candidates}
    return max(candidates, key=lambda code: (counts[code], code == "en"))


@cache
def _stop_words(code: str) -> frozenset[str]:
    # Imported by code: spaCy has a module for each language, and each takes a while to load.
    return frozenset(importlib.import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS)


def _parsing_parts(pipeline: "Language") -> Sequence[str]:
    """Return the parts of a pipeline that do more than recognise named entities."""
    return [name for name in pipeline.pipe_names if name != "ner"]


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
    _use_processor()
    for name, part in pipeline.pipeline:
        if name in names:
            docs = list(cast("Any", part).pipe(docs)) if hasattr(part, "pipe") else list(map(part, docs))
    return docs


def _use_processor() -> None:
    """Make thinc compute on the processor in this context, as it does by default."""
    from thinc.backends import context_ops, set_current_ops  # noqa: PLC0415 - as slow to import as spaCy

    if context_ops.get() is None:
        set_current_ops(_processor())


@cache
def _processor() -> "Ops":
    from thinc.backends import get_ops  # noqa: PLC0415

    return get_ops("cpu")


def _tokens(pipeline: "Language", text: str, *, one: bool = False) -> "Doc":
    """Tokenize a text, which is a single sentence with `one`, and mark the starts of its sentences."""
    without_long_runs = _LONG_RUN.sub(lambda run: " " * len(run.group()), text)
    doc = pipeline.make_doc(without_long_runs)
    starts = iter([0] if one else [start for start, _ in split_sentences(text)])
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
