"""The default embedder: the bundled MiniLM model in onnxruntime, without torch."""

import os
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

# From 1.29 on its official builds report what they do to their makers, as long as this is not set before the import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
import onnxruntime

from ...config import DEFAULT_EMBEDDING_MODEL
from .embedder import EmbeddingError, Vectors, encode_distinct
from .minilm import SHA256, WEIGHTS, bundled_export, bundled_tokenizer

_TOKENISED_AT_ONCE = 1024  # bounds memory: a tokenised text is some 100 times its size
_TOKENS_AT_ONCE = 512
"""The most tokens of a batch. Attention takes memory by the square of a text's length for each text of a batch, and
batches that outgrow the processor's caches are slower."""


def load_bundled(batch: int) -> "OnnxEmbedder":
    """Load the bundled model; the first time on a machine it is exported to ONNX."""
    return OnnxEmbedder(bundled_export(), bundled_tokenizer(), batch)


class OnnxEmbedder:
    """MiniLM (384 dimensions, texts cut at 256 tokens) in onnxruntime.

    A text's vector is bit for bit independent of the texts encoded with it: only texts of equal length in tokens
    share a batch, which needs no padding. Large calls of short texts are therefore faster per text.
    """

    name = DEFAULT_EMBEDDING_MODEL
    fingerprint = f"{DEFAULT_EMBEDDING_MODEL}:{SHA256[WEIGHTS][:20]}"

    def __init__(self, onnx_file: Path, tokenizer: Tokenizer, batch: int) -> None:
        """Load the model; `batch` is the most texts encoded at once."""
        self._batch = batch
        self._tokenizer = tokenizer
        self._session = _session(onnx_file)
        self.dimension: int = self._session.get_outputs()[0].shape[1]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; see `Embedder.encode`."""
        return encode_distinct(texts, self._encode, self.name)

    def _encode(self, texts: list[str]) -> Vectors:
        """Return the vectors of texts, encoded in batches of equal length on all cores."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        token_ids = [np.array(encoding.ids, np.int64) for start in range(0, len(texts), _TOKENISED_AT_ONCE)
                     for encoding in self._tokenizer.encode_batch_fast(texts[start : start + _TOKENISED_AT_ONCE])]
        rows_by_length: defaultdict[int, list[int]] = defaultdict(list)
        for row, ids in enumerate(token_ids):
            rows_by_length[len(ids)].append(row)
        # The batches with the longest texts go first: otherwise one of them could run alone at the end.
        batches = list[list[int]]()
        for length, rows in sorted(rows_by_length.items(), reverse=True):
            size = max(1, min(self._batch, _TOKENS_AT_ONCE // length))
            batches += [rows[start : start + size] for start in range(0, len(rows), size)]

        def encode_batch(batch: list[int]) -> None:
            vectors[batch] = self._session.run(None, {"input_ids": np.stack([token_ids[row] for row in batch])})[0]

        if len(batches) == 1:  # a single question needs no threads
            encode_batch(batches[0])
            return vectors
        # In a container fewer cores may be used than the machine has.
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        with ThreadPoolExecutor(cores) as pool:
            list(pool.map(encode_batch, batches))
        return vectors


def _session(onnx_file: Path) -> onnxruntime.InferenceSession:
    """Load the model for use by one thread per call."""
    options = onnxruntime.SessionOptions()
    # Each core encodes a batch of its own. Threads that share a batch would wait for each other at each layer.
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(onnx_file, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no common class
        raise EmbeddingError(f"The embedding model's ONNX export is damaged: {error}. Delete the folder "
                             f"{onnx_file.parent}, and it is made again.") from error
