"""Read reStructuredText: docutils parses it and writes it as HTML, which is read as any other page.

docutils leaves out directives and roles that it does not know. Here the argument and content of each unknown directive
are read, and the words of each unknown role. Parts of the document that HTML would lose are turned into words before.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from io import StringIO
from itertools import chain
from typing import Any, ClassVar

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.directives.tables import CSVTable
from docutils.parsers.rst.languages import en

from ...text.cleaning import one_line
from ..decoding import decode
from ..reading import Content, Limits
from .web_pages import read_html

_SETTINGS = {
    "_disable_config": True, "file_insertion_enabled": False, "raw_enabled": False, "input_encoding": "unicode",
    "report_level": 5, "halt_level": 5, "line_length_limit": sys.maxsize, "syntax_highlight": "none",
    "docinfo_xform": False, "language_code": "en"}
# The head of a Python proposal: fields as in a mail, without the colon before their names.
_MAIL_HEAD = re.compile(r"\s*+(?:[A-Z][\w-]{0,40}:[^\n]*+\n(?:[ \t][^\n]*+\n)*+){2}")
_DIRECTIVE = re.compile(r"^[ \t]*+\.\.[ \t]++(?:\|[^|\n]{1,100}\|[ \t]++)?([\w.+:-]{1,60})::", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w.+:-]{0,60}):(?=`)|`:([A-Za-z][\w.+:-]{0,60}):")
_TARGET = re.compile(r"(?<!\s)\s*+<[^<>]*+>\Z")
_PREFIXES = {"pep": "PEP ", "pep-reference": "PEP ", "rfc": "RFC ", "rfc-reference": "RFC "}
LEFT_OUT = "left-out"
"""The class of the comments that replace what is not read."""
_VERSIONS = {"versionadded": "Added in version", "versionchanged": "Changed in version",
             "deprecated": "Deprecated since version", "versionremoved": "Removed in version"}
_SILENT = frozenset({"index", "highlight", "toctree", "currentmodule", "module", "default-domain", "tabularcolumns",
                     "only", "ifconfig", "automodule", "autoclass", "autofunction", "autosummary"})
"""Directives whose argument is not text."""
_HIDDEN = frozenset({"toctree", "index", "autosummary"})
"""Directives whose content is not text either."""
_PAGE = {"_disable_config": True, "embed_stylesheet": False, "stylesheet_path": None, "output_encoding": "unicode"}
_SKIPPED = (nodes.comment, nodes.substitution_definition, nodes.target, nodes.pending, nodes.raw, nodes.meta,
            nodes.transition, nodes.decoration)
_NOTED = {nodes.attention: "Attention", nodes.caution: "Caution", nodes.danger: "Danger", nodes.error: "Error",
          nodes.hint: "Hint", nodes.important: "Important", nodes.note: "Note", nodes.tip: "Tip",
          nodes.warning: "Warning"}


def read_rst(data: bytes, _: Limits) -> Content:
    """Read a file in reStructuredText.

    Args:
        data: the file's bytes.

    Returns:
        The text: headings as `# ` lines, tables as rows, lists with their marks, code in fences, links and roles as
        their words. The field list at the top is the metadata. The title is its field `title`, or else the document's
        title. Comments are left out. Raw HTML and included files are not read; `unread` counts them.

    Raises:
        UnreadableError: the bytes are not text, or their encoding cannot be detected.
    """
    text = decode(data)
    register_names(text)
    parser = Parser(rfc2822=_MAIL_HEAD.match(text) is not None)
    settings = {**_SETTINGS, "warning_stream": StringIO()}
    tree = publish_doctree(text, parser=parser, settings_overrides=settings)
    fields = _read_fields(tree)
    title = str(fields.pop("title", "")) or str(tree.get("title", "")) or _first_heading(tree)
    unread = _count_left_out(tree)
    return Content(_write_tree(tree, title), title, fields, unread=unread)


def _first_heading(tree: Any) -> str:
    title_node = next(iter(tree.findall(nodes.title)), None)
    return " ".join(title_node.astext().split()) if title_node is not None else ""


def _count_left_out(tree: Any) -> str:
    """Return a message with the number of parts that were not read, or "" if all were."""
    count = sum(LEFT_OUT in node["classes"] for node in tree.findall(nodes.comment))
    return (f"{count:,} parts that are raw HTML or are included from other files were not read: write them as text, or "
            "add these files" if count else "")


def _read_fields(tree: Any) -> dict[str, object]:
    """Return the fields of the list at the top, with names in lower case, and remove the list from the tree."""
    for node in tree.children:
        if isinstance(node, nodes.field_list):
            tree.remove(node)
            return {one_line(field[0].astext()).lower(): _field_value(field[1]) for field in node}
        if not isinstance(node, (nodes.title, nodes.subtitle, nodes.system_message, *_SKIPPED)):
            return {}
    return {}


def _field_value(body: Any) -> object:
    items = [one_line(item.astext()) for item in body.findall(nodes.list_item)]
    return items or one_line(body.astext()).rstrip(",")


def _write_tree(tree: Any, title: str) -> str:
    """Return the text of a document, whose tree is changed, by writing it as HTML and reading that."""
    for kinds, replace in _REPLACED:
        for node in list(tree.findall(lambda node, kinds=kinds: isinstance(node, kinds))):
            place = node.parent.index(node)
            node.parent[place : place + 1] = list(replace(node))
    tree["title"] = title or " "  # without a title, docutils would use the name of the source
    return read_html(publish_from_doctree(tree, writer="html5", settings_overrides=_PAGE).encode()).text


def _unparsed(message: Any) -> Iterable[Any]:
    """Return the source lines of a part that docutils could not parse, such as a broken table, from its message."""
    return (nodes.line_block("", *(nodes.line("", line) for line in block.astext().split("\n")))
            for block in message.findall(nodes.literal_block))


def _list_definitions(listed: Any) -> Iterable[Any]:
    """Return the paragraphs "Term: definition" of a list of definitions, fields or options."""
    return chain.from_iterable(
        _with_label(" : ".join(one_line(part.astext()) for part in item[:-1]), item[-1]) for item in listed)


def _topic(node: Any) -> Iterable[Any]:
    """Return the content of a topic after its title; nothing for a table of contents, which repeats the headings."""
    if "contents" in node["classes"]:
        return ()
    label = next((one_line(child.astext()) for child in node if isinstance(child, nodes.title)), "")
    return _with_label(label, [child for child in node if not isinstance(child, nodes.title)])


def _footnote(node: Any) -> Iterable[Any]:
    """Return the content of a footnote after its label in brackets, if it has a label."""
    blocks = [child for child in node if not isinstance(child, nodes.label)]
    has_label = len(blocks) < len(node)
    return _put_before(f"[{one_line(node[0].astext())}] ", blocks) if has_label else blocks


def _words(node: Any) -> Iterable[Any]:
    """Return the words of a picture or formula: as a text inside a line, or else as a paragraph."""
    words = one_line(node.get("alt", "") if isinstance(node, nodes.image) else node.astext())
    return [nodes.Text(words) if isinstance(node.parent, nodes.TextElement) else nodes.paragraph("", words)]


def _with_label(label: str, blocks: Iterable[Any]) -> Iterable[Any]:
    return _put_before(f"{label}{'' if label.endswith((':', '?', '!')) else ':'} " if label else "", blocks)


def _put_before(words: str, blocks: Iterable[Any]) -> list[Any]:
    """Return blocks with some words put before them: into the first one if it is a paragraph, else as a paragraph."""
    listed = list(blocks)
    if not listed or not isinstance(listed[0], nodes.paragraph):
        return [nodes.paragraph("", words.strip()), *listed]
    listed[0].insert(0, nodes.Text(words))
    return listed


_REPLACED = (
    (nodes.system_message, _unparsed),
    (_SKIPPED, lambda _: ()),
    ((nodes.image, nodes.math, nodes.math_block), _words),
    ((nodes.footnote_reference, nodes.citation_reference), lambda node: [nodes.Text(f"[{node.astext()}]")]),
    ((nodes.footnote, nodes.citation), _footnote),
    (tuple(_NOTED), lambda node: _with_label(_NOTED[type(node)], node)),
    ((nodes.topic, nodes.admonition, nodes.sidebar), _topic),
    ((nodes.definition_list, nodes.field_list, nodes.option_list), _list_definitions))
"""Kinds of nodes that are replaced before HTML is written, each with the function that returns the replacement."""


def register_names(text: str) -> None:
    """Register readers with docutils for the directives and roles of a text that it does not know.

    Roles that it knows are read in the same way, and directives in `_OWN` replace those of docutils.
    """
    for name in {match.lower() for match in _DIRECTIVE.findall(text)}:
        if name in _OWN:
            directives.register_directive(name, _OWN[name])
        elif name not in en.directives or name in _SILENT:
            directives.register_directive(name, _Unknown)
    for name in {(first or second).lower() for first, second in _ROLE.findall(text)}:
        roles.register_local_role(name, _read_role)


def _read_role(name: str, rawtext: str, text: str, *_: Any) -> tuple[list[Any], list[Any]]:
    """Return the words of a role, as docutils calls it: (nodes, messages)."""
    words = nodes.unescape(text)
    shown = _TARGET.sub("", words) or words
    has_target = shown != words
    if not has_target:
        shown = _PREFIXES.get(name.lower(), "") + words.lstrip("~!")
    return [nodes.inline(rawtext, shown)], []


class _Unknown(Directive):  # type: ignore[misc]  # docutils has no types
    """Reads a directive as its argument and its content, and accepts any options."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = defaultdict(lambda: directives.unchanged, {"class": directives.unchanged})

    def run(self) -> list[Any]:
        """Return the argument as a paragraph, unless it is not text, and the content."""
        argument = " ".join(" ".join(self.arguments).split())
        name = self.name.lower()
        block = nodes.container()
        if argument and name not in _SILENT:
            block += nodes.paragraph("", "", *self._words(name, argument))
        if name not in _HIDDEN:
            self.state.nested_parse(self.content, self.content_offset, block)
        return [block]

    def _words(self, name: str, argument: str) -> list[Any]:
        """Return an argument as text nodes; that of a name with a colon, as in `py:function::`, has no markup."""
        if ":" in name:
            return [nodes.Text(argument)]
        before = ""
        if name in _VERSIONS:
            version, _, argument = argument.partition(" ")
            before = f"{_VERSIONS[name]} {version}: "
        return [nodes.Text(before), *self.state.inline_text(argument, self.lineno)[0]]


class _Code(_Unknown):
    """Reads a directive with code in it, and accepts any options."""

    def run(self) -> list[Any]:
        code = "\n".join(self.content)
        return [nodes.literal_block(code, code)] if code.strip() else []


class _Date(_Unknown):
    """Leaves out the directive for today's date, because a build must not depend on its day."""

    def run(self) -> list[Any]:
        return [nodes.inline()]


class _LeftOut(_Unknown):
    """Leaves out raw HTML and other files: otherwise a document could read any file of the machine."""

    def run(self) -> list[Any]:
        return [nodes.comment("", "", classes=[LEFT_OUT])]


class _CsvTable(CSVTable):  # type: ignore[misc]
    """Reads a table of comma-separated values in the text, and accepts further options."""

    option_spec: ClassVar = defaultdict(lambda: directives.unchanged, CSVTable.option_spec)

    def run(self) -> list[Any]:
        """Return the table, or a comment in place of one from a file or an address."""
        if {"file", "url"} & self.options.keys():
            return [nodes.comment("", "", classes=[LEFT_OUT])]
        table_nodes: list[Any] = super().run()
        return table_nodes


_OWN = {**dict.fromkeys(("code", "code-block", "sourcecode", "testcode", "prompt"), _Code),
        **dict.fromkeys(("include", "literalinclude", "raw"), _LeftOut), "csv-table": _CsvTable,
        "date": _Date}
"""The readers of directives of docutils and Sphinx that are not read by docutils itself."""
