"""Learn which parameters an endpoint and model refuse, and make requests without them.

A refusal costs nothing: the request is sent again without the parameter that the refusal names. What was left out is
remembered once such a request is answered, and lasts as long as the process.
"""

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .endpoint_errors import status_of, words_of

SYSTEM_ROLE = "system"
"""Stands for the role of the instructions among the names of parameters."""
# Endpoints know one name or the other for the most tokens of a reply.
_OTHER_NAMES = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}
_MAY_BE_REFUSALS = frozenset({400, 404, 422, 500, 501})
_WORDS = re.compile(r"\w+")
_NAMES_THE_ROLE = re.compile(r"\broles?\b|\b(?:system|developer)[ _](?:role|message|prompt|instruction)", re.IGNORECASE)

_LOG = logging.getLogger("banyan.llm")


class Refusals:
    """The parameters that one endpoint and model refuse."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.names: frozenset[str] = frozenset()
        """The names of the parameters."""

    def remember(self, names: Collection[str], chosen: Collection[str]) -> None:
        """Remember parameters without which a request was answered.

        Args:
            names: the parameters.
            chosen: those that the user set; leaving one out is worth a warning.
        """
        for name in sorted(set(names) - self.names):
            _LOG.log(logging.WARNING if name in chosen else logging.INFO,
                     "%s refuses %s, which is not sent to it any more", self._name, name)
        self.names |= set(names)


def leave_out(parameters: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """Return the parameters without the refused ones; a parameter with two names gets its other one."""
    kept: dict[str, Any] = {}
    for name, value in parameters.items():
        sent_as = name if name not in refused else _OTHER_NAMES.get(name)
        if sent_as is not None and sent_as not in refused:
            kept.setdefault(sent_as, value)
    return kept


def merge_system(messages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the messages with the text of the system's ones at the beginning of the first other message."""
    system = [text for role, text in messages if role == SYSTEM_ROLE]
    (role, first), *rest = [message for message in messages if message[0] != SYSTEM_ROLE]
    return [(role, "\n\n".join([*system, first])), *rest]


def refused_parameter(error: BaseException, parameters: Collection[str],
                      messages: Sequence[tuple[str, str]] = ()) -> str | None:
    """Return the parameter of a request that an error names as refused, or None.

    Args:
        error: the client's error.
        parameters: the names of the parameters that were sent.
        messages: the messages that were sent.
    """
    if status_of(error) not in _MAY_BE_REFUSALS:
        return None
    named = getattr(error, "param", None)
    words = words_of(error)
    name = named if named in parameters else next((word for word in _WORDS.findall(words) if word in parameters), None)
    if name is None and _NAMES_THE_ROLE.search(words) and any(role == SYSTEM_ROLE for role, _ in messages):
        return SYSTEM_ROLE
    return name
