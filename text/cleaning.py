"""Cleaning text when it is read, joining its broken words, removing its markup, and making it safe to show."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import orjson

from ..schemas.naming import UNSEEN
from .lexicon import WORDS, read_patterns
from .scripts import CJK

_T = TypeVar("_T")
CELL_BREAK = "-\xad"  # marks a break where lines of a cell were joined
_DATA = read_patterns("markup.toml", cjk=CJK, unseen=UNSEEN.pattern, cell_break=CELL_BREAK)
_FORMS: dict[str, re.Pattern[str]] = {name: re.compile(form) for name, form in _DATA["forms"].items()}
_MARKUP = [(re.compile(form), replacement) for form, replacement in _DATA["markup"]["forms"]]
"""The forms of Markdown and HTML that are removed, in this order, and what stays of each."""
ACTING = _FORMS["acting"]
"""Invisible and control characters, including those that move, hide or reorder other characters."""
_TYPESET = str.maketrans(_DATA["typeset"])
"""Ligatures, and what Word and PowerPoint write for list marks of the fonts Symbol and Wingdings, in plain letters."""
_LONGEST = 60  # the characters before a break that are searched for the beginning of its word
_AFTER_SUSPENDED = WORDS["behind suspended hyphens"]  # which stand for the rest of a word: "pre- and post-war"
_SHORTEST_PART = 4  # letters of each part of a compound, such as "long-term", for it to be recognised as a word


def clean_text(text: str) -> str:
    """Return the text as it is stored: with one kind of line break, plain letters and no control character but tab."""
    text = _FORMS["line_end"].sub("\n", text)
    text = _FORMS["soft_hyphen"].sub("", text).translate(_TYPESET)
    return _FORMS["surrogate"].sub("\ufffd", _FORMS["control"].sub("", text))


def one_line(text: str) -> str:
    """Return a name or value with its white space collapsed; a break within Chinese or Japanese leaves no space."""
    return " ".join(_FORMS["cjk_break"].sub("", text).split())


def clean_json(value: _T) -> _T:
    """Apply `clean_text` to every string in a decoded JSON value, including the names of fields."""
    if isinstance(value, str):
        return clean_text(value)  # type: ignore[return-value]
    if isinstance(value, list):
        return [clean_json(item) for item in value]  # type: ignore[return-value]
    if isinstance(value, dict):
        return {clean_json(name): clean_json(item) for name, item in value.items()}  # type: ignore[return-value]
    return value


def visible(text: str) -> str:
    """Return the text in a form that is safe to show, on a terminal as elsewhere.

    Each control or invisible character except tab and line feed is shown as ‹U+001B›. Each Greek or Cyrillic letter
    that looks like a Latin one is followed by its code point if its word has Latin letters.
    """
    if text.isascii() and text.isprintable():
        return text
    return _FORMS["word"].sub(_mark_lookalikes, ACTING.sub(lambda match: code_point(match[0]), text))


def _mark_lookalikes(word: re.Match[str]) -> str:
    """Return a word with a code point after each letter that looks Latin but is not, if it also has Latin letters."""
    letters = word[0]
    if letters.isascii() or not _FORMS["latin_letter"].search(letters):
        return letters
    marked = _FORMS["lookalike"].sub(lambda letter: letter[0] + code_point(letter[0]), letters)
    # A text may be marked twice. A code point is no letter and ends its word, so only the last letter may have it.
    last_mark = code_point(letters[-1])
    is_marked = marked.endswith(last_mark) and word.string.startswith(last_mark, word.end())
    return marked.removesuffix(last_mark) if is_marked else marked


def code_point(character: str) -> str:
    """Return a character's code point as it is shown in place of the character: "‹U+001B›"."""
    return f"‹U+{ord(character):04X}›"


def printable(text: str) -> str:
    """Replace each character that XML forbids, such as control characters, with a replacement mark."""
    return _FORMS["unprintable"].sub("\ufffd", text)


def json_text(value: Any) -> str:
    """Return a value as JSON on one line."""
    return orjson.dumps(value).decode()


def broken_word_joiner(pages: Sequence[str]) -> Callable[[str], str]:
    """Return a function that joins words broken at the ends of lines; the line break moves behind the whole word.

    If the text has the whole word elsewhere, with or without a hyphen, its more frequent spelling is used. Otherwise
    the hyphen stays if both parts are words of the text, or if the second part begins with a capital ("Anglo-Saxon").
    """
    breaks = [match for page in pages for match in _FORMS["break"].finditer(page)]
    known = Counter[str]()  # how often each word occurs, in lower case
    if breaks:
        known.update(word.casefold() for page in pages for word in _FORMS["hyphenated"].findall(page))
    # The parts of broken words are no words of the text: else "infor" would show that "infor-mation" has a hyphen.
    known.subtract(part.casefold() for match in breaks for part in _broken_parts(match) if part)

    def join(match: "re.Match[str]") -> str:
        """Return what a break and the part behind it become."""
        rest, space = match.groups()
        left, right = _broken_parts(match)
        if not right or right.casefold() in _AFTER_SUSPENDED:
            return match[0]
        first, second = left.casefold(), right.casefold()
        whole_count, hyphenated_count = known[first + second], known[f"{first}-{second}"]
        are_words = min(len(first), len(second)) >= _SHORTEST_PART and known[first] > 0 and known[second] > 0
        has_hyphen = are_words or not right[0].islower()
        if whole_count or hyphenated_count:
            has_hyphen = hyphenated_count > whole_count
        moves_line_end = CELL_BREAK not in match[0] and space != ""  # in a cell no line ends
        return ("-" if has_hyphen else "") + rest + ("\n" if moves_line_end else space)

    return partial(_FORMS["break"].sub, join)


def _broken_parts(match: "re.Match[str]") -> tuple[str, str]:
    """Return the letters right before a break and those right behind it; "" if something else stands there."""
    left = _FORMS["last_letters"].search(match.string[max(0, match.start() - _LONGEST):match.start()])
    right = _FORMS["word"].match(match[1])
    return left[0] if left else "", right[0] if right else ""


def without_markup(text: str) -> str:
    """Return a text without what is certainly Markdown or HTML; a link is replaced by its words."""
    for form, replacement in _MARKUP:
        text = form.sub(replacement, text)
    return text


def has_words(text: str) -> bool:
    """Return True if a text says anything besides markup."""
    return any(map(str.isalnum, without_markup(text)))


def has_statement(text: str) -> bool:
    """Return True if a line may state something: headings, navigation, page numbers and copyright notices do not."""
    return not all(_FORMS["furniture"].fullmatch(line) for line in filter(None, map(str.strip, text.splitlines())))
