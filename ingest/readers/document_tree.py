"""A docutils document tree as text: headings, lists and code in Markdown, tables as rows."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from docutils import nodes

from ...text.cleaning import one_line
from ..grids import GridCell, SpanningCell, grid_lines, place_cells

_DEEPEST_HEADING = 6
_SKIPPED = (nodes.comment, nodes.substitution_definition, nodes.target, nodes.pending, nodes.raw, nodes.meta,
            nodes.transition, nodes.decoration, nodes.system_message)
_NOTED = {nodes.attention: "Attention", nodes.caution: "Caution", nodes.danger: "Danger", nodes.error: "Error",
          nodes.hint: "Hint", nodes.important: "Important", nodes.note: "Note", nodes.tip: "Tip",
          nodes.warning: "Warning"}
Blocks = Iterator[str]


def read_fields(tree: Any) -> dict[str, object]:
    """Return the fields of the list at the top, with names in lower case, and remove the list from the tree."""
    for node in tree.children:
        if isinstance(node, nodes.field_list):
            tree.remove(node)
            return {one_line(field[0].astext()).lower(): _field_value(field[1]) for field in node}
        if not isinstance(node, (nodes.title, nodes.subtitle, *_SKIPPED)):
            return {}
    return {}


def _field_value(body: Any) -> object:
    items = [one_line(item.astext()) for item in body.findall(nodes.list_item)]
    return items or one_line(body.astext()).rstrip(",")


def write_tree(tree: Any, title: str) -> str:
    """Write a document.

    Args:
        tree: the document, as docutils returns it.
        title: the subject of a table that is under no heading.

    Returns:
        Its blocks, with a blank line between them.
    """
    for mark in tree.findall(lambda node: isinstance(node, nodes.footnote_reference | nodes.citation_reference)):
        mark[:] = [nodes.Text(f"[{mark.astext()}]")]
    writer = _Writer(title)
    return "\n\n".join(writer.children(tree))


class _Writer:
    """The blocks of a tree in order; it remembers the heading that a table is under."""

    def __init__(self, title: str) -> None:
        self._heading = title
        self._depth = 0
        self._writers: dict[type[Any], Callable[[Any], Blocks]] = {
            nodes.section: self._section, nodes.title: self._title, nodes.subtitle: self._title,
            nodes.paragraph: _paragraph, nodes.literal_block: _code, nodes.doctest_block: _code,
            nodes.math_block: _paragraph, nodes.line_block: _verse, nodes.table: self._table,
            nodes.bullet_list: self._list, nodes.enumerated_list: self._list,
            nodes.definition_list: self._definitions, nodes.field_list: self._definitions,
            nodes.option_list: self._definitions, nodes.footnote: self._footnote, nodes.citation: self._footnote,
            nodes.topic: self._topic, nodes.admonition: self._topic, nodes.sidebar: self._topic,
            nodes.image: _image}

    def children(self, node: Any) -> Blocks:
        """Yield the blocks within a node."""
        return chain.from_iterable(map(self._blocks, node.children))

    def _blocks(self, node: Any) -> Blocks:
        write = self._writers.get(type(node))
        if write:
            return write(node)
        if isinstance(node, nodes.system_message):
            return _write_unparsed(node)
        if isinstance(node, _SKIPPED):
            return iter(())
        if type(node) in _NOTED:
            return _with_label(_NOTED[type(node)], self.children(node))
        if isinstance(node, nodes.TextElement):  # rubrics, captions, attributions
            return _paragraph(node)
        return self.children(node)

    def _section(self, node: Any) -> Blocks:
        self._depth += 1
        yield from self.children(node)
        self._depth -= 1

    def _title(self, node: Any) -> Blocks:
        text = one_line(node.astext())
        if text:
            self._heading = text
            level = self._depth + 1 if isinstance(node.parent, nodes.section) else 1
            yield f"{'#' * min(level, _DEEPEST_HEADING)} {text}"

    def _topic(self, node: Any) -> Blocks:
        """Yield a topic under its own title; a table of contents is none, because it repeats the headings."""
        if "contents" not in node["classes"]:
            label = next((one_line(child.astext()) for child in node if isinstance(child, nodes.title)), "")
            inside = chain.from_iterable(self._blocks(child) for child in node if not isinstance(child, nodes.title))
            yield from _with_label(label, inside)

    def _footnote(self, node: Any) -> Blocks:
        label = one_line(node[0].astext()) if isinstance(node[0], nodes.label) else ""
        inside = chain.from_iterable(self._blocks(child) for child in node if not isinstance(child, nodes.label))
        return _join(f"[{label}] ", inside)

    def _list(self, node: Any) -> Blocks:
        items = (_indent_below(_mark(node, at), self.children(item)) for at, item in enumerate(node))
        yield "\n".join(filter(None, items))

    def _definitions(self, node: Any) -> Blocks:
        """Yield "Term: definition" for the items of a list of definitions, fields or options."""
        for item in node:
            term = " : ".join(one_line(part.astext()) for part in item[:-1])
            yield from _with_label(term, self.children(item[-1]))

    def _table(self, node: Any) -> Blocks:
        group = next(child for child in node if isinstance(child, nodes.tgroup))
        caption = next((one_line(child.astext()) for child in node if isinstance(child, nodes.title)), "")
        grid = _grid(group)
        if not grid:
            yield from self.children(group)
        else:
            yield "\n".join(filter(None, [caption, *grid_lines(grid, caption or self._heading)]))


def _grid(group: Any) -> list[list[GridCell]]:
    rows = [(row, isinstance(part, nodes.thead)) for part in group
            if isinstance(part, nodes.thead | nodes.tbody) for row in part]
    return place_cells([SpanningCell(GridCell(_cell(entry), is_header), entry.get("morecols", 0) + 1,
                                     entry.get("morerows", 0) + 1) for entry in row] for row, is_header in rows)


def _cell(entry: Any) -> str:
    parts = list(entry.findall(nodes.TextElement))
    return "; ".join(filter(None, (one_line(part.astext()) for part in parts if part.parent not in parts)))


def _paragraph(node: Any) -> Blocks:
    text = one_line(node.astext())
    if text:
        yield text


def _verse(node: Any) -> Blocks:
    yield "\n".join(one_line(line.astext()) for line in node.findall(nodes.line))


def _image(node: Any) -> Blocks:
    if node.get("alt"):
        yield one_line(node["alt"])


def _code(node: Any) -> Blocks:
    text = node.astext().strip("\n")
    fence = "```"
    while fence in text:
        fence += "`"
    yield f"{fence}\n{text}\n{fence}"


def _write_unparsed(message: Any) -> Blocks:
    """Yield what docutils could not parse, such as a table with broken lines, as it is."""
    return (block.astext() for block in message.findall(nodes.literal_block))


def _with_label(label: str, blocks: Blocks) -> Blocks:
    return _join(f"{label}{'' if label.endswith((':', '?', '!')) else ':'} " if label else "", blocks)


def _join(before: str, blocks: Blocks) -> Blocks:
    """Yield the blocks, the first with some words before it; the words alone if there is no block."""
    first = next(blocks, "")
    if first.startswith(("```", "|", "#", "- ")):
        yield before.strip()
        yield first
    elif before or first:
        yield f"{before}{first}".strip()
    yield from blocks


def _mark(node: Any, at: int) -> str:
    if isinstance(node, nodes.bullet_list):
        return "- "
    number = node.get("start", 1) + at
    letters = {"loweralpha": "abcdefghijklmnopqrstuvwxyz", "upperalpha": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}.get(
        node.get("enumtype", ""), "")
    return f"{letters[number - 1] if number <= len(letters) else number}. "


def _indent_below(mark: str, blocks: Blocks) -> str:
    """Return an item: its blocks without blank lines between them, each line after the first set in."""
    lines = (line for block in blocks for line in block.split("\n"))
    return "\n".join(f"{'  ' if at else mark}{line}" for at, line in enumerate(lines))
