"""Which files of a folder are no documents: those of package managers and programs, and those of `.banyanignore`."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pathspec import GitIgnoreSpec

from .reading import LEFT_OUT

IGNORE_FILE = ".banyanignore"
_LONGEST = 100_000
_FOLDERS = frozenset({"node_modules", "bower_components", "site-packages", "__pycache__", "__MACOSX"})
_FILES = frozenset({
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "poetry.lock",
    "pipfile.lock", "uv.lock", "pdm.lock", "cargo.lock", "composer.lock", "gemfile.lock", "mix.lock", "flake.lock",
    "pubspec.lock", "packages.lock.json", "go.sum", "thumbs.db", "desktop.ini"})
_ENDINGS = (".min.js", ".min.css", ".map")
_OPEN = "~$"
"""How the files that Office programs write beside an open document begin."""


class LeftOut:
    """The entries of one folder that are left out, each counted."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._spec = _read_spec(root / IGNORE_FILE)
        self._ignored = 0
        self._counts: Counter[str] = Counter()

    def covers(self, entry: Path, *, is_folder: bool) -> bool:
        """Return True if an entry is left out, and count it."""
        path = entry.relative_to(self._root).as_posix() + ("/" if is_folder else "")
        if self._spec is not None and self._spec.match_file(path):
            self._ignored += 1
            return True
        kind = _kind(entry.name, is_folder=is_folder)
        self._counts.update([kind] if kind else [])
        return bool(kind)

    def reasons(self) -> Iterator[str]:
        """Yield what was left out and how many there are of each kind."""
        if self._ignored:
            yield f"{LEFT_OUT}{self._ignored:,} files and folders that {IGNORE_FILE} names"
        if self._counts:
            kinds = ", ".join(f"{name} ({count:,})" for name, count in sorted(self._counts.items()))
            yield f"{LEFT_OUT}{kinds}: files of programs and package managers; name one to read it"


def _kind(name: str, *, is_folder: bool) -> str:
    """Return the name under which an entry is counted; "" if it is read."""
    lower = name.lower()
    if is_folder:
        return f"{name}/" if name in _FOLDERS else ""
    if lower in _FILES:
        return lower
    return next((f"*{ending}" for ending in _ENDINGS if lower.endswith(ending)),
                f"{_OPEN}*" if name.startswith(_OPEN) else "")


def _read_spec(path: Path) -> GitIgnoreSpec | None:
    """Return the patterns of an ignore file; raise OSError if it is there and cannot be read."""
    if not path.is_file():
        return None
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        return GitIgnoreSpec.from_lines(stream.read(_LONGEST).splitlines())
