"""Responses that are errors in all but their status, and errors that no retry can help.

They get that status or a header against retries, so the openai package retries or raises them as any other error.
"""

import json
import re
from typing import Any

import httpx2

from .endpoint_errors import find_cause

_OVERLOADED = re.compile(r"rate[_ -]?limit|too many requests|quota|throttl|overload|busy|capacity|exhausted",
                         re.IGNORECASE)
_STATUS = re.compile(r"[45][0-9][0-9]")
_REFUSED = re.compile(r"invalid|unsupported|not (?:supported|allowed|permitted)|unrecognized|"
                      r"unknown (?:field|parameter|argument)", re.IGNORECASE)


class EmptyResponse(httpx2.DecodingError):
    """A response has no body. The openai package takes it for a failure of the connection, and tries again."""


async def reveal_error(response: httpx2.Response) -> None:
    """Give a response that reports an error the status of the error.

    Raises:
        EmptyResponse: the response has no body.
    """
    if "event-stream" in response.headers.get("content-type", ""):
        return
    if response.status_code == httpx2.codes.OK:
        body = (await response.aread()).strip()
        if not body:
            raise EmptyResponse("its response is empty")
        error = _error_in(body) if b'"error"' in body else None
        if error:
            response.status_code = _status_of(error)
    if response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
        body = await response.aread()
        if find_cause(body.decode("utf-8", "replace")) == "credit":
            response.headers["x-should-retry"] = "false"


def _error_in(body: bytes) -> Any:
    """Return the error that a body reports instead of a reply, if any."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(reply, dict):
        return None
    if reply.get("object") == "error":
        return reply
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    return reply.get("error") or choice.get("error")


def _status_of(error: Any) -> int:
    """Return the status that an error in a body would have: the one that it gives, or one by its words."""
    given = [str(error.get(name)) for name in ("code", "status", "status_code")] if isinstance(error, dict) else []
    for code in given:
        if _STATUS.fullmatch(code):
            return int(code)
    words = json.dumps(error, ensure_ascii=False)
    if _OVERLOADED.search(words) or find_cause(words) == "credit":
        return httpx2.codes.TOO_MANY_REQUESTS
    if find_cause(words) or _REFUSED.search(words):
        return httpx2.codes.BAD_REQUEST
    return httpx2.codes.BAD_GATEWAY
