"""Making words of models and documents safe to show in an answer, and finding the citation marks of an answer.

An answer's citation marks `[n]` are at the ends of its lines, after a space. Brackets anywhere else are a document's
own, so code that links or strips marks uses `find_marks` or `without_marks`. `server/web/ask/answer.js` does the same.
"""

import re
from collections.abc import Iterator

from ...schemas.naming import UNSEEN
from ...text.dates import MEANT

# A model's own marks are passage numbers or invented: an answer's marks are set by `citing`.
_INVENTED = re.compile(r"(?:(?<!\s)\s++)?+[\[［【]\s*+\d++(?:\s*+[,，、–-]\s*+\d++)*+\s*+[\]］】]")
_BRACKETS = dict.fromkeys(map(ord, "[]［］【】"))
_NESTED = 8
"""How many levels of nested marks are removed; if there are more, all brackets are removed."""
# Where an answer is shown as Markdown, an image would be fetched as soon as it is shown, words and all in its address.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=[(\[:])")
_MARKS = re.compile(r"(?<=\S) ((?:\[\d++\])++)$", re.MULTILINE)
_MARK = re.compile(r"\[(\d++)\]")


def source_text(text: str) -> str:
    """Return a document's words on one line, with HTML tags and Markdown links made harmless.

    A viewer that renders them fetches nothing. Besides white space and invisible characters, only the `<` of tags and
    the `]` of links are changed.
    """
    return _LINK.sub("] ", _TAG.sub("‹", " ".join(UNSEEN.sub("", text).split())))


def plain_text(text: str) -> str:
    """Return a model's words as `source_text` does, and without anything that looks like a citation mark.

    Only `citing` sets citation marks; those that a model writes are invented.
    """
    plain = MEANT.sub(r" (\g<meant>)", " ".join(UNSEEN.sub("", text).split()))  # "yesterday [2024-03-04]"
    for _ in range(_NESTED):  # removing "[1]" from "[[1]2]" leaves another mark, "[2]"
        plain = _INVENTED.sub("", plain)
    return source_text(plain.translate(_BRACKETS) if _INVENTED.search(plain) else plain)


def find_marks(answer: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Yield the citation marks of an answer from character `start` on; group 1 is the number of the citation."""
    for marks in _MARKS.finditer(answer, start):
        yield from _MARK.finditer(answer, marks.start(1), marks.end(1))


def without_marks(answer: str) -> str:
    """Return an answer without its citation marks."""
    return _MARKS.sub("", answer)
