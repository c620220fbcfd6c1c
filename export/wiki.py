"""A wiki of a knowledge base: Markdown pages of its most mentioned entities and of its tables, which Obsidian opens.

Links are relative Markdown links, so other readers of Markdown follow them, too. All text of documents is escaped: it
is shown as it stands, and marks, links and HTML in it have no effect.
"""

import io
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..graph_store.graph.graph_file import TreeGraph
from ..graph_store.sql.engine import SqlEngine
from ..schemas.records import TableInfo
from ..text.cleaning import visible
from ..text.quantities import format_count

INDEX = "index.md"
_MOST_PAGES = 1_000  # of entities: more than this nobody looks through, and Obsidian's graph of them stays readable
_MOST_ROWS, _MOST_FACTS, _MOST_QUOTES = 1_000, 200, 3  # of a table, of an entity and of a fact, for a readable page
_QUOTE, _LONGEST_NAME = 300, 80  # characters of a quote, and of the name of a file
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]%]+')
"""What Windows, links of Obsidian or addresses do not take in the name of a file."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)  # devices, to Windows
_MARKS = re.compile(r"([\\`*_{}\[\]<>|#!$~^=%&@:])")  # what Markdown or Obsidian could read as more than a character
_DATE = (2000, 1, 1, 0, 0, 0)  # the date of the files in a zip, so that equal wikis are equal files


class Page(NamedTuple):
    """A page by its path in the wiki."""

    path: str
    text: str


def wiki(graph: TreeGraph, tables: SqlEngine) -> Iterator[Page]:
    """Yield the pages of entities, then those of tables of records and documents, then the index."""
    entities = [node for node, data in graph.nodes(data=True) if data["kind"] == "entity"]
    # The most mentioned come first, then those with the most facts.
    entities.sort(key=lambda node: (-len(graph.nodes[node]["documents"]), -graph.degree(node),
                                    graph.nodes[node]["name"], node))
    taken = set[str]()
    paths = {node: f"entities/{_file_name(graph.nodes[node]['name'], graph.nodes[node]['type'], taken)}"
             for node in entities[:_MOST_PAGES]}

    def facts_of(node: str) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Return the facts of an entity: first those in which it is the subject, then the others."""
        incoming = [edge for edge in graph.in_edges(node, data=True) if edge[0] != node]  # a loop is among the outgoing
        return [edge for edge in (*graph.out_edges(node, data=True), *incoming) if edge[2]["kind"] == "triple"]

    environment = Environment(  # Markdown is escaped by `plain`
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=False)  # noqa: S701
    environment.filters |= {"address": quote, "count": format_count, "plain": _plain, "cell": _cell_text,
                            "cut": lambda text: text if len(text) <= _QUOTE else f"{text[:_QUOTE]}…"}
    pages: Any = environment.get_template("wiki.md.jinja").make_module({
        "graph": graph, "paths": paths, "facts_of": facts_of, "most": {"quotes": _MOST_QUOTES, "facts": _MOST_FACTS}})
    for node, path in paths.items():
        yield Page(path, pages.entity(node))
    listed, taken = dict[str, TableInfo](), set[str]()  # `taken` anew, as tables have a folder of their own
    for table in tables.tables():
        if table.kind in {"records", "documents"}:
            path = f"tables/{_file_name(table.name, '', taken)}"
            listed[path] = table
            rows = tables.run(f'SELECT * FROM "{table.name}"', most_rows=_MOST_ROWS, most_cited=0)  # noqa: S608
            yield Page(path, pages.table(table, rows))
    named = sorted((graph.nodes[node]["type"], graph.nodes[node]["name"].casefold(), node) for node in paths)
    yield Page(INDEX, pages.index(len(entities), listed, named))


def zipped(pages: Iterable[Page]) -> bytes:
    """Return pages as a zip file."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in pages:
            entry = zipfile.ZipInfo(page.path, _DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, page.text)
    return written.getvalue()


def _file_name(name: str, kind: str, taken: set[str]) -> str:
    """Return a file's name that is not `taken` yet, with the kind or a number if it must be, and add it to `taken`."""
    stem = _safe_name(name)
    with_kind = [f"{stem} ({_safe_name(kind)})"] if kind else []
    candidates = chain([stem], with_kind, (f"{stem} {number}" for number in count(2)))
    chosen = next(name for name in candidates if name.casefold() not in taken)  # some systems ignore capitals
    taken.add(chosen.casefold())
    return f"{chosen}.md"


def _safe_name(name: str) -> str:
    """Return a name without what a file's name may not have, cut to a length that every system takes."""
    safe = " ".join(_UNSAFE.sub(" ", unicodedata.normalize("NFC", visible(name))).split())
    # Most systems limit a file's name to 255 bytes, and a character of other scripts takes up to four.
    safe = safe[:_LONGEST_NAME].encode()[:2 * _LONGEST_NAME].decode(errors="ignore").strip(" .")
    return f"_{safe}" if not safe or _RESERVED.fullmatch(safe) else safe


def _plain(text: str) -> str:
    """Return text on one line as Markdown that shows it as it stands."""
    return _MARKS.sub(r"\\\1", " ".join(visible(text).split()))


def _cell_text(value: object) -> str:
    """Return the text of a table's cell: a list with commas, and "" for an empty cell."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
