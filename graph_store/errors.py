"""What can go wrong with a knowledge base, each with its cause and its fix in the message."""

from ..schemas.errors import BanyanError


class StoreError(BanyanError):
    """Base of all errors of a knowledge base; what was stored before is unchanged."""


class KnowledgeBaseNameError(StoreError):
    """A name that is not safe as a folder's name."""


class UnknownKnowledgeBaseError(StoreError):
    """There is no knowledge base of that name."""


class UnknownDocumentError(StoreError):
    """There is no document of that id."""


class WriterBusyError(StoreError):
    """Another process or run is writing to the knowledge base."""


class EmbeddingMismatchError(StoreError):
    """The store's vectors come from another embedding model than the one in use."""


class LedgerDamagedError(StoreError):
    """The ledger is gone, or does not hold what was written to it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; `banyan verify` says what else is wrong. Restore a backup: `banyan restore FILE "
                         "--kb NAME --force`; without one, move its folder away and build again")


class EntityDecisionError(StoreError):
    """A person's decision on two entities that cannot be carried out."""


class FormatError(StoreError):
    """The store was written in a format that this version does not read."""
