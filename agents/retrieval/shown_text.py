"""What an answer shows of a model's words and of a document's, and where its citation marks are.

The marks `[n]` of an answer stand at the end of its lines, behind a space. Brackets anywhere else are a document's own,
so whoever links or strips marks uses `find_marks` or `without_marks`. `server/web/ask/answer.js` does the same.
"""

import re
from collections.abc import Iterator

from ...schemas.naming import UNSEEN

# A model's own marks are passage numbers or invented: an answer's marks are set by `citing`.
_INVENTED = re.compile(r"(?:(?<!\s)\s++)?+[\[［【]\s*+\d++(?:\s*+[,，、–-]\s*+\d++)*+\s*+[\]］】]")
_BRACKETS = dict.fromkeys(map(ord, "[]［］【】"))
_NESTED = 8
"""How many levels of nested marks are taken out; if there are more, all brackets are."""
# Where an answer is shown as Markdown, an image would be fetched as soon as it is shown, words and all in its address.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=[(\[:])")
_MARKS = re.compile(r"(?<=\S) ((?:\[\d++\])++)$", re.MULTILINE)
_MARK = re.compile(r"\[(\d++)\]")


def source_text(text: str) -> str:
    """Return a document's words as they may be shown: as they stand, on one line, without markup that a viewer acts on.

    Showing them fetches nothing. White space and invisible characters aside, only `<` and `]` of such markup change.
    """
    return _LINK.sub("] ", _TAG.sub("‹", " ".join(UNSEEN.sub("", text).split())))


def plain_text(text: str) -> str:
    """Return a model's words as they may be shown: like `source_text`, and without anything like a citation mark."""
    plain = " ".join(UNSEEN.sub("", text).split())
    for _ in range(_NESTED):  # a mark within a mark leaves another one
        plain = _INVENTED.sub("", plain)
    return source_text(plain.translate(_BRACKETS) if _INVENTED.search(plain) else plain)


def find_marks(answer: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Yield the citation marks of an answer from a character on; group 1 is the number of the citation."""
    for marks in _MARKS.finditer(answer, start):
        yield from _MARK.finditer(answer, marks.start(1), marks.end(1))


def without_marks(answer: str) -> str:
    """Return an answer without its citation marks."""
    return _MARKS.sub("", answer)
