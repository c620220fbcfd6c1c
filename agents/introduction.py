"""What a knowledge base is about, at a glance: for its first minute in the terminal, in Python and on the page."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import PurePosixPath

from pydantic import Field

from ..graph_store.ledger.notes import read_unread_files
from ..ingest.reading import LEFT_OUT
from ..schemas.documents import Frozen
from ..schemas.naming import normalise
from ..text.titles import UNREAD
from ..tools.index import RetrievalIndex
from ..tools.sentence_links import is_named_in_text
from .estimate import ReadingEstimate, estimate_reading
from .example_questions import ExampleQuestion, Trial, example_questions, noted_examples
from .resources import Resources

_TITLES, _ENTITIES = 8, 8
_LOOKED_AT = 200
"""Entities to consider, of those that most documents mention."""
_KINDS = {"pdf": "PDF", "md": "Markdown", "markdown": "Markdown", "mdx": "Markdown", "docx": "Word", "doc": "Word",
          "pptx": "PowerPoint", "xlsx": "Excel", "xls": "Excel", "eml": "e-mail", "mbox": "e-mail", "txt": "text",
          "htm": "HTML", "html": "HTML", "rst": "reStructuredText", "jsonl": "JSON"}
_DAY = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?:(?P<mark>[-._])(?P<month>0?[1-9]|1[0-2])(?P=mark)(?P<day>0?[1-9]|[12]\d|3[01])|"
    r"(?P<joined_month>0[1-9]|1[0-2])(?P<joined_day>0[1-9]|[12]\d|3[01]))(?!\d)")
_STATED_DATE, _FILE_DATES = "date", ("published", "created")
"""The fields of a document's metadata that date it, the best first."""


class MainEntity(Frozen):
    """An entity with the number of documents that mention it."""

    id: str
    name: str
    type: str
    documents: int


class Introduction(Frozen):
    """What the documents are about, what was not read, what can be asked, and what a model would add."""

    kb: str
    documents: int
    kinds: dict[str, int] = Field(description="documents by the kind of their file, the most frequent first")
    dates: tuple[str, str] | None = Field(description="the first and last date of the documents, YYYY-MM-DD; none: "
                                                      "no document has one")
    titles: tuple[str, ...] = Field(description="some titles, of each folder in turn")
    entities: tuple[MainEntity, ...] = Field(description="those that the most documents mention")
    unread: tuple[str, ...] = Field(description="files that the latest build could not read, and why")
    left_out: tuple[str, ...] = Field(description="what it left out because it is no document")
    partly_read: dict[str, str] = Field(description="what was not read of documents, by their ids")
    chunks_failed: int
    examples: tuple[ExampleQuestion, ...] = Field(description="questions that were tried and are answered")
    model: ReadingEstimate | None = Field(description="what reading the documents with a model would take; none: a "
                                                      "model has read them")


    def lines(self) -> list[tuple[str, str]]:
        """Return it as a few lines of English text, each with its name."""
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in self.kinds.items())
        dates = f", from {self.dates[0]} to {self.dates[1]}" if self.dates else ""
        more = self.documents - len(self.titles)
        about = ", ".join(f"{one.name} ({one.documents:,})" for one in self.entities)
        return [("kinds", f"{kinds or 'no documents yet'}{dates}"),
                ("titles", f"{'; '.join(self.titles)}{f' and {more:,} more' if more > 0 else ''}"),
                ("about", f"{about} documents" if about else "no entities yet"),
                ("not read", self._unread() or "nothing: all is read"),
                ("try", "\n".join(one.text for one in self.examples) or "no question was answered when it was tried"),
                *([("a model adds", self._offer(self.model))] if self.model else [])]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {said}" for name, said in self.lines())

    def _unread(self) -> str:
        counted = [(len(self.unread), "file"), (len(self.partly_read), "document"), (self.chunks_failed, "chunk")]
        said = [f"{number:,} {what}{'' if number == 1 else 's'}{' in part' if what == 'document' else ''}"
                for number, what in counted if number]
        return "; ".join([*said, *(line.partition(f": {LEFT_OUT}")[2] + " left out" for line in self.left_out)])

    def _offer(self, model: ReadingEstimate) -> str:
        cost = "" if model.cost is None else f", cost about {model.cost:.2f}"
        return (f"facts from sentences, and answers in its own words over several documents: about {model.calls:,} "
                f"calls, {model.prompt_tokens + model.completion_tokens:,} tokens{cost}")


def introduce(resources: Resources, name: str, answer: Trial) -> Introduction:
    """Return what a knowledge base is about.

    Args:
        resources: settings and open knowledge bases.
        name: the knowledge base.
        answer: tries an example question; see `TriedQuestions`.

    Raises:
        StoreError: there is no such knowledge base, or it cannot be read.
    """
    with resources.snapshot(name) as snapshot:
        kb, index = snapshot.kb, snapshot.index
        about = kb.documents.about()
        files = [(key, metadata) for key, _, _, metadata in about]
        noted, examples = read_unread_files(kb.database), noted_examples(kb)
        left_out = [line for line in noted if f": {LEFT_OUT}" in line]
        return Introduction(
            kb=name, documents=len(about), kinds=dict(Counter(_kind(key) for key, _ in files).most_common()),
            dates=_dates(files), titles=_titles([(key, title) for key, title, *_ in about]),
            entities=_main_entities(index), unread=tuple(line for line in noted if line not in left_out),
            left_out=tuple(left_out), chunks_failed=kb.documents.count_failed(),
            partly_read={key: metadata[UNREAD] for key, metadata in files if UNREAD in metadata},
            examples=tuple(example_questions(index, answer) if examples is None else examples),
            model=estimate_reading(resources, kb))


def _kind(document: str) -> str:
    """Return what people call the kind of a document's file; a record has the kind of the file that it is in."""
    suffix = PurePosixPath(document.partition("#")[0]).suffix.removeprefix(".").lower()
    return _KINDS.get(suffix, suffix.upper() or "text")


def _dates(files: Sequence[tuple[str, Mapping[str, str]]]) -> tuple[str, str] | None:
    days = sorted(day for key, metadata in files if (day := _day(key, metadata)))
    return (days[0], days[-1]) if days else None


def _day(document: str, metadata: Mapping[str, str]) -> str:
    """Return a document's date: what it says, then what its name says, then when the file was made."""
    for written in (metadata.get(_STATED_DATE, ""), document, *(metadata.get(field, "") for field in _FILE_DATES)):
        if found := _DAY.search(written):
            month, day = found["month"] or found["joined_month"], found["day"] or found["joined_day"]
            return f"{found['year']}-{int(month):02}-{int(day):02}"
    return ""


def _titles(documents: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return some titles, the first of each folder first."""
    folders: dict[str, list[str]] = {}
    for key, title in documents:
        folders.setdefault(str(PurePosixPath(key).parent), []).append(title or key)
    in_turn = (title for turn in zip_longest(*folders.values()) for title in turn if title)
    return tuple([*dict.fromkeys(in_turn)][:_TITLES])


def _main_entities(index: RetrievalIndex) -> tuple[MainEntity, ...]:
    """Return those that the most documents mention, without the labels of tables; of one name, the first."""
    browsing = index.browsing
    named: dict[str, int] = {}
    for row in browsing.ranked[:_LOOKED_AT].tolist():
        if is_named_in_text(index, row):
            named.setdefault(normalise(index.about(row)[0]), row)
    return tuple(MainEntity(id=index.entity_row.at(row), name=index.about(row)[0], type=index.about(row)[1],
                            documents=int(browsing.documents[row])) for row in islice(named.values(), _ENTITIES))
