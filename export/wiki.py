"""A wiki of a knowledge base: Markdown pages of its most mentioned entities and of its tables, which Obsidian opens.

Links are relative Markdown links, so other readers of Markdown follow them, too. All text of documents is escaped: it
is shown as it stands, and marks, links and HTML in it have no effect.
"""

import io
import re
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any, NamedTuple
from urllib.parse import quote

from ..graph_store.graph.graph_file import TreeGraph
from ..graph_store.sql.engine import SqlEngine
from ..schemas.records import TableInfo
from ..text.cleaning import visible
from ..text.quantities import format_count

INDEX = "index.md"
_MOST_PAGES = 1_000
"""Pages of entities; more than this nobody looks through, and Obsidian's graph of them stays readable."""
_MOST_ROWS, _MOST_FACTS, _MOST_QUOTES = 1_000, 200, 3
_QUOTE, _LONGEST_NAME = 300, 80
"""Characters of a quote, and of the name of a file."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]%]+')
"""What Windows, links of Obsidian or addresses do not take in the name of a file."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_MARKS = re.compile(r"([\\`*_{}\[\]<>|#!$~^=%&@:])")
_DATE = (2000, 1, 1, 0, 0, 0)
"""The date of the files in a zip, so that equal wikis are equal files."""


class Page(NamedTuple):
    """A page by its path in the wiki."""

    path: str
    text: str


def wiki(graph: TreeGraph, tables: SqlEngine) -> Iterator[Page]:
    """Yield the pages of entities, then those of tables of records and documents, then the index."""
    mentioned = sorted((node for node, data in graph.nodes(data=True) if data["kind"] == "entity"),
                       key=lambda node: (-len(graph.nodes[node]["documents"]), -graph.degree(node),
                                         graph.nodes[node]["name"], node))
    taken = set[str]()
    paths = {node: f"entities/{_file_name(graph.nodes[node]['name'], graph.nodes[node]['type'], taken)}"
             for node in mentioned[:_MOST_PAGES]}
    for node, path in paths.items():
        yield Page(path, "\n".join(_entity_lines(graph, node, paths)))
    listed, taken = dict[str, TableInfo](), set[str]()
    for table in tables.tables():
        if table.kind in {"records", "documents"}:
            path = f"tables/{_file_name(table.name, '', taken)}"
            listed[path] = table
            yield Page(path, "\n".join(_table_lines(table, tables)))
    yield Page(INDEX, "\n".join(_index_lines(graph, paths, len(mentioned), listed)))


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
    """Return a file for a name that is not `taken`, also where capitals are not told apart, and take it.

    A second page of the name has its kind behind it, and then a number.
    """
    stem = _safe_name(name)
    with_kind = [f"{stem} ({_safe_name(kind)})"] if kind else []
    candidates = chain([stem], with_kind, (f"{stem} {number}" for number in count(2)))
    chosen = next(name for name in candidates if name.casefold() not in taken)
    taken.add(chosen.casefold())
    return f"{chosen}.md"


def _safe_name(name: str) -> str:
    """Return a name without what a file's name may not have, cut to a length that every system takes."""
    safe = " ".join(_UNSAFE.sub(" ", unicodedata.normalize("NFC", visible(name))).split())
    # Most systems limit a file's name to 255 bytes, and a character of other scripts takes up to four.
    safe = safe[:_LONGEST_NAME].encode()[:2 * _LONGEST_NAME].decode(errors="ignore").strip(" .")
    return f"_{safe}" if not safe or _RESERVED.fullmatch(safe) else safe


def _entity_lines(graph: TreeGraph, node: str, paths: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of an entity's page; `paths` has the pages of entities by the id of their node."""
    entity = graph.nodes[node]
    yield f"# {_plain(entity['name'])}\n"
    line = f"{_plain(entity['type'] or 'Entity')}, in {format_count(len(entity['documents']), 'document')}"
    if others := [name for name in entity["names"] if name != entity["name"]]:
        line += f"; also called {', '.join(map(_plain, others))}"
    yield f"{line}\n"
    yield from _section("Facts", [*_fact_lines(graph, node, paths)])
    values = [f"- {_plain(attribute.replace('_', ' '))}: {_plain(value)}\n{_quotes(sources)}"
              for attribute, sources_of_value in entity["attributes"].items()
              for value, sources in sources_of_value.items()]
    yield from _section("Values", values)
    yield from _section("Documents", [f"- {_plain(document)}" for document in entity["documents"]])
    yield f"[Index](../{INDEX})\n"


def _section(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"## {title}\n"
        yield from items[:_MOST_FACTS]
        if len(items) > _MOST_FACTS:
            yield f"- … {len(items) - _MOST_FACTS:,} more"
        yield ""


def _fact_lines(graph: TreeGraph, node: str, paths: Mapping[str, str]) -> Iterator[str]:
    """Yield the facts of an entity, first those in which it is the subject; the other end is a link to its page."""
    def link(end: str) -> str:
        name = _plain(graph.nodes[end]["name"])
        return f"[{name}]({quote(paths[end].rpartition('/')[2])})" if end in paths and end != node else name

    incoming = [edge for edge in graph.in_edges(node, data=True) if edge[0] != node]  # a loop is among the outgoing
    for head, tail, fact in [*graph.out_edges(node, data=True), *incoming]:
        if fact["kind"] == "triple":
            relation = _plain(fact["relation"].replace("_", " "))
            time = f" ({_plain(fact['time'])})" if fact.get("time") else ""
            yield f"- {link(head)} *{relation}* {link(tail)}{time}\n{_quotes(fact['sources'])}"


def _quotes(sources: Sequence[Mapping[str, Any]]) -> str:
    """Return the quotes of the first sources as a Markdown quotation, and how many more sources there are."""
    lines = [f"  > “{_plain(_cut(source['quote']))}” — {_plain(source['document'])}"
             for source in sources[:_MOST_QUOTES]]
    if len(sources) > _MOST_QUOTES:
        lines.append(f"  > … and {format_count(len(sources) - _MOST_QUOTES, 'source')} more")
    return "\n  >\n".join(lines)


def _table_lines(table: TableInfo, tables: SqlEngine) -> Iterator[str]:
    result = tables.run(f'SELECT * FROM "{table.name}"', most_rows=_MOST_ROWS, most_cited=0)  # noqa: S608
    yield f"# {_plain(table.title or table.name)}\n"
    yield f"{format_count(table.rows, 'row')}, in SQL `{table.name}`\n"
    yield f"| {' | '.join(map(_plain, result.columns))} |"
    yield f"|{'---|' * len(result.columns)}"
    for row in result.rows:
        texts = (", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
                 for value in row)
        yield f"| {' | '.join(_plain(_cut(text)) for text in texts)} |"
    if result.total > len(result.rows):
        yield f"\n… {result.total - len(result.rows):,} more rows"
    yield f"\n[Index](../{INDEX})\n"


def _index_lines(graph: TreeGraph, paths: Mapping[str, str], entities: int, tables: Mapping[str, TableInfo],
                 ) -> Iterator[str]:
    yield f"# {_plain(graph.graph['name'])}\n"
    left = f", the {len(paths):,} most mentioned have a page" if entities > len(paths) else ""
    documents = format_count(graph.graph["documents"], "document")
    yield f"{documents}, {format_count(entities, 'entity', 'entities')}{left}, {format_count(len(tables), 'table')}\n"
    if tables:
        yield "## Tables\n"
        for path, table in tables.items():
            yield f"- [{_plain(table.title or table.name)}]({quote(path)}), {format_count(table.rows, 'row')}"
        yield ""
    by_type = defaultdict[str, list[str]](list)
    for node in paths:
        by_type[graph.nodes[node]["type"]].append(node)
    for kind, nodes in sorted(by_type.items()):
        yield f"## {_plain(kind or 'Entities')}\n"
        for node in sorted(nodes, key=lambda node: (graph.nodes[node]["name"].casefold(), node)):
            yield f"- [{_plain(graph.nodes[node]['name'])}]({quote(paths[node])})"
        yield ""


def _plain(text: str) -> str:
    """Return text on one line as Markdown that shows it as it stands."""
    return _MARKS.sub(r"\\\1", " ".join(visible(text).split()))


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTE else f"{text[:_QUOTE]}…"
