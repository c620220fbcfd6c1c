"""reStructuredText to text with headings in Markdown: docutils parses it, `document_tree` writes what it found."""

import re
from io import StringIO
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Parser
from docutils.readers import standalone
from docutils.transforms import Transform

from ..content import Content
from ..decoding import decode
from ..reading_limits import LONGEST_LINE, Limits, explain_long_line
from .document_tree import read_fields, write_tree
from .restructured_names import LEFT_OUT, register_names

_SETTINGS = {
    "_disable_config": True, "file_insertion_enabled": False, "raw_enabled": False, "input_encoding": "unicode",
    "report_level": 5, "halt_level": 5, "line_length_limit": LONGEST_LINE, "syntax_highlight": "none",
    "docinfo_xform": False, "language_code": "en"}
# The head of a Python proposal: fields as in a mail, without the colon before their names.
_MAIL_HEAD = re.compile(r"\s*+(?:[A-Z][\w-]{0,40}:[^\n]*+\n(?:[ \t][^\n]*+\n)*+){2}")


def read_rst(data: bytes, _: Limits) -> Content:
    """Read a file in reStructuredText.

    Args:
        data: the file's bytes.

    Returns:
        The text: headings as `# ` lines, tables as rows, lists with their marks, code in fences, links and roles as
        their words. The field list at the top is the metadata. The title is its field `title`, else the document's.
        Comments are left out. Raw HTML and included files are not read; `unread` counts them.

    Raises:
        UnreadableError: the bytes are not text, or their encoding cannot be detected.
    """
    text = decode(data)
    if reason := explain_long_line(text):
        return Content(text, unread=reason)
    register_names(text)
    parser = Parser(rfc2822=_MAIL_HEAD.match(text) is not None)
    settings = {**_SETTINGS, "warning_stream": StringIO()}
    tree = publish_doctree(text, reader=_Reader(), parser=parser, settings_overrides=settings)
    fields = read_fields(tree)
    title = str(fields.pop("title", "")) or str(tree.get("title", "")) or _first_heading(tree)
    return Content(write_tree(tree, title), title, fields, unread=_count_left_out(tree))


def _first_heading(tree: Any) -> str:
    found = next(iter(tree.findall(nodes.title)), None)
    return " ".join(found.astext().split()) if found is not None else ""


def _count_left_out(tree: Any) -> str:
    count = sum(LEFT_OUT in node["classes"] for node in tree.findall(nodes.comment))
    return (f"{count:,} parts that are raw HTML or are included from other files were not read: write them as text, or "
            "add these files" if count else "")


class _Reader(standalone.Reader):  # type: ignore[misc]  # docutils has no types
    """A reader of whole documents that bounds what substitutions can multiply."""

    def get_transforms(self) -> list[Any]:
        return [*super().get_transforms(), _FlatSubstitutions]


class _FlatSubstitutions(Transform):  # type: ignore[misc]
    """Leave names within definitions as they are: ten in each of ten definitions would make ten billion words."""

    default_priority = 210  # before docutils replaces names, at 220

    def apply(self) -> None:
        for definition in self.document.findall(nodes.substitution_definition):
            for name in list(definition.findall(nodes.substitution_reference)):
                name.replace_self(nodes.Text(f"|{name.astext()}|"))
