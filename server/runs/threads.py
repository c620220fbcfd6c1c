"""Which conversation a question belongs to: of one knowledge base and one client, under a name.

What others call the same is another thread.
"""

import re
from typing import NamedTuple

from ...graph_store.layout import check_name
from ...schemas.errors import BanyanError

MAX_THREAD_NAME = 128
THREAD_NAME = rf"^[A-Za-z0-9_.:-]{{1,{MAX_THREAD_NAME}}}$"


class ThreadNameError(BanyanError):
    """A name that a thread cannot have."""


class Thread(NamedTuple):
    """Which conversation: the client that owns it, the knowledge base that it asks, and its name."""

    client: str
    knowledge_base: str
    name: str

    @property
    def key(self) -> str:
        """Under what it is kept: no client reaches another one's, whatever names it gives.

        Raises:
            ThreadNameError, KnowledgeBaseNameError: a name is not of the form; says which form.
        """
        if not isinstance(self.name, str) or not re.fullmatch(THREAD_NAME, self.name):
            raise ThreadNameError(f"{str(self.name)[:MAX_THREAD_NAME]!r} cannot name a thread: use 1 to "
                                  f"{MAX_THREAD_NAME} letters from a to z, digits and '-', '_', '.', ':'")
        # The last two parts hold no slash.
        return f"{self.client}/{check_name(self.knowledge_base)}/{self.name}"
