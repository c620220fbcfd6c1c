"""Copies of the PDF files that documents were read from, so a page can be shown beside its text."""

import hashlib
import shutil
from pathlib import Path

from ..runtime.safe_files import whole_file
from ..schemas.documents import Document

_ENDING = ".pdf"


class PrintedWorks:
    """Copies of the PDF files of a knowledge base's documents; only the web page shows them, so any may be missing."""

    def __init__(self, folder: Path, *, active: bool = True) -> None:
        """Use a folder for the copies; not `active` if machines share the ledger, as deletions would miss copies."""
        self._folder = folder
        self._active = active

    def keep(self, document: Document) -> None:
        """Copy the PDF file of a document that was just read, or remove the copy of an earlier one.

        The document's source must not come from a client, who could name any file of this machine.
        """
        source = Path(document.source)
        if not self._active or not document.pages or source.suffix.lower() != _ENDING or not source.is_file():
            self._path_of_copy(document.id).unlink(missing_ok=True)
            return
        self._folder.mkdir(mode=0o700, exist_ok=True)
        with source.open("rb") as original, whole_file(self._path_of_copy(document.id)) as copy:
            shutil.copyfileobj(original, copy)

    def find(self, document_id: str) -> Path | None:
        """Return the copy of a document's PDF file, or None."""
        place = self._path_of_copy(document_id)
        return place if place.is_file() else None

    def keep_only(self, document_ids: set[str]) -> None:
        """Remove the copies of all other documents."""
        wanted = {self._path_of_copy(document) for document in document_ids}
        for copy in self._folder.glob(f"*{_ENDING}"):
            if copy not in wanted:
                copy.unlink(missing_ok=True)

    def _path_of_copy(self, document_id: str) -> Path:
        return self._folder / f"{hashlib.sha256(document_id.encode()).hexdigest()[:32]}{_ENDING}"
