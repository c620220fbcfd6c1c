"""Records with made-up ids beside files that have such names."""

import json
import random
from pathlib import Path

from banyan.ingest.document_ids import MAX_ID
from banyan.ingest.loaders import load_documents
from banyan.ingest.reading import LoadFailure
from banyan.schemas.naming import UNSEEN

_PARTS = ("warsaw.md", "a", "é", "e\u0301", "..", ".", "/", "\\", "#", " ", "\0", "\n", "\u2028", "\u200b", "\u202e",
          "\ud800", "\ufb01", "x" * 400, "0", "报告", "\U0001f600", "%2e%2e", "C:")
_FILES = ("warsaw.md", "a.md", "records.jsonl#0.md")


class RecordIds:
    """Loads folders of files and records, and looks at what their documents are called."""

    name = "ids"

    def __init__(self, folder: Path) -> None:
        """Write the files that records may want to replace."""
        self._folder = folder / "ids"
        self._folder.mkdir()
        for name in _FILES:
            (self._folder / name).write_text(f"The file {name}.", "utf-8")

    def round(self, draw: random.Random) -> int:
        """Load once; returns how many records there were."""
        records = [{"text": f"Record {number}.", "id": self._id(draw)} for number in range(50)]
        (self._folder / "records.jsonl").write_text("\n".join(map(json.dumps, records)), "utf-8")
        failures: list[LoadFailure] = []
        documents = {document.id: document.text for document in
                     load_documents([self._folder], on_failure=failures.append)}
        for name in _FILES:
            assert documents.pop(name) == f"The file {name}.", f"{name} was replaced"
        for name in documents:
            assert name.startswith(("records.jsonl/", "records.jsonl#")), name
            assert len(name) <= MAX_ID, name
            assert name.isprintable() or not UNSEEN.search(name), ascii(name)
            name.encode()
        assert len(documents) + len(failures) == len(records), "each is read, or its failure says why"
        assert all(failure.reason for failure in failures)
        return len(records)

    @staticmethod
    def _id(draw: random.Random) -> object:
        if draw.random() < 0.1:
            return draw.choice([None, "", 7, -1, 0, 10**30, [], {}, True, 1.5])
        return "".join(draw.choices(_PARTS, k=draw.randint(1, 4)))

    def close(self) -> None:
        """Nothing is open."""
