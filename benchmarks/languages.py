"""Measure what the rules find in nine languages: names as entities, and short answers.

    python benchmarks/languages.py [--details]

Documents, questions and the list of their names are in `questions/languages`; all were written before the rules for
these languages. An entity and a listed name match if they are equal in lower case, or if one contains the other and has
at least `WHOLE` of its characters.

- found: listed names that match an entity; of these, typed: as a person or a place where it is listed as such.
- precise: entities that match a listed name.
- short: questions whose short answer has the accepted one; wrong: other short answers; shown: the accepted answer is in
  the short answer or in one of the first three quotes.
"""

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import banyan
from banyan.models.rules.reader import RulesReader
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema
from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).parent / "questions" / "languages"
CORPORA = ("documents.jsonl", "more_documents.jsonl")
WHOLE = 0.7
QUOTES = 3
TYPES = {"person": "Person", "location": "Location"}


def records(name: str) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


def matches(entity: str, name: str) -> bool:
    """Return True if an entity's name is a listed name, but for an ending or a word of its kind."""
    short, long = sorted((entity.casefold(), name.casefold()), key=len)
    return short in long and len(short) >= WHOLE * len(long)


def count_names(counts: dict[str, Counter[str]], details: Console | None) -> None:
    """Add the names that are found in each document to the counts of its language."""
    reader, schema = RulesReader(), load_schema("general")
    listed = {record["id"]: record for record in records("names.jsonl")}
    for document in (document for corpus in CORPORA for document in records(corpus)):
        count, names = counts[document["id"][:2]], listed[document["id"]]
        request = ExtractionRequest(text=document["text"], title=document["title"])
        found = reader.extract([request], schema)[0].entities
        kinds = [(name, kind) for kind in ("person", "location", "other") for name in names[kind]]
        count["entities"] += len(found)
        count["names"] += len(kinds)
        precise = [entity for entity in found if any(matches(entity.name, name) for name, _ in kinds)]
        count["precise"] += len(precise)
        for name, kind in kinds:
            types = {entity.type for entity in found if matches(entity.name, name)}
            count["found"] += bool(types)
            count["typed"] += TYPES[kind] in types if kind in TYPES else bool(types - {*TYPES.values()})
        if details is not None:
            details.print(f"{document['id']}: found {[(e.name, e.type) for e in found]}, missed "
                          f"{[n for n, _ in kinds if not any(matches(e.name, n) for e in found)]}, wrong "
                          f"{[e.name for e in found if e not in precise]}", markup=False)


def count_answers(counts: dict[str, Counter[str]], details: Console | None) -> None:
    """Build a knowledge base of all documents, and add what is answered to the counts of each language."""
    with tempfile.TemporaryDirectory() as home, banyan.open("languages", home=home) as knowledge_base:
        for corpus in CORPORA:
            knowledge_base.add(FOLDER / corpus)
        for question in records("four_languages.jsonl"):
            count, accepted = counts[question["type"]], question["answers"]
            answer = knowledge_base.ask(question["question"])
            right = any(text in answer.short for text in accepted)
            count["questions"] += 1
            count["short"] += right
            count["wrong"] += bool(answer.short) and not right
            count["shown"] += right or any(text in citation.quote for text in accepted
                                           for citation in answer.citations[:QUOTES])
            if details is not None:
                details.print(f"{question['question']} -> {answer.short!r}, accepted {accepted}", markup=False)


def main() -> None:
    """Print a table with a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--details", action="store_true", help="print each document's and question's result")
    details = Console(stderr=True) if parser.parse_args().details else None
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    count_names(counts, details)
    count_answers(counts, details)
    table = Table("language", "names", "found", "typed", "entities", "precise", "questions", "short", "wrong", "shown")
    for language, count in sorted(counts.items()):
        table.add_row(language, *(str(count[str(column.header)]) for column in table.columns[1:]))
    total = sum(counts.values(), Counter())
    table.add_row("all", *(str(total[str(column.header)]) for column in table.columns[1:]))
    Console().print(table)


if __name__ == "__main__":
    main()
