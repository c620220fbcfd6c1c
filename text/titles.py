"""Titles of documents, by which they are quoted, those that programs give, and a document's metadata as one line."""

import re
from collections.abc import Mapping

from .tokens import estimate_tokens

_REST = re.compile(r"^中华人民共和国|\s{0,3}[(（][^()（）]{0,60}[)）](?=\.\w{2,4}$|$)|\.\w{2,4}$")

_PLACEHOLDER = re.compile(
    r"(?:microsoft )?powerpoint\W*(?:presentation|präsentation|présentation|プレゼンテーション|演示文稿|簡報)?|"
    r"(?:slide|スライド|幻灯片|投影片|folie|diapositive|presentation|演示文稿|document|文档|book|工作簿|sheet)\s?\d+|"
    r"untitled.*|無題.*|无标题.*|microsoft \w+ - .*|\d{4}([-./])\d\d?\1\d\d?|"
    # Headings of a part that any document may begin with.
    r"(?:foreword|preface|introduction|abstract|summary|overview|disclaimer|(?:please |important )not(?:e|ice)|"
    r"(?:table of )?contents|agenda|vorwort|einleitung|inhalt(?:sverzeichnis)?|hinweis|avant-propos|sommaire|"
    r"序|序言|前言|引言|目录|目錄|摘要|概述|说明|請注意|请注意|はじめに|まえがき|目次|概要)\W*", re.IGNORECASE)
_OPEN_END = " -–—:：|,;"
"""What ends a line that goes on, and no title."""
_FIRST = ("date", "created", "updated", "sent", "author", "authors", "from", "to", "by")
"""Fields that say when a document is of, and whose it is: what its text relies on most."""


UNREAD = "not read"
"""The field that names what Banyan did not read of a document. It is about the reading, so texts do not include it."""


def is_placeholder(title: str) -> bool:
    """Return True for a title that does not name a document: what programs give, a lone date, "Foreword"."""
    return _PLACEHOLDER.fullmatch(title.strip()) is not None


def document_title(title: str, stem: str) -> str:
    """Return a document's title, or the name of its file without the ending where the title does not name it."""
    title = title.rstrip(_OPEN_END)
    return stem if not title or is_placeholder(title) else title


def plain_title(title: str) -> str:
    """Return a title as others quote it: without a date in brackets, a file's ending, or the name of the country."""
    return _REST.sub("", title.rpartition("/")[2] if " " not in title else title).strip() or title


def metadata_line(metadata: Mapping[str, str], most_tokens: int) -> str:
    """Return the fields of a document, dates and authors first, as many as fit; addresses are left out.

    Args:
        metadata: the fields.
        most_tokens: the budget, estimated tokens. A field is shown whole or not at all.
    """
    order = sorted(metadata, key=lambda name: _FIRST.index(name.lower()) if name.lower() in _FIRST else len(_FIRST))
    shown, left = list[str](), most_tokens
    for field in (f"{name}: {metadata[name]}" for name in order
                  if name != UNREAD and "://" not in metadata[name]):
        cost = estimate_tokens(field) + 1
        if cost <= left:
            shown.append(field)
            left -= cost
    return "; ".join(shown)
