"""Read the fields at the head of a text as metadata: "Name: value" lines, a list of them, or a table of two columns.

Such as these, with or without a title above them. Lines may be set as code, between "<pre>" or "```", and then stand
behind other text, such as a notice, if there is no heading in between:

    Author: Ada Blum, Bo Ek          | Field  | Value           |
    Status: Draft                    |--------|-----------------|
                                     | Author | Ada Blum, Bo Ek |
"""

import re
from collections.abc import Mapping
from itertools import takewhile
from textwrap import dedent

from ..text.section_lines import lines_under
from .field_sections import hide_unnamed_items, read_blocks
from .source_tables import collected_tables
from .table_lines import FORM_FIELDS, with_rows

_HEAD = 100_000  # the characters of a text at whose beginning its head is looked for
_TITLE = re.compile(r"\s*+(?:#[ \t][^\n]{1,300}|[^\n|:：]{1,200}\n={3,}|[^\n|:：#>]{1,200}(?=\n[ \t]*\n))\n")
_ENDS = re.compile(r"[ \t]*(?:\Z|\n[ \t]*(?:\Z|\n|#|-{3}))")
_HEADING = re.compile(r"^(?:#{1,6}[ \t]|==)", re.M)  # of Markdown or a wiki, or the line below one
_FENCE = re.compile(r"^[ \t]*+(?P<mark><pre>|```|~~~)(?P<language>[^\n]*)\n", re.M)
_CLOSING = {"<pre>": re.compile(r"^[ \t]*+</pre>", re.M), "```": re.compile(r"^[ \t]*+```", re.M),
            "~~~": re.compile(r"^[ \t]*+~~~", re.M)}
_SENTENCE = re.compile(r"[.!?。！？]\Z")
_FEWEST, _FEWEST_UNKNOWN = 2, 3
"""The fewest fields of a head, and of one in which no name is that of a field of documents, such as "Author"."""
_FEWEST_KNOWN = 3
"""The fewest such names in code behind other text, which is more often an example."""


def split_head(text: str) -> tuple[Mapping[str, str], str]:
    """Return the fields at the head of a text, below its title if it has one, and the text without them.

    Field names are in lower case, as documents write "Author" and "author". Without a head the text stays as it is.
    """
    title = _TITLE.match(text)
    begin = title.end() if title else 0
    head = text[begin:begin + _HEAD]
    start, (fields, end) = 0, _table_fields(head)
    if not fields:
        fields, end = _line_fields(head)
    if not fields:
        fields, start, end = _code_fields(head)
    names = [name.lower() for name in fields]
    if not fields or len(set(names)) < len(names):
        return {}, text
    unnamed = (line for line, shown in zip(head[start:end].split("\n"), hide_unnamed_items(head)[start:end].split("\n"),
                                           strict=True) if line.strip() and not shown.strip())
    rest = text[:begin + start] + "".join(f"{line}\n" for line in unnamed) + text[begin + end:].lstrip("\n")
    return dict(zip(names, fields.values(), strict=True)), rest


def _line_fields(text: str) -> tuple[dict[str, str], int]:
    """Return the fields in the lines with which a text begins, and where they end; none if it begins otherwise."""
    text = hide_unnamed_items(text)
    blocks = read_blocks(lines_under(text, ""))
    if not blocks or text[:blocks[0].start].strip() or not _ENDS.match(text, blocks[0].end):
        return {}, 0
    block = blocks[0]
    is_known = any(map(FORM_FIELDS.search, block.names.values()))
    has_sentences = any(_SENTENCE.search(block.value(key)) for key in block.fields)
    is_form = len(block.fields) >= _FEWEST_UNKNOWN and not (block.is_listed or block.is_loose or has_sentences)
    if not (len(block.fields) >= _FEWEST if is_known else is_form):
        return {}, 0
    return {block.names[key]: block.value(key) for key in block.fields if block.value(key)}, block.end


def _code_fields(text: str) -> tuple[dict[str, str], int, int]:
    """Return the fields that are the whole of a piece of code above the first heading, and where it begins and ends."""
    at = 0
    while (fence := _FENCE.search(text, at)) and not _HEADING.search(text, at, fence.start()):
        if (closed := _CLOSING[fence["mark"]].search(text, fence.end())) is None:
            break
        before, at = text[:fence.start()].rstrip(), closed.end()
        code = dedent(text[fence.end():closed.start()])
        fields, end_of_fields = ({}, 0) if fence["language"].strip() else _line_fields(code)
        are_known = sum(FORM_FIELDS.search(name) is not None for name in fields) >= _FEWEST_KNOWN
        if fields and not code[end_of_fields:].strip() and (
                not before or (are_known and not before.endswith((":", "：")))):
            return fields, fence.start(), at
    return {}, 0, 0


def _table_fields(text: str) -> tuple[dict[str, str], int]:
    """Return the one record in the Markdown table with which a text begins, and where it ends; none if it has more."""
    blank = len(text) - len(text.lstrip("\n"))
    lines = "\n".join(takewhile(lambda line: line.lstrip().startswith("|"), text[blank:].split("\n")))
    with collected_tables() as tables:
        with_rows(lines, "")
    if len(tables) != 1 or len(tables[0].rows) != 1 or not any(map(FORM_FIELDS.search, tables[0].columns)):
        return {}, 0
    pairs = zip(tables[0].columns, tables[0].rows[0], strict=True)
    return {name: value for name, value in pairs if name and value}, blank + len(lines)
