"""Cleaning text when it is read, joining its broken words, removing its markup, and making it safe to show."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import orjson

from ..schemas.naming import UNSEEN
from .patterns import read_patterns
from .scripts import CJK

_T = TypeVar("_T")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SOFT_HYPHEN = re.compile("\xad+(?:[^\\S\n]*\n[^\\S\n]*(?=\\S))?")
_LIGATURES = str.maketrans({"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
                            "\ufb05": "st", "\ufb06": "st"})
_SYMBOLS = dict.fromkeys(map(ord, "\uf06c\uf06e\uf076\uf09f\uf0a7\uf0a8\uf0b7\uf0d8"), "\u2022") | {
    0xF0FC: "\u2713", 0xF0FB: "\u2717"}
"""What Word and PowerPoint write for list marks of the fonts Symbol and Wingdings: bullets, a tick and a cross."""
_TYPESET = re.compile("[\xad\ufb00-\ufb06\uf06c-\uf0fc]")
_CJK_BREAK = re.compile(rf"(?<=[{CJK}])[^\S\n]*\n\s*(?=[{CJK}])")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SEPARATORS = "\x0b-\x1f\x85\u2028\u2029"
# Joiners have a meaning only between letters of other scripts.
_JOINERS = "(?<![^\x00-\u024f])[\u200c\u200d]"
ACTING = re.compile(f"{UNSEEN.pattern}|[{_SEPARATORS}\ud800-\udfff]|{_JOINERS}")
"""Invisible and control characters, including those that move, hide or reorder other characters."""
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")
_LOOKALIKE = re.compile("[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
                    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0422\u0425\u0430\u0435\u043e"
                    "\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u051d]")
"""Greek and Cyrillic letters that most fonts draw like a Latin one."""
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 forbids
CELL_BREAK = "-\xad"  # marks a break where lines of a cell were joined
_LETTER = rf"[^\W\d_{CJK}]"
_BREAK = re.compile(rf"(?<={_LETTER})(?:{CELL_BREAK}|[-\u2010\u2011][^\S\n]*\n[^\S\n]*)(?={_LETTER})(\S+)([ ]?)")
_HYPHENATED = re.compile(r"[^\W_]+(?:[-'’\u2010\u2011][^\W_]+)*")
_LAST_LETTERS = re.compile(r"(?<![^\W\d_])[^\W\d_]+\Z")
_FIRST_LETTERS = re.compile(r"[^\W\d_]+")
_LONGEST = 60  # the characters before a break that are searched for the beginning of its word
_AFTER_SUSPENDED = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "en", "of"})
"""Words that follow a hyphen which stands for the rest of a word: "pre- and post-war"."""
_SHORTEST_PART = 4  # letters of each part of a compound, such as "long-term", for it to be recognised as a word
_MARKUP = [(re.compile(form), replacement) for form, replacement in read_patterns("markup.toml")["markup"]]
"""The forms of Markdown and HTML that are removed, in this order, and what stays of each."""
_HEADING_LINE = re.compile(r"\s*#{1,6}\s")
_FURNITURE = re.compile(r"\W*(?:(?:page|seite|第)?\W*\d*\W*(?:(?:of|von|/)\W*\d+|页)?|(?:©|\(c\)|copyright\b).*|"
                        r"(?:skip to (?:main )?content|back to top|table of contents|contents|menu|home))\W*",
                        re.IGNORECASE)
_BETWEEN_LINKS = re.compile(r"(?<!\s)\s++[|›»·>/]\s")
_LONGEST_LINK = 3  # the most words of a link in a line of navigation


def clean_text(text: str) -> str:
    r"""Return the text in the form in which it is stored.

    It has `\n` as its only line break (form feeds and similar characters count as line breaks), no control characters
    except tab, and U+FFFD for lone surrogates. Soft hyphens are removed and ligatures such as "ﬁ" become plain letters,
    because both only change how a word is printed. List marks of symbol fonts become "•". The rest is unchanged.
    """
    text = _LINE_ENDS.sub("\n", text)
    if _TYPESET.search(text):
        text = _SOFT_HYPHEN.sub("", text).translate(_LIGATURES | _SYMBOLS)
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def one_line(text: str) -> str:
    """Return a name or value with its white space collapsed; a break within Chinese or Japanese leaves no space."""
    return " ".join(_CJK_BREAK.sub("", text).split())


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
    return _WORD.sub(_mark_lookalikes, ACTING.sub(lambda match: code_point(match[0]), text))


def _mark_lookalikes(word: re.Match[str]) -> str:
    """Return a word with a code point after each letter that looks Latin but is not, if it also has Latin letters."""
    letters = word[0]
    if letters.isascii() or not _LATIN.search(letters):
        return letters
    marked = _LOOKALIKE.sub(lambda letter: letter[0] + code_point(letter[0]), letters)
    # A text may be marked twice. A code point is no letter and ends its word, so only the last letter may have it.
    last_mark = code_point(letters[-1])
    is_marked = marked.endswith(last_mark) and word.string.startswith(last_mark, word.end())
    return marked.removesuffix(last_mark) if is_marked else marked


def code_point(character: str) -> str:
    """Return a character's code point as it is shown in place of the character: "‹U+001B›"."""
    return f"‹U+{ord(character):04X}›"


def printable(text: str) -> str:
    """Replace each character that XML forbids, such as control characters, with a replacement mark."""
    return _UNPRINTABLE.sub("\ufffd", text)


def json_text(value: Any) -> str:
    """Return a value as JSON on one line."""
    return orjson.dumps(value).decode()


def broken_word_joiner(pages: Sequence[str]) -> Callable[[str], str]:
    """Return a function that joins words broken at the ends of lines; the line break moves behind the whole word.

    If the text has the whole word elsewhere, with or without a hyphen, its more frequent spelling is used. Otherwise
    the hyphen stays if both parts are words of the text, or if the second part begins with a capital ("Anglo-Saxon").
    """
    breaks = [match for page in pages for match in _BREAK.finditer(page)]
    # How often each word occurs, in lower case. The parts of broken words are no words of the text: else "infor" would
    # show that "infor-mation" has a hyphen.
    known = Counter(word.casefold() for page in pages if breaks for word in _HYPHENATED.findall(page))
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

    return partial(_BREAK.sub, join)


def _broken_parts(match: "re.Match[str]") -> tuple[str, str]:
    """Return the letters right before a break and those right behind it; "" if something else stands there."""
    left = _LAST_LETTERS.search(match.string[max(0, match.start() - _LONGEST):match.start()])
    right = _FIRST_LETTERS.match(match[1])
    return left[0] if left else "", right[0] if right else ""


def without_markup(text: str) -> str:
    """Return a text without Markdown and HTML: comments, images, tags, fences, emphasis and the marks of headings.

    A link is replaced by its words. Anything that is not certainly markup, such as `<T>` or `[1]`, stays.
    """
    for form, replacement in _MARKUP:
        text = form.sub(replacement, text)
    return text


def has_words(text: str) -> bool:
    """Return True if a text says anything besides markup."""
    return any(map(str.isalnum, without_markup(text)))


def has_statement(text: str) -> bool:
    """Return True if a line may state something: headings, navigation, page numbers and copyright notices do not."""
    lines = filter(None, map(str.strip, text.splitlines()))
    return not all(_HEADING_LINE.match(line) or _FURNITURE.fullmatch(line) or _is_navigation(line) for line in lines)


def _is_navigation(line: str) -> bool:
    """Return True for short links, such as "Home | Tickets | Bar"; not for a row of a table or a line with values."""
    links = _BETWEEN_LINKS.split(line)
    has_value = line.startswith("|") or any(character.isdigit() or character in ":：=" for character in line)
    return len(links) > 1 and not has_value and all(len(link.split()) <= _LONGEST_LINK for link in links)
