"""Display of answers and knowledge bases in notebooks. All texts are escaped: a document is data."""

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..text.visible_text import visible

if TYPE_CHECKING:
    from ..graph_store.integrity.status import Status
    from .python_results import Answer


def answer_html(answer: "Answer") -> str:
    """Return an answer as HTML: its short form, one line per claim, its grade if inferred, and its numbered sources."""
    claims = "<br>".join(map(_escape, answer.text.splitlines()))
    short = f"<p><b>{_escape(answer.short)}</b></p>" if answer.short and answer.short != answer.text else ""
    sources = "".join(
        f'<li value="{one.id}"><i>{_escape(one.document)}</i>{_page(one.page)}: \u201c{_escape(one.quote)}\u201d</li>'
        for one in answer.citations)
    grade = "<p><i>Inferred: the documents do not state every link.</i></p>" if answer.grade == "inferred" else ""
    return f"{short}<p>{claims}</p>{grade}{f'<ol>{sources}</ol>' if sources else ''}"


def status_html(name: str, status: "Status") -> str:
    """Return the counts of a knowledge base as an HTML table."""
    counts: Iterable[tuple[str, int]] = (
        ("documents", status.documents), ("entities", status.entities), ("facts", status.triples),
        ("communities", status.communities), ("schema version", status.schema_version))
    rows = "".join(f"<tr><th>{what}</th><td>{count:,}</td></tr>" for what, count in counts)
    return f"<table><caption>{_escape(name)}</caption>{rows}</table>"


def _escape(text: str) -> str:
    return html.escape(visible(text))


def _page(number: int | None) -> str:
    return "" if number is None else f", p. {number}"
