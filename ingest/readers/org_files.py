"""Read Org files: headings in Markdown, with their states, tags, dates and properties as lines."""

import re
from collections.abc import Iterator, Sequence

import orgparse
from orgparse.node import OrgNode

from ...text.cleaning import one_line
from ..decoding import decode
from ..reading import Content, Limits

_DEEPEST_HEADING = 6
_FIELDS = ("AUTHOR", "DATE", "EMAIL", "KEYWORDS", "DESCRIPTION", "SUBTITLE", "CATEGORY", "FILETAGS")
_CODE = re.compile(r"[ \t]*+#\+(?P<edge>begin|end)_(?:src|example|export)\b", re.IGNORECASE)
_MARK = re.compile(r"[ \t]*+#(?:[ \t]|\+[\w-]{1,40}(?::|\b)|$)")
_RULE = re.compile(r"[ \t]*+\|[-+|]++[ \t]*+")
_CLOCK = re.compile(r"[ \t]*+CLOCK:|[ \t]*+:(?:LOGBOOK|END):")
_DATE = re.compile(r"[<\[](\d{4}-\d{2}-\d{2})[^<>\[\]]{0,40}[>\]]")


def read_org(data: bytes, _: Limits) -> Content:
    """Read an Org file as Markdown, with a heading's state, tags, dates and properties as "name: value" lines below it.

    Comments are left out. The title is that of `#+TITLE:`, or else the first heading; other such fields are the
    metadata. If orgparse cannot parse the file, its text is returned unchanged, and `unread` says so.

    Raises:
        UnreadableError: the bytes are not text, or their encoding cannot be detected.
    """
    text = decode(data)
    try:
        root = orgparse.loads(text)
        nodes: list[OrgNode] = list(root)
    except ValueError as error:
        return Content(text, unread=f"a date or property is broken ({error}), so its markup was not read: mend it")
    title = one_line(" ".join(root.get_file_property_list("TITLE")))
    fields = {name.lower(): _plain("; ".join(root.get_file_property_list(name))) for name in _FIELDS}
    first = next((node.heading for node in nodes if node.heading), "")
    blocks = (block for node in nodes for block in _blocks(node))
    return Content("\n\n".join(filter(None, blocks)), title or first, fields)


def _blocks(node: OrgNode) -> Iterator[str]:
    """Yield the heading of a node, its properties, and the text under it; each may be empty."""
    if node.level:
        yield f"{'#' * min(node.level, _DEEPEST_HEADING)} {_plain(node.heading)}"
        yield "\n".join(f"{name}: {value}" for name, value in _facts(node) if value)
    yield "\n".join(_lines(node.get_body(format="plain").split("\n"))).strip("\n")


def _facts(node: OrgNode) -> Iterator[tuple[str, str]]:
    """Yield the state, tags, dates and properties of a heading as pairs of a name and a value, which may be empty."""
    yield from (("Status", str(node.todo or "")), ("Priority", str(node.priority or "")),
                ("Tags", ", ".join(sorted(node.shallow_tags))))
    for name, date in (("Scheduled", node.scheduled), ("Deadline", node.deadline), ("Closed", node.closed)):
        yield name, str(date.start)[:10] if date else ""
    yield from ((name.capitalize(), _plain(str(value))) for name, value in node.properties.items())


def _lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a text in Markdown: with fences around code, and without comments, settings and clocks."""
    is_code = False
    for line in lines:
        edge = _CODE.match(line)
        if edge:
            is_code = edge["edge"].lower() == "begin"
            yield "```"
        elif is_code:
            yield line
        elif _RULE.fullmatch(line):
            yield line.replace("+", "|")
        elif not _MARK.match(line) and not _CLOCK.match(line):
            yield _DATE.sub(r"\1", line)
    if is_code:
        yield "```"


def _plain(text: str) -> str:
    return _DATE.sub(r"\1", one_line(text))
