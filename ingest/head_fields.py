"""Read the fields at the head of a text as metadata: "Name: value" lines, a list of them, or a table of two columns.

Such as these, with or without a title above them; lines may be set as code, between "<pre>" or "```":

    Author: Ada Blum, Bo Ek          | Field  | Value           |
    Status: Draft                    |--------|-----------------|
                                     | Author | Ada Blum, Bo Ek |
"""

import re
from collections.abc import Mapping
from itertools import takewhile
from textwrap import dedent

from ..text.section_lines import lines_under
from .field_sections import Block, read_blocks
from .table_lines import FORM_FIELDS, properties_of_table

_HEAD = 100_000  # the characters of a text at whose beginning its head is looked for
_TITLE = re.compile(r"\s*+(?:#[ \t][^\n]{1,300}|[^\n|:：]{1,200}\n={3,}|[^\n|:：#>]{1,200}(?=\n[ \t]*\n))\n")
_ENDS = re.compile(r"[ \t]*(?:\Z|\n[ \t]*(?:\Z|\n|#|-{3}))")
_FENCE = re.compile(r"\s*+(<pre>|```|~~~)[ \t]*\n")
_SENTENCE = re.compile(r"[.!?。！？]\Z")
_FEWEST, _FEWEST_UNKNOWN = 2, 3
"""The fewest fields of a head, and of one in which no name is that of a field of documents, such as "Author"."""


def split_head(text: str) -> tuple[Mapping[str, str], str]:
    """Return the fields at the head of a text, below its title if it has one, and the text without them.

    Field names are in lower case, as documents write "Author" and "author". Without a head the text stays as it is.
    """
    title = _TITLE.match(text)
    begin = title.end() if title else 0
    head = text[begin:begin + _HEAD]
    fields, end = _table_fields(head)
    if not fields:
        fields, end = _fenced_fields(head) or _line_fields(head)
    names = [name.lower() for name in fields]
    if not fields or len(set(names)) < len(names):
        return {}, text
    return dict(zip(names, fields.values(), strict=True)), text[:begin] + text[begin + end:].lstrip("\n")


def _line_fields(text: str) -> tuple[dict[str, str], int]:
    """Return the fields in the lines with which a text begins, and where they end; none if it begins otherwise."""
    blocks = read_blocks(lines_under(text, ""))
    if not blocks or text[:blocks[0].start].strip() or not _ENDS.match(text, blocks[0].end) or not _is_head(blocks[0]):
        return {}, 0
    block = blocks[0]
    return {block.names[key]: block.value(key) for key in block.fields if block.value(key)}, block.end


def _fenced_fields(text: str) -> tuple[dict[str, str], int] | None:
    """Return the fields that are all of the code at the beginning of a text, and where it ends; None without any."""
    fence = _FENCE.match(text)
    if fence is None:
        return None
    closing = "</pre>" if fence[1] == "<pre>" else fence[1]
    end = text.find(f"\n{closing}", fence.end())
    code = dedent(text[fence.end():max(end, 0)])
    fields, end_of_fields = _line_fields(code)
    return (fields, end + 1 + len(closing)) if fields and not code[end_of_fields:].strip() else None


def _is_head(block: Block) -> bool:
    if any(FORM_FIELDS.search(name) for name in block.names.values()):
        return len(block.fields) >= _FEWEST
    has_sentences = any(_SENTENCE.search(block.value(key)) for key in block.fields)
    return len(block.fields) >= _FEWEST_UNKNOWN and not (block.is_listed or block.is_loose or has_sentences)


def _table_fields(text: str) -> tuple[dict[str, str], int]:
    """Return the fields in the Markdown table with which a text begins, and where it ends; none if there is none."""
    blank = len(text) - len(text.lstrip("\n"))
    lines = list(takewhile(lambda line: line.lstrip().startswith("|"), text[blank:].split("\n")))
    fields = dict(properties_of_table(lines))
    is_known = any(FORM_FIELDS.search(name) for name in fields)
    return (fields, blank + len("\n".join(lines))) if is_known else ({}, 0)
