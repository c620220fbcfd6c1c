"""Titles of documents: telling them from placeholders such as "Presentation1", and shortening them as people do."""

import re

_NOT_QUOTED = re.compile(r"^中华人民共和国|\s{0,3}[(（][^()（）]{0,60}[)）](?=\.\w{2,4}$|$)|\.\w{2,4}$")

_PLACEHOLDER = re.compile(
    r"(?:microsoft )?powerpoint\W*(?:presentation|präsentation|présentation|プレゼンテーション|演示文稿|簡報)?|"
    r"(?:slide|スライド|幻灯片|投影片|folie|diapositive|presentation|演示文稿|document|文档|book|工作簿|sheet)\s?\d+|"
    r"untitled.*|無題.*|无标题.*|microsoft \w+ - .*|\d{4}([-./])\d\d?\1\d\d?|"
    # Headings of a part that any document may begin with.
    r"(?:foreword|preface|introduction|abstract|summary|overview|disclaimer|(?:please |important )not(?:e|ice)|"
    r"(?:table of )?contents|agenda|vorwort|einleitung|inhalt(?:sverzeichnis)?|hinweis|avant-propos|sommaire|"
    r"序|序言|前言|引言|目录|目錄|摘要|概述|说明|請注意|请注意|はじめに|まえがき|目次|概要)\W*", re.IGNORECASE)
_OPEN_END = " -–—:：|,;"
"""Characters at the end of a line that goes on; a title does not end with them."""


def is_placeholder(title: str) -> bool:
    """Return True for a title that does not name a document: a program's default, a lone date, "Foreword"."""
    return _PLACEHOLDER.fullmatch(title.strip()) is not None


def document_title(title: str, stem: str) -> str:
    """Return a document's title; if it is empty or a placeholder, the name of the document's file (`stem`)."""
    title = title.rstrip(_OPEN_END)
    return stem if not title or is_placeholder(title) else title


def plain_title(title: str) -> str:
    """Return a title as others quote it.

    It loses a note in brackets at its end, the folder and the ending of a file, and 中华人民共和国 at its beginning.
    """
    is_path = " " not in title
    name = title.rpartition("/")[2] if is_path else title
    return _NOT_QUOTED.sub("", name).strip() or title
