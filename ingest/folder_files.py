"""Find the files in folders, without those that are ignored, belong to programs or are there twice."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec

from ..text.cleaning import clean_text
from ..text.lexicon import WORDS
from .reading import LEFT_OUT, Limits, LoadFailure, UnreadableError, open_file

OnFailure = Callable[[LoadFailure], None]
IGNORE_FILE = ".banyanignore"
PUBLISHED = frozenset({".pdf", ".docx", ".pptx", ".epub"})  # papers and books: often saved twice, and in bibliographies
_OF_PROGRAMS = sorted(WORDS["files of programs"])
"""Patterns, as in .gitignore, of files that are left out; Office programs write `~$...` beside an open document."""
_PROGRAMS = GitIgnoreSpec.from_lines(_OF_PROGRAMS)


class FoundFile(NamedTuple):
    """A file that may be read, with the id of its document."""

    path: Path
    id: str
    named: bool  # named by the user rather than found in a folder
    real: Path  # its path without links, which is opened

    @property
    def place(self) -> str:
        """The absolute path, which does not depend on the working folder."""
        return str(self.path.absolute())


def walk_folder(root: Path, on_failure: OnFailure, limits: Limits) -> Iterator[FoundFile]:
    """Yield the files in a folder and its subfolders, sorted by name at each level; count those that are left out."""
    real_root, left_out = root.resolve(), Counter[str]()  # how many are left out, by the reason
    ignored = _read_ignore_file(root / IGNORE_FILE, on_failure)
    stack = [(root, 0)]
    while stack and ignored is not None:  # without its patterns, nothing is read that they may exclude
        entry, depth = stack.pop()
        try:
            real = entry.resolve()
            is_link_within = depth > 0 and entry.is_symlink()  # the root itself may be a link
            if is_link_within and (real.is_dir() or not real.is_relative_to(real_root)):
                report_failure(on_failure, str(entry), "skipped: a link to a folder or out of the folder given: "
                               "name its target")
            elif not entry.is_dir():
                yield FoundFile(entry, entry.relative_to(root).as_posix(), named=False, real=real)
            elif depth > limits.folder_depth:
                report_failure(on_failure, str(entry), f"skipped: more than {limits.folder_depth} folders deep: "
                               "name it, or move it up")
            else:
                children = [child for child in entry.iterdir() if not child.name.startswith(".")]
                # The last entry of the stack is read first.
                for child in sorted(children, key=lambda child: child.name, reverse=True):
                    if reason := _why_left_out(child, root, ignored):
                        left_out[reason] += 1
                    else:
                        stack.append((child, depth + 1))
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead to each other
            report_failure(on_failure, str(entry), why_unreadable(error))
    if count := left_out.pop(IGNORE_FILE, 0):
        report_failure(on_failure, str(root), f"{LEFT_OUT}{count:,} files and folders that {IGNORE_FILE} names")
    if left_out:
        kinds = ", ".join(f"{name} ({count:,})" for name, count in sorted(left_out.items()))
        report_failure(on_failure, str(root), f"{LEFT_OUT}{kinds}: files of programs and package managers; "
                        "name one to read it")


def _read_ignore_file(path: Path, on_failure: OnFailure) -> GitIgnoreSpec | None:
    """Return the patterns of an ignore file, none if there is no such file; None if it cannot be read."""
    try:
        return GitIgnoreSpec.from_lines(path.read_text("utf-8-sig", "replace").splitlines() if path.is_file() else ())
    except OSError as error:
        report_failure(on_failure, str(path), why_unreadable(error))
        return None


def _why_left_out(entry: Path, root: Path, ignored: GitIgnoreSpec) -> str:
    """Return `IGNORE_FILE` or the pattern of `_OF_PROGRAMS` that leaves out an entry of a folder; "" if none does."""
    end = "/" if entry.is_dir() else ""  # by which a pattern such as "build/" matches folders only
    if ignored.match_file(f"{entry.relative_to(root).as_posix()}{end}"):
        return IGNORE_FILE
    number = _PROGRAMS.check_file(f"{entry.name.lower()}{end}").index  # of the pattern that matches
    return "" if number is None else _OF_PROGRAMS[number]


def distinct_files(files: Iterator[FoundFile], on_failure: OnFailure) -> Iterator[FoundFile]:
    """Yield the files, but of those of the formats `PUBLISHED` with the same bytes only the first."""
    first_by_digest: dict[bytes, FoundFile] = {}
    for file in files:
        first = file
        if file.path.suffix.lower() in PUBLISHED:
            with suppress(OSError, UnreadableError), open_file(file.real) as stream:  # reported when the file is read
                first = first_by_digest.setdefault(file_digest(stream, "sha256").digest(), file)
        if first is file:
            yield file
        else:
            report_failure(on_failure, str(file.path), f"{LEFT_OUT}the same file as {first.id}, which is read")


def report_failure(on_failure: OnFailure, source: str, reason: str) -> None:
    """Report a file, folder or record that gives no document."""
    on_failure(LoadFailure(path=clean_text(source), reason=clean_text(reason)))


def why_unreadable(error: OSError | RuntimeError) -> str:
    """Return why a file cannot be read, and what to do."""
    why = getattr(error, "strerror", None) or error
    return f"cannot be read ({why}): check that it is there and that you may read it"
