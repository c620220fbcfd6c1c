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

_NO_WORD = re.compile(r"\S{100,}")
_WORD = re.compile(r"[^\W\d_]+")
_READ = 2000
"""The number of characters to read."""
_LONGEST_SENTENCE = 150
"""The most tokens of a sentence: the parser takes quadratic time for longer ones, without useful results."""


class Parser:
    """A parser of texts with the pipelines of their languages. Methods may be called from several threads at once."""

    def __init__(self, configured: str = "") -> None:
        """Store the configuration; pipelines are loaded when a text needs them.

        Args:
            configured: comma-separated names of pipelines to prefer (`en_core_web_md,de_core_news_sm`).
        """
        self._configured = configured
        self._lock = threading.Lock()

    def languages(self) -> frozenset[str]:
        """Return the languages with installed or configured pipelines; Chinese has a separate reader."""
        named = (Path(name.strip()).name.partition("_")[0] for name in self._configured.split(",") if name.strip())
        return frozenset({*installed_pipelines(), *named} - {"zh"})

    def _pipeline(self, language: str) -> "Language":
        name = pipeline_name(language, self._configured)
        alone = not self._configured and set(installed_pipelines().values()) == {PACKAGE}
        return load_pipeline(name if name is not None else f"{language}_core_news_sm", alone=alone)

    def parse(self, text: str, language: str = "en") -> "Doc":
        """Parse a text.

        Args:
            text: any text.
            language: spaCy's code; a pipeline for it must be installed.

        Returns:
            spaCy's document: tokens with tags, lemmas and heads; `recognise` adds the named entities. Its sentences
            are those of `split_sentences`, and `token.idx` is an offset into `text`.

        Raises:
            ParsingError: the pipeline is missing or damaged.
        """
        pipeline = self._pipeline(language)
        with self._lock:
            return _run(pipeline, [_tokens(pipeline, text)], _parsing(pipeline))[0]

    def recognise(self, doc: "Doc") -> None:
        """Add the named entities to a parsed text, which takes nearly as long as the parse."""
        pipeline = self._pipeline(doc.lang_)
        if "ner" in pipeline.pipe_names:
            with self._lock:
                _run(pipeline, [doc], _recognising(pipeline))

    def parse_sentences(self, sentences: Sequence[str], most_words: int) -> list["Doc | None"]:
        """Parse English sentences together, without their named entities.

        Args:
            sentences: texts of one sentence each.
            most_words: longer sentences are not parsed.

        Returns:
            spaCy's document of each, with tags, lemmas and heads; None for one that is too long.

        Raises:
            ParsingError: the pipeline is missing or damaged.
        """
        pipeline = self._pipeline("en")
        with self._lock:
            docs = [_tokens(pipeline, text, one=True) for text in sentences]
            short = [place for place, doc in enumerate(docs) if len(doc) <= most_words]
            parsed = _run(pipeline, [docs[place] for place in short], _parsing(pipeline))
        found = dict(zip(short, parsed, strict=True))
        return [found.get(place) for place in range(len(sentences))]

    def entities(self, texts: Sequence[str]) -> list["Doc"]:
        """Recognise only the named entities of texts, which takes a third of the time of a parse, together still less.

        Args:
            texts: any texts.

        Returns:
            spaCy's document of each with the entities in `ents`; `token.idx` is an offset into the text.

        Raises:
            ParsingError: the pipeline for a text's language is missing or damaged.
        """
        languages = [_language_of(text, self.languages()) for text in texts]
        found: dict[int, Doc] = {}
        for language in dict.fromkeys(languages):
            pipeline = self._pipeline(language)
            places = [place for place, own in enumerate(languages) if own == language]
            with self._lock:
                docs = [_tokens(pipeline, texts[place]) for place in places]
                found |= zip(places, _run(pipeline, docs, _recognising(pipeline)), strict=True)
        return [found[place] for place in range(len(texts))]


def _language_of(text: str, languages: Iterable[str]) -> str:
    """Return the language whose function words are most common in a text.

    Returns:
        One of them; English if no language has more such words.
    """
    chosen = sorted(set(languages))
    if len(chosen) == 1:
        return chosen[0]
    words = [word.lower() for word in _WORD.findall(text[:_READ])]
    counts = {code: sum(map(_stop_words(code).__contains__, words)) for code in chosen}
    return max(chosen, key=lambda code: (counts[code], code == "en"))


@cache
def _stop_words(code: str) -> frozenset[str]:
    # Imported by code: spaCy has a module for each language, and each takes a while to load.
    return frozenset(importlib.import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS)


def _parsing(pipeline: "Language") -> Sequence[str]:
    """Return the parts of a pipeline that do more than recognise named entities."""
    return [name for name in pipeline.pipe_names if name != "ner"]


def _recognising(pipeline: "Language") -> Sequence[str]:
    """Return the parts of a pipeline that recognise named entities; all if none is only for that."""
    if "ner" not in pipeline.pipe_names:
        return pipeline.pipe_names
    recogniser: Any = pipeline.get_pipe("ner")
    shares = recogniser.model.get_ref("tok2vec").name == "tok2vec-listener"
    return [name for name in pipeline.pipe_names if name == "ner" or (shares and name in {"transformer", "tok2vec"})]


def _run(pipeline: "Language", docs: list["Doc"], names: Collection[str]) -> list["Doc"]:
    """Run some parts of a pipeline over documents together."""
    _use_processor()
    for name, part in pipeline.pipeline:
        if name in names:
            docs = list(cast("Any", part).pipe(docs)) if hasattr(part, "pipe") else list(map(part, docs))
    return docs


def _use_processor() -> None:
    """Have thinc compute in this context as it would by itself: it looks through all installed packages each time."""
    from thinc.backends import context_ops, set_current_ops  # noqa: PLC0415 - as slow to import as spaCy

    if context_ops.get() is None:
        set_current_ops(_processor())


@cache
def _processor() -> "Ops":
    from thinc.backends import get_ops  # noqa: PLC0415

    return get_ops("cpu")


def _tokens(pipeline: "Language", text: str, *, one: bool = False) -> "Doc":
    """Tokenize a text and mark the starts of sentences, which the parser respects; `one`: it is a single one."""
    shown = _NO_WORD.sub(lambda run: " " * len(run.group()), text)
    doc = pipeline.make_doc(shown)
    starts = iter([0] if one else [start for start, _ in split_sentences(text)])
    following, begun = next(starts, None), 0
    marks: list[int] = []
    for token in doc:
        end = token.idx + len(token)
        begins = token.i == 0 or (following is not None and end > following) or token.i - begun == _LONGEST_SENTENCE
        begun = token.i if begins else begun
        marks.append(1 if begins else -1)
        while following is not None and end > following:
            following = next(starts, None)
    # At once: spaCy looks through the text for each sentence that is marked by itself.
    return doc.from_array(["SENT_START"], cast("Any", np.array(marks, np.int64).astype(np.uint64).reshape(-1, 1)))
