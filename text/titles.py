"""Titles and metadata of documents: telling them from what a program or template came with, and shortening them."""

import re
from collections.abc import Mapping

from .dates import parse_date
from .lexicon import ENGLISH_STOP, WORDS, read_patterns, word_set
from .scripts import estimate_tokens

_FORMS = {name: re.compile(form) for name, form in read_patterns("titles.toml").items()}
_OPEN_END = " -–—:：|,;"  # characters at the end of a line that goes on; a title does not end with them
_LEADING_FIELDS = word_set("date created updated sent author authors from to by")  # when and by whom; they come first
_FIELDS_OF_STATES = word_set("status state stage type kind category categories tag tags label labels keywords 状态")
"""Words of fields in which "TODO" is a value: one of several states or kinds."""
UNREAD = "not read"  # the field that names what Banyan could not read; it is not shown with the document's own


def is_placeholder(title: str) -> bool:
    """Return True for a title that does not name a document: a program's default, a date, "Foreword", "XII"."""
    return _FORMS["placeholder"].fullmatch(title.strip()) is not None


def is_from_template(title: str, text: str) -> bool:
    """Return True if a title that a file stores is left over from another file: the text lacks most of its words.

    Blanks do not count, because PDF files have some within words. A text without letters tells nothing.
    """
    words = _FORMS["word"].findall(title.casefold())
    letters = "".join(_FORMS["word"].findall(text.casefold()))
    return bool(letters) and 2 * sum(word in letters for word in words) < len(words)


def document_title(title: str, stem: str) -> str:
    """Return a document's title; if it is empty, a placeholder or a day of any year, the name of its file (`stem`)."""
    title = title.rstrip(_OPEN_END)
    is_day_of_any_year = parse_date(title).startswith("X")  # "February 1" is the first heading of many minutes
    return stem if not title or is_day_of_any_year or is_placeholder(title) else title


def readable_name(name: str) -> str:
    """Return the name of a file or folder as words: "Weaver SC resign" for "Weaver_SC_resign"; dates and codes stay."""
    if " " in name or not _FORMS["joint"].search(name):
        return name
    words = " ".join(_FORMS["joint"].sub(" ", name).split())
    return words[:1].upper() + words[1:]


def field_words(name: str) -> str:
    """Return the name of a field as words: "start year" for "startYear" and "start_year"."""
    words = name.replace("_", " ")
    if name[:1].islower():  # a program's name, and not "GitHub user"
        words = _FORMS["camel"].sub(lambda found: f" {found[0].lower()}", words)
    return " ".join(words.split())


def in_small_letters(heading: str) -> str:
    """Return a heading that is in capitals in small letters: "Haydn and Mozart" for "HAYDN AND MOZART"."""
    if not heading.isupper():
        return heading
    words = [word.lower() if word.lower() in ENGLISH_STOP else word.capitalize() for word in heading.split()]
    return " ".join([words[0].capitalize(), *words[1:]])


def plain_title(title: str) -> str:
    """Return a title as others quote it: without 中华人民共和国, a note in brackets at its end, and a path."""
    is_path = " " not in title
    name = title.rpartition("/")[2] if is_path else title
    return _FORMS["not_quoted"].sub("", name).strip() or title


def metadata_line(metadata: Mapping[str, str], most_tokens: int) -> str:
    """Return the fields of a document's metadata that fit a budget, dates and authors first, as "name: value; ...".

    Fields that hold a web address are left out, and a field that does not fit is skipped as a whole.
    """
    shown, tokens_left = list[str](), most_tokens
    for name, value in sorted(metadata.items(), key=lambda field: field[0].lower() not in _LEADING_FIELDS):
        field = f"{name}: {value}"
        cost = estimate_tokens(field) + 1
        if name != UNREAD and "://" not in value and cost <= tokens_left:
            shown.append(field)
            tokens_left -= cost
    return "; ".join(shown)


def is_unfilled(value: str, field: str = "") -> bool:
    """Return True for what a template has in place of a value; the name of the field decides about "TODO"."""
    words = " ".join(value.casefold().strip(" .,:;!*_-").split())
    if words == "todo":
        return _FIELDS_OF_STATES.isdisjoint(re.split(r"[\W_]+", field.casefold()))
    return words in WORDS["unfilled"] or _FORMS["blank"].fullmatch(words) is not None
