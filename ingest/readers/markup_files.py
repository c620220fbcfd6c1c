"""Read reStructuredText.

docutils writes it as HTML, which is read as any other page, with the words of directives and roles unknown to it.
"""

import re
import sys
from collections import defaultdict
from io import StringIO
from typing import Any, ClassVar

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

from ...text.cleaning import clean_text, one_line
from ...text.lexicon import WORDS
from ..field_sections import split_head
from ..reading import Content, Limits, decode
from .web_pages import read_html

_SETTINGS = {"_disable_config": True, "file_insertion_enabled": False, "raw_enabled": False, "language_code": "en",
             "report_level": 5, "halt_level": 5, "line_length_limit": sys.maxsize, "syntax_highlight": "none",
             "docinfo_xform": False, "input_encoding": "unicode"}
_PAGE = {"_disable_config": True, "embed_stylesheet": False, "stylesheet_path": None, "output_encoding": "unicode",
         "math_output": "LaTeX", "toc_backlinks": False, "footnote_references": "brackets"}
_DIRECTIVE = re.compile(r"^[ \t]*+\.\.[ \t]++(?:\|[^|\n]{1,100}\|[ \t]++)?([\w.+:-]{1,60})::", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w.+:-]{0,60}):(?=`)|`:([A-Za-z][\w.+:-]{0,60}):")
_TARGET = re.compile(r"(?<!\s)\s*+<[^<>]*+>\Z")  # what a role leads to: <https://...> behind its words
_PREFIXES = {"pep": "PEP ", "pep-reference": "PEP ", "rfc": "RFC ", "rfc-reference": "RFC "}
_VERSIONS = {"versionadded": "Added in version", "versionchanged": "Changed in version",
             "deprecated": "Deprecated since version", "versionremoved": "Removed in version"}
_SILENT = WORDS["silent directives"]  # whose argument is not text
_HIDDEN = frozenset({"toctree", "index", "autosummary", "date"})  # directives whose content is not text either
_OF_OTHER_FILES = frozenset({"include", "literalinclude", "raw"})
"""Directives that are not read: otherwise a document could read any file of the machine."""
_OF_CODE = frozenset({"code", "code-block", "sourcecode", "testcode", "prompt"})
_LEFT_OUT = "left-out"  # the class of the comments that replace what is not read


def read_rst(data: bytes, _: Limits) -> Content:
    """Read a file in reStructuredText."""
    fields, text = split_head(clean_text(decode(data)))
    # Read directives that docutils does not know, or would read otherwise, and all roles, by their words; docutils
    # keeps these readers for the whole process.
    for name in {match.lower() for match in _DIRECTIVE.findall(text)}:
        if name not in en.directives or name in _SILENT | _OF_OTHER_FILES | _OF_CODE:
            directives.register_directive(name, _Unknown)
    for name in {(first or second).lower() for first, second in _ROLE.findall(text)}:
        roles.register_local_role(name, _read_role)
    # Without a title of its own, that of an only section is the document's.
    settings = {**_SETTINGS, "warning_stream": StringIO(), "doctitle_xform": "title" not in fields}
    tree = publish_doctree(text, settings_overrides=settings)
    # An "x" in front, because "A. M. Blum" alone would be an item of a list.
    plain = {name: publish_doctree(f"x {value}", settings_overrides=settings).astext()[2:]
             for name, value in fields.items()}
    titles = (node.astext() for node in tree.findall(nodes.title))
    title = one_line(plain.pop("title", "") or tree.get("title", "") or next(titles, ""))
    left_out = sum(_LEFT_OUT in node["classes"] for node in tree.findall(nodes.comment))
    _write_plainly(tree)
    tree["title"] = title or " "  # without a title, docutils would use the name of the source
    page = publish_from_doctree(tree, writer="html5", settings_overrides=_PAGE)
    return Content(read_html(page.encode()).text, title, plain, unread=(
        f"{left_out:,} parts that are raw HTML or are included from other files were not read: write them as text, or "
        "add these files" if left_out else ""))


def _write_plainly(tree: Any) -> None:
    """Change a tree so that the words of its pictures and of parts that docutils could not parse are text in it."""
    for message in list(tree.findall(nodes.system_message)):
        unparsed = "\n".join(block.astext() for block in message.findall(nodes.literal_block))
        lines = [nodes.line("", line) for line in unparsed.split("\n")]
        message.parent.replace(message, [nodes.line_block("", *lines)] if unparsed else [])
    for classifier in tree.findall(nodes.classifier):  # as in "term : type", whose colon docutils takes away
        classifier.insert(0, nodes.Text(": "))
    for image in list(tree.findall(nodes.image)):
        words = one_line(image.get("alt", ""))
        is_in_line = isinstance(image.parent, nodes.TextElement)
        image.parent.replace(image, nodes.Text(words) if is_in_line else nodes.paragraph("", words))


def _read_role(name: str, rawtext: str, text: str, *_: Any) -> tuple[list[Any], list[Any]]:
    """Return the words of a role without what it leads to, in the form that docutils demands: (nodes, messages)."""
    words = nodes.unescape(text)
    shown = _TARGET.sub("", words) or words
    if shown == words:  # without a target, a role may add a prefix, and "~" and "!" only say how to show a name
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
        name, argument = self.name.lower(), one_line(" ".join(self.arguments))
        if name in _OF_OTHER_FILES:
            return [nodes.comment("", "", classes=[_LEFT_OUT])]
        if name in _OF_CODE:
            code = "\n".join(self.content)
            return [nodes.literal_block(code, code)] if code.strip() else []
        # `date` defines a word inside a sentence ("|today|"), where docutils refuses a block.
        block = nodes.inline() if name == "date" else nodes.container()
        if argument and name not in _SILENT:
            words = f"{_VERSIONS[name]} {argument.replace(' ', ': ', 1)}" if name in _VERSIONS else argument
            # The argument of `py:function::` and the like has no markup.
            inline = [nodes.Text(words)] if ":" in name else self.state.inline_text(words, self.lineno)[0]
            block += nodes.paragraph("", "", *inline)
        if name not in _HIDDEN:
            self.state.nested_parse(self.content, self.content_offset, block)
        return [block]
