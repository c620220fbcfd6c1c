"""A docutils document tree as text: docutils writes it as a page, and what a page would lose is made words before."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

from docutils import nodes
from docutils.core import publish_from_doctree

from ...text.cleaning import one_line
from .web_pages import read_html

_PAGE = {"_disable_config": True, "embed_stylesheet": False, "stylesheet_path": None, "output_encoding": "unicode"}
_SKIPPED = (nodes.comment, nodes.substitution_definition, nodes.target, nodes.pending, nodes.raw, nodes.meta,
            nodes.transition, nodes.decoration)
_NOTED = {nodes.attention: "Attention", nodes.caution: "Caution", nodes.danger: "Danger", nodes.error: "Error",
          nodes.hint: "Hint", nodes.important: "Important", nodes.note: "Note", nodes.tip: "Tip",
          nodes.warning: "Warning"}


def read_fields(tree: Any) -> dict[str, object]:
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


def write_tree(tree: Any, title: str) -> str:
    """Write a document as `read_html` returns its page.

    Args:
        tree: the document, as docutils returns it; it is changed.
        title: the subject of a table that is under no heading.
    """
    for kinds, replace in _REPLACED:
        for node in list(tree.findall(lambda node, kinds=kinds: isinstance(node, kinds))):
            place = node.parent.index(node)
            node.parent[place : place + 1] = list(replace(node))
    tree["title"] = title or " "  # docutils would name one without a title after its source
    return read_html(publish_from_doctree(tree, writer="html5", settings_overrides=_PAGE).encode()).text


def _unparsed(message: Any) -> Iterable[Any]:
    """Return the lines of what docutils could not parse, such as a table with broken lines."""
    return (nodes.line_block("", *(nodes.line("", line) for line in block.astext().split("\n")))
            for block in message.findall(nodes.literal_block))


def _list_definitions(listed: Any) -> Iterable[Any]:
    """Return the paragraphs "Term: definition" of a list of definitions, fields or options."""
    return chain.from_iterable(
        _with_label(" : ".join(one_line(part.astext()) for part in item[:-1]), item[-1]) for item in listed)


def _topic(node: Any) -> Iterable[Any]:
    """Return a topic under its own title; a table of contents is none, because it repeats the headings."""
    if "contents" in node["classes"]:
        return ()
    label = next((one_line(child.astext()) for child in node if isinstance(child, nodes.title)), "")
    return _with_label(label, [child for child in node if not isinstance(child, nodes.title)])


def _footnote(node: Any) -> Iterable[Any]:
    blocks = [child for child in node if not isinstance(child, nodes.label)]
    return _put_before(f"[{one_line(node[0].astext())}] ", blocks) if len(blocks) < len(node) else blocks


def _words(node: Any) -> Iterable[Any]:
    """Return the words of what is no text, as a paragraph if it stands alone."""
    words = one_line(node.get("alt", "") if isinstance(node, nodes.image) else node.astext())
    return [nodes.Text(words) if isinstance(node.parent, nodes.TextElement) else nodes.paragraph("", words)]


def _with_label(label: str, blocks: Iterable[Any]) -> Iterable[Any]:
    return _put_before(f"{label}{'' if label.endswith((':', '?', '!')) else ':'} " if label else "", blocks)


def _put_before(words: str, blocks: Iterable[Any]) -> list[Any]:
    """Return blocks with some words before the first, in a paragraph of their own if it is none."""
    inside = list(blocks)
    if not inside or not isinstance(inside[0], nodes.paragraph):
        return [nodes.paragraph("", words.strip()), *inside]
    inside[0].insert(0, nodes.Text(words))
    return inside


_REPLACED = (
    (nodes.system_message, _unparsed),
    (_SKIPPED, lambda _: ()),
    ((nodes.image, nodes.math, nodes.math_block), _words),
    ((nodes.footnote_reference, nodes.citation_reference), lambda node: [nodes.Text(f"[{node.astext()}]")]),
    ((nodes.footnote, nodes.citation), _footnote),
    (tuple(_NOTED), lambda node: _with_label(_NOTED[type(node)], node)),
    ((nodes.topic, nodes.admonition, nodes.sidebar), _topic),
    ((nodes.definition_list, nodes.field_list, nodes.option_list), _list_definitions))
"""What is replaced before a page is written, and by what."""
