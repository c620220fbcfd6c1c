"""Read a client's error: its status, its words, and what they say of the request."""

import json
import re
from collections.abc import Iterator
from typing import Literal

Cause = Literal["length", "filter", "credit"]
"""What an error says by its words: the request is too long, a content filter stopped it, or nothing is left to pay."""

_CAUSES: dict[Cause, re.Pattern[str]] = {
    "credit": re.compile(r"insufficient[_ ](?:quota|balance|credit|funds)", re.IGNORECASE),
    "filter": re.compile(r"content[_ ](?:filter|policy|management|exists risk)|data[_ ]?inspection|moderation|"
                         r"inappropriate content|prohibited[_ ]content|responsibleai", re.IGNORECASE),
    "length": re.compile(r"context[_ ]?(?:length|window|size)|maximum context|too many (?:input )?tokens|"
                         r"(?:prompt|input|request|message|content|text)s?\b[^.]{0,40}\btoo (?:long|large)|"
                         r"input tokens? (?:count )?\(?\d*\)? ?exceed|must be <= ?\d", re.IGNORECASE)}
_MAY_HAVE_A_CAUSE = frozenset({400, 402, 403, 413, 422, 429, 500})
_PAGE = re.compile(r"\s*<")
_TITLE = re.compile(r"<title>([^<]*)", re.IGNORECASE)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of a client's error or of one that it was raised from, or None."""
    found = (getattr(one, name, None) for one in causes(error) for name in ("status_code", "code"))
    return next((status for status in found if isinstance(status, int)), None)


def words_of(error: BaseException) -> str:
    """Return what a client's error says, with the body of the response where the client leaves it out."""
    said, body = " ".join(str(error).split()), getattr(error, "body", None)
    if not body or " - " in said:
        return said
    told = describe_body(body) if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
    return f"{said} - {told}"


def describe_body(text: str) -> str:
    """Return a text that an endpoint sent as a message may show it: of a page of HTML, its title."""
    if not _PAGE.match(text):
        return text
    title = _TITLE.search(text)
    return f"a page of HTML: {title[1].strip()}" if title else "a page of HTML"


def cause_of(error: BaseException) -> Cause | None:
    """Return what an error says of the request, if that is the cause; None for other errors."""
    words = " ".join(map(str, (words_of(error), *(getattr(error, name, None) for name in ("code", "type")))))
    return find_cause(words) if status_of(error) in _MAY_HAVE_A_CAUSE else None


def find_cause(words: str) -> Cause | None:
    """Return what an endpoint's words say of a request."""
    return next((cause for cause, pattern in _CAUSES.items() if pattern.search(words)), None)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and the errors that it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
