"""Empty what repeats deleted documents besides their rows: models' responses, descriptions of communities.

The deletion itself is `Documents.delete`.
"""

from .database import Database


def forget_responses(database: Database) -> None:
    """Empty the responses of all calls; what they cost stays in the accounts.

    Nothing says which documents a response repeats. What was made of it is stored with its chunk or community, so that
    only a question or a document that comes back is paid again.
    """
    database.execute("UPDATE calls SET response = '' WHERE response <> ''")


def forget_summaries(database: Database) -> None:
    """Delete the descriptions of communities that are no more, which were kept in case that they come back."""
    database.execute("DELETE FROM summaries WHERE id NOT IN (SELECT id FROM communities)")
