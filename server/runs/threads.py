"""Conversation threads: each belongs to one knowledge base and one client, and has a name.

The same name of another client is another thread.
"""

import re
from typing import NamedTuple

from ...graph_store.layout import check_name
from ...schemas.errors import BanyanError

MAX_THREAD_NAME = 128
THREAD_NAME = rf"^[A-Za-z0-9_.:-]{{1,{MAX_THREAD_NAME}}}$"


class ThreadNameError(BanyanError):
    """A thread cannot have this name."""


class Thread(NamedTuple):
    """A conversation's identity: the client that owns it, the knowledge base, and its name."""

    client: str
    knowledge_base: str
    name: str

    @property
    def key(self) -> str:
        """The key under which it is stored: no client reaches another one's threads, regardless of the names it sends.

        Raises:
            ThreadNameError, KnowledgeBaseNameError: a name has the wrong form; the message says which form is right.
        """
        if not isinstance(self.name, str) or not re.fullmatch(THREAD_NAME, self.name):
            raise ThreadNameError(f"{str(self.name)[:MAX_THREAD_NAME]!r} cannot name a thread: use 1 to "
                                  f"{MAX_THREAD_NAME} letters from a to z, digits and '-', '_', '.', ':'")
        # The last two parts hold no slash.
        return f"{self.client}/{check_name(self.knowledge_base)}/{self.name}"
