"""What the names of documents say of their versions: "Handbook v3", "Travel policy 2021", 差旅管理办法（2023年版）."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from ...schemas.naming import label_key, normalise
from ...text.dates import find_dates, parse_date
from ...text.relative_dates import document_date

_VERSION = re.compile(r"\b(?:v|ver|version|rev|revision|release|edition)[ ._-]?"
                      r"(?P<number>\d{1,3}(?:\.\d{1,4}){0,3})(?!\w)"
                      r"|\b(?P<ordinal>\d{1,2})(?:st|nd|rd|th) (?:edition|revision)\b"
                      r"|第(?P<han>[一二三四五六七八九\d]{1,2})版|(?P<before>\d(?:\.\d)?)版", re.IGNORECASE)
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_. /年](?:0?[1-9]|1[0-2])(?:[-_. /月](?:0?[1-9]|[12]\d|3[01])日?)?)?"
                   r"(?!\d)年?(?:版|修订|修正)?")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_EMPTY = frozenset(("the", "a", "an", "of", "for", "our", "new", "old", "revised", "edition", "version", "revision",
                    "final", "draft", "as", "amended", "and", "的", "版"))
_IN_FORCE = re.compile(r"(?:effective|in force|valid|applies|(?:takes?|enters?|comes?) (?:into )?(?:effect|force))"
                       r"(?: as)?(?: from| on| of| since)?:? (?P<date>[^\n]{4,40})"
                       r"|自(?P<chinese>[^\n]{4,20})起(?:施行|实施|生效|执行)", re.IGNORECASE)
_EFFECTIVE = ("effective", "effective date", "effective from", "in force", "in force since", "valid from", "施行日期",
              "生效日期", "实施日期")
_READ = 20_000


class DocumentName(NamedTuple):
    """A document's title and file name, read for its version.

    Attributes:
        id: the document's id.
        title: its title.
        words: the words of its title without those of the version.
        version: its version as numbers, such as (3, 1); empty without one.
        years: the years in its title or file name.
        date: the first date in its title or file name, in ISO 8601; "" without one.
    """

    id: str
    title: str
    words: tuple[str, ...]
    version: tuple[int, ...]
    years: frozenset[str]
    date: str


def read_name(document_id: str, title: str) -> DocumentName:
    """Return what a document's title and file name say of its version."""
    stem = re.sub(r"[_-]", " ", PurePosixPath(document_id).stem)
    named = f"{title} {stem}"
    found = _VERSION.search(named)
    number = next(filter(None, found.groups()), "") if found else ""
    number = number.translate(str.maketrans("一二三四五六七八九", "123456789"))
    dates = [match[0] for match in _DATE.finditer(f"{title} {PurePosixPath(document_id).stem}")]
    date = next((re.sub(r"[_. /年月]", "-", one).strip("-日版修订正") for one in dates), "")
    date = "-".join(part.zfill(2) for part in date.split("-")) if date else ""
    return DocumentName(document_id, title, core_words(title), tuple(map(int, number.split("."))) if number else (),
                        frozenset(YEAR.findall(named)), date)


def core_words(text: str) -> tuple[str, ...]:
    """Return the words of a title without those that name its version or say nothing."""
    bare = _DATE.sub(" ", _VERSION.sub(" ", re.sub(r"[_-]", " ", text)))
    return tuple(word for word in _WORD.findall(normalise(bare)) if word not in _EMPTY)


def version_of(text: str) -> tuple[int, ...]:
    """Return the version that a text names, as numbers; empty if it names none."""
    return read_name("", text).version


def in_force_since(document_id: str, title: str, metadata: Mapping[str, str], text: str) -> str:
    """Return the date from which a document holds: a field or its text says so, or else its name or date; or ""."""
    fields = {label_key(name): value for name, value in metadata.items()}
    stated = [fields[name] for name in _EFFECTIVE if name in fields]
    stated += [found["date"] or found["chinese"] for found in _IN_FORCE.finditer(text[:_READ])]
    for words in stated:
        for start, end in find_dates(words):
            if re.fullmatch(r"\d{4}(?:-\d\d){0,2}", normal := parse_date(words[start:end])):
                return normal
    return read_name(document_id, title).date or document_date(document_id, title, metadata)
