"""Keep ledgers in PostgreSQL, each in a schema of its own."""

import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from filelock import Timeout
from pydantic import SecretStr
from sqlalchemy import Connection, Engine, create_engine, make_url
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from ..store_errors import DatabaseError, KnowledgeBaseNameError, UnknownKnowledgeBaseError
from .tables import create_tables

_PREFIX, _DROPPED = "banyan_", "dropped_banyan_"  # of the schemas of ledgers, and of dropped ones that a reader has
_MOST_BYTES = 63  # PostgreSQL truncates longer names
_CONNECT_SECONDS = 10
# Without keepalives the server would hold the locks of a machine that lost its power for two hours.
_KEEPALIVES = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
_WRITER, _TRANSACTION = 1, 2  # seeds of the keys of advisory locks
_ABOUT = re.compile(r"Banyan ledger, format (?P<format>\d+), id (?P<id>[0-9a-f]{32})")  # the comment on its schema
_PAUSES = (0.1, 0.4, 0)  # seconds to wait after each try: the server notices late that a writer was killed
_WAIT = "30s"  # the time that a process waits for the transactions of others, as with SQLite
_SCHEMAS = ("SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE starts_with(nspname, %s) "
            "ORDER BY nspname")  # the names and comments of the schemas with a prefix
# SQLite's JSON functions that the ledger's statements use; PostgreSQL's have other names and arguments.
_FUNCTIONS = (
    ("json_each(text) RETURNS TABLE (key bigint, value text)",
     "SELECT n - 1, item FROM json_array_elements_text($1::json) WITH ORDINALITY AS items (item, n)"),
    ("json_array_length(text) RETURNS integer", "SELECT pg_catalog.json_array_length($1::json)"))


@dataclass(frozen=True)
class LedgerSchema:
    """The PostgreSQL schema of one knowledge base's ledger."""

    url: SecretStr
    kb: str

    @property
    def name(self) -> str:
        """The name of the schema; raises KnowledgeBaseNameError if the knowledge base's name is too long for it."""
        name = _PREFIX + self.kb
        if len(name.encode()) > _MOST_BYTES:
            raise KnowledgeBaseNameError(f"{self.kb!r} cannot name a knowledge base in PostgreSQL: shorten it to at "
                                         f"most {_MOST_BYTES - len(_PREFIX)} bytes")
        return name

    def key(self, seed: int) -> str:
        """Return the key of an advisory lock as an SQL expression; each seed gives a separate lock."""
        return f"hashtextextended('{self.name}', {seed})"

    def about(self, connection: Connection) -> tuple[int, str]:
        """Return the ledger's format and id, 0 and "" without a schema; DatabaseError if the schema is not Banyan's."""
        comments = dict(map(tuple, connection.exec_driver_sql(_SCHEMAS, (self.name,)).fetchall()))
        if self.name not in comments:
            return 0, ""
        if not (found := _ABOUT.fullmatch(comments[self.name] or "")):
            raise DatabaseError(f"the schema {self.name} in PostgreSQL is no ledger of Banyan's: choose another name "
                                "for the knowledge base, or remove the schema")
        return int(found["format"]), found["id"]

    def drop(self) -> None:
        """Delete the schema. If a reader has it open, it is only renamed now, and deleted by a later `drop`."""
        with open_connection(self.url) as connection:
            connection.exec_driver_sql(f'ALTER SCHEMA "{self.name}" RENAME TO {_DROPPED}{uuid.uuid4().hex}')
            connection.exec_driver_sql("SET lock_timeout TO '1s'")
            for name, _ in connection.exec_driver_sql(_SCHEMAS, (_DROPPED,)).fetchall():
                with suppress(OperationalError):  # a reader still has it open
                    connection.exec_driver_sql(f'DROP SCHEMA "{name}" CASCADE')

    def rename(self, kb: str) -> None:
        """Rename the schema for a renamed knowledge base."""
        with open_connection(self.url) as connection:
            connection.exec_driver_sql(f'ALTER SCHEMA "{self.name}" RENAME TO "{LedgerSchema(self.url, kb).name}"')


def engine(url: SecretStr, session: str = "", **options: Any) -> Engine:
    """Create an engine for a server; `session` has options as on PostgreSQL's command line."""
    address = make_url(url.get_secret_value())
    arguments = {"connect_timeout": _CONNECT_SECONDS, "application_name": "banyan",
                 "options": f"{_KEEPALIVES} {session} {address.query.get('options', '')}",
                 "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
    try:
        return create_engine(address.set(drivername="postgresql+psycopg"), hide_parameters=True,
                             connect_args=arguments, **options)
    except ImportError as error:
        raise DatabaseError(f"BANYAN_DATABASE_URL names a PostgreSQL server, and {error.name}, which speaks to it, is "
                            "not installed: run `pip install 'banyan-graphrag[postgres]'`") from error


def connect(url: SecretStr) -> Connection:
    """Connect to the server in autocommit mode; raise DatabaseError if it does not answer or refuses."""
    try:
        return engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT").connect()
    except SQLAlchemyError as error:
        raise explain_error(error, url, reached=False) from None


@contextmanager
def open_connection(url: SecretStr) -> Iterator[Connection]:
    """Open a connection for a few statements; its errors become a DatabaseError."""
    connection = connect(url)
    try:
        yield connection
    except SQLAlchemyError as error:
        raise explain_error(error, url, lost=connection.invalidated) from None
    finally:
        connection.close()


def explain_error(error: Exception, url: SecretStr, *, lost: bool = False, reached: bool = True) -> DatabaseError:
    """Build the error for a failed statement, a connection that was lost, or one that was not `reached` at all."""
    address = make_url(url.get_secret_value())
    message = " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())
    if address.password:  # the server may repeat it
        message = message.replace(str(address.password), "***")
    # An address without a host is that of a server on this machine, which is reached by a socket.
    cause = f"{address.host or 'local'}:{address.port or 5432}/{address.database}: {message}"
    return DatabaseError(
        "the PostgreSQL server that holds the ledger cannot be reached: check that it runs, and address, database, "
        "user and password in BANYAN_DATABASE_URL" if not reached else
        "the connection to the PostgreSQL server that holds the ledger was lost: what was committed is stored. When "
        "the server answers again, do the same again" if lost else
        "the PostgreSQL server that holds the ledger could not do what it was asked for: nothing of that transaction "
        "is stored. Fix the cause and do the same again", cause)


def ledgers(url: SecretStr) -> set[str]:
    """Return the names of the knowledge bases whose ledgers are in the database."""
    with open_connection(url) as connection:
        schemas = connection.exec_driver_sql(_SCHEMAS, (_PREFIX,)).fetchall()
    # A schema whose comment does not match was not made by Banyan.
    return {str(name).removeprefix(_PREFIX) for name, comment in schemas if _ABOUT.fullmatch(comment or "")}


class PostgresqlLedger:
    """One connection to a schema. It is not replaced when lost, so an interrupted transaction is never continued."""

    begin_frozen = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, place: LedgerSchema, create: bool) -> None:
        self.place, self._may_create = place, create
        self.name = f"the ledger of {place.kb!r}"
        # As with SQLite, one transaction writes at a time, so none fails because of a concurrent one.
        self.begin = f"BEGIN; SELECT pg_advisory_xact_lock({place.key(_TRANSACTION)})"
        self.connection = connect(place.url)
        with ExitStack() as undo:
            undo.callback(self.connection.close)
            try:
                self.connection.exec_driver_sql(f"SET search_path TO \"{place.name}\"; SET lock_timeout TO '{_WAIT}'")
                _, self.identity = place.about(self.connection)
                self._table = self._table_id()  # by which `gone` recognises that the ledger was replaced
            except SQLAlchemyError as error:
                raise self.explain_error(error) from None
            undo.pop_all()  # keep it open

    def _table_id(self) -> object:
        """Return the server's id of the table `meta`, which a ledger created anew does not share; None without one."""
        return self.connection.exec_driver_sql("SELECT to_regclass(%s)::oid", (f'"{self.place.name}".meta',)).scalar()

    @property
    def _session(self) -> Any:
        """The driver's connection; None if it is closed or lost."""
        if self.connection.closed or self.connection.invalidated:
            return None
        session = self.connection.connection.driver_connection
        return None if session is None or session.closed else session

    def close(self) -> None:
        """Close the connection, if it is not lost."""
        with suppress(SQLAlchemyError):
            self.connection.close()

    @property
    def gone(self) -> bool:
        """True if the ledger was dropped or replaced, or the connection was lost."""
        try:
            return self._session is None or self._table_id() != self._table
        except SQLAlchemyError:
            return True

    @property
    def in_transaction(self) -> bool:
        """True if a transaction is open."""
        return self._session is not None and bool(self._session.info.transaction_status)  # 0 is idle

    def explain_error(self, error: SQLAlchemyError) -> BaseException:
        """Return the error to raise instead of a database error."""
        return explain_error(error, self.place.url, lost=self._session is None)

    def format(self) -> int:
        """Return the number of the ledger's format, or 0 if there is no ledger."""
        return self.place.about(self.connection)[0]

    def create(self, number: int) -> None:
        """Create the schema with the tables of a format; UnknownKnowledgeBaseError if opened without `create`."""
        if not self._may_create:
            raise UnknownKnowledgeBaseError(self.place.kb, "the PostgreSQL database")
        self.identity = uuid.uuid4().hex
        self.connection.exec_driver_sql(
            f'CREATE SCHEMA "{self.place.name}"; COMMENT ON SCHEMA "{self.place.name}" IS '
            f"'Banyan ledger, format {number}, id {self.identity}'")
        create_tables(self.connection)
        for head, body in _FUNCTIONS:
            self.connection.exec_driver_sql(
                f"CREATE FUNCTION {head} LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $${body}$$")
        self._table = self._table_id()

    def checkpoint(self) -> None:
        """Do nothing, because the server cleans up itself (VACUUM)."""

    def problems(self) -> list[str]:
        """Return none: the server has its own checks."""
        return []


class AdvisoryLock:
    """The writer's lock of a ledger, used like a `FileLock`; it ends with the connection."""

    def __init__(self, schema: LedgerSchema, read: Callable[[str], object]) -> None:
        """Use a connection by a function that returns the single value of a query."""
        self._read, self._key = read, schema.key(_WRITER)
        self.lock_counter = 0  # how often it was acquired and not released yet

    def acquire(self) -> None:
        """Acquire the lock, or increase its counter; raise Timeout if another connection holds it."""
        if not self.lock_counter:
            for pause in _PAUSES:
                if self._read(f"SELECT pg_try_advisory_lock({self._key})"):
                    break
                time.sleep(pause)
            else:
                raise Timeout(self._key)
        self.lock_counter += 1

    def release(self, force: bool = False) -> None:
        """Decrease the counter, and release the lock when it reaches 0; with `force`, release it at once."""
        if self.lock_counter:
            self.lock_counter = 0 if force else self.lock_counter - 1
            if not self.lock_counter:
                with suppress(DatabaseError):  # a lost connection has released it
                    self._read(f"SELECT pg_advisory_unlock({self._key})")
