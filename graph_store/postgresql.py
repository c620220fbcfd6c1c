"""PostgreSQL: connections to the server, and the schemas that hold ledgers, one for each knowledge base."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from pydantic import SecretStr
from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from .errors import DatabaseError, KnowledgeBaseNameError

_PREFIX = "banyan_"
_DROPPED = "dropped_banyan_"
_MOST_BYTES = 63
"""PostgreSQL cuts longer names off."""
_CONNECT_SECONDS = 10
_WRITER = 1
_ABOUT = re.compile(r"Banyan ledger, format (\d+), id ([0-9a-f]{32})")


@dataclass(frozen=True)
class LedgerSchema:
    """The PostgreSQL schema of one knowledge base's ledger."""

    url: SecretStr
    kb: str

    @property
    def name(self) -> str:
        """Its name.

        Raises:
            KnowledgeBaseNameError: the knowledge base's is too long for it.
        """
        name = _PREFIX + self.kb
        if len(name.encode()) > _MOST_BYTES:
            raise KnowledgeBaseNameError(f"{self.kb!r} cannot name a knowledge base in PostgreSQL: it has "
                                         f"{len(self.kb.encode())} bytes, at most {_MOST_BYTES - len(_PREFIX)} fit a "
                                         "schema's name; shorten it")
        return name

    def key(self, seed: int) -> str:
        """The key of an advisory lock, as an expression; with another seed, of another one."""
        return f"hashtextextended('{self.name}', {seed})"

    def try_lock(self, connection: Connection) -> bool:
        """Become the one writer, until `unlock` or the connection's end; False: another connection is."""
        return bool(connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({self.key(_WRITER)})").scalar_one())

    def unlock(self, connection: Connection) -> None:
        """Take back a `try_lock`."""
        connection.exec_driver_sql(f"SELECT pg_advisory_unlock({self.key(_WRITER)})")

    def about(self, connection: Connection) -> tuple[int, str] | None:
        """The ledger's format and the id it was given when it was made; None: there is none.

        Raises:
            DatabaseError: there is a schema of that name that is no ledger.
        """
        row = connection.exec_driver_sql("SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace "
                                         "WHERE nspname = %s", (self.name,)).first()
        if row is None:
            return None
        if not (found := _ABOUT.fullmatch(row[0] or "")):
            raise DatabaseError(f"the schema {self.name} in PostgreSQL is no ledger of Banyan's: choose another name "
                                "for the knowledge base, or remove the schema")
        return int(found[1]), found[2]

    def describe(self, connection: Connection, number: int, identity: str) -> None:
        """Note the ledger's format and id, where `about` finds them."""
        connection.exec_driver_sql(f'COMMENT ON SCHEMA "{self.name}" IS '
                                   f"'Banyan ledger, format {number}, id {identity}'")

    def drop(self) -> None:
        """Remove it. It is gone at once; while someone still reads it, what it held goes with the next one dropped."""
        with opened(self.url) as connection:
            connection.exec_driver_sql(f'ALTER SCHEMA "{self.name}" RENAME TO {_DROPPED}{uuid.uuid4().hex}')
            connection.exec_driver_sql("SET lock_timeout TO '1s'")
            for (name,) in connection.exec_driver_sql("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)",
                                                      (_DROPPED,)).fetchall():
                with suppress(OperationalError):  # a reader has it open
                    connection.exec_driver_sql(f'DROP SCHEMA "{name}" CASCADE')

    def rename(self, kb: str) -> None:
        """Make it another knowledge base's."""
        with opened(self.url) as connection:
            connection.exec_driver_sql(f'ALTER SCHEMA "{self.name}" RENAME TO "{LedgerSchema(self.url, kb).name}"')


def connect(url: SecretStr) -> Connection:
    """Connect to the server; transactions are begun and ended by statements.

    Raises:
        DatabaseError: it does not answer, or does not let us in.
    """
    try:
        engine = create_engine(make_url(url.get_secret_value()).set(drivername="postgresql+psycopg"),
                               poolclass=NullPool, isolation_level="AUTOCOMMIT", hide_parameters=True,
                               connect_args={"connect_timeout": _CONNECT_SECONDS, "application_name": "banyan"})
    except ImportError as error:
        raise DatabaseError("BANYAN_DATABASE_URL names a PostgreSQL server, and psycopg, which speaks to it, is not "
                            "installed: run `pip install 'banyan-graphrag[postgres]'`") from error
    try:
        return engine.connect()
    except SQLAlchemyError as error:
        raise DatabaseError(
            "the PostgreSQL server that holds the ledger cannot be reached: check that it runs, and address, database, "
            "user and password in BANYAN_DATABASE_URL", _cause(error, url)) from None


@contextmanager
def opened(url: SecretStr) -> Iterator[Connection]:
    """A connection for a few statements.

    Raises:
        DatabaseError: the server is not there, or refuses.
    """
    connection = connect(url)
    try:
        yield connection
    except SQLAlchemyError as error:
        raise explained(error, url, lost=connection.invalidated) from None
    finally:
        connection.close()


def explained(error: SQLAlchemyError, url: SecretStr, *, lost: bool) -> DatabaseError:
    """What went wrong with a statement."""
    cause = _cause(error, url)
    if lost:
        return DatabaseError("the connection to the PostgreSQL server that holds the ledger was lost: what was "
                             "committed is stored. When the server answers again, do the same again", cause)
    return DatabaseError("the PostgreSQL server that holds the ledger could not do what it was asked for: nothing of "
                         "that transaction is stored. Fix the cause and do the same again", cause)


def _cause(error: SQLAlchemyError, url: SecretStr) -> str:
    """Which server says what; the server repeats no password, and if it did it would not be shown."""
    address = make_url(url.get_secret_value())
    what = " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())
    if address.password:
        what = what.replace(str(address.password), "***")
    return f"{address.host or 'local'}:{address.port or 5432}/{address.database}: {what}"


def ledgers(url: SecretStr) -> list[str]:
    """The names of the knowledge bases whose ledgers are there, sorted."""
    with opened(url) as connection:
        found = connection.exec_driver_sql(
            "SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE starts_with(nspname, %s)",
            (_PREFIX,)).fetchall()
    return sorted(str(name).removeprefix(_PREFIX) for name, about in found if _ABOUT.fullmatch(about or ""))
