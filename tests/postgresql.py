"""A PostgreSQL server of the tests' own: a new cluster, which ends with what started it."""

import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from banyan.graph_store import layout
from psycopg import sql
from pydantic import SecretStr

from .ports import free_port

PASSWORD = "let-me-in"
USERS = ("postgres", "nobody")


def programs() -> Path:
    """Where `initdb` and `postgres` are, in Debian's place or by PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found and (other := shutil.which("initdb")):
        found = [Path(other).resolve()]
    if not found:
        raise LookupError("PostgreSQL is not installed here (Debian: apt-get install postgresql)")
    return found[-1].parent


class Cluster:
    def __init__(self, folder: Path) -> None:
        self._bin = programs()
        self._data = folder / "data"
        # PostgreSQL refuses to run as root.
        self._user = next(name for name in USERS if _known(name)) if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(folder, self._user)
        self.port = free_port()
        (folder / "password").write_text(PASSWORD)
        self._run("initdb", "-D", str(self._data), "-U", "banyan", "-A", "scram-sha-256",
                  f"--pwfile={folder / 'password'}", "--locale=en_US.UTF-8" if _has_locale() else "--locale=C.UTF-8",
                  "-E", "UTF8", "--no-sync")
        self._server: subprocess.Popen[bytes] | None = None
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run([str(self._bin / program), *arguments], user=self._user, group=self._user, cwd="/",
                              extra_groups=[] if self._user else None, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        if self._server is not None and self._server.poll() is None:
            return
        log = (self._data.parent / "log").open("ab")
        self._server = subprocess.Popen(
            [str(self._bin / "postgres"), "-D", str(self._data), "-p", str(self.port), "-c", "fsync=off", "-c",
             "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200", "-c",
             "shared_buffers=32MB", "-c", "full_page_writes=off", "-c", "autovacuum=off", "-c", "jit=off"],
            user=self._user, group=self._user, extra_groups=[] if self._user else None, cwd="/", stdout=log, stderr=log)
        log.close()
        until = time.monotonic() + 60
        while True:
            try:
                self.run("SELECT 1")
            except psycopg.OperationalError:
                if time.monotonic() > until or self._server.poll() is not None:
                    raise
                time.sleep(0.05)
            else:
                return

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop the server; by SIGQUIT at once, as if it were killed."""
        if self._server is not None:
            self._server.send_signal(how)
            self._server.wait(60)
            self._server = None

    def url(self, database: str = "postgres", password: str = PASSWORD) -> str:
        return f"postgresql+psycopg://banyan:{password}@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(database).replace("+psycopg", ""), autocommit=True, connect_timeout=5) as session:
            cursor = session.execute(sql.SQL(statement))  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def database(self, name: str) -> str:
        if not self.run(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
            self.run(f'CREATE DATABASE "{name}" STRATEGY wal_log')
        return self.url(name)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A server for a block; in memory where there is room."""
    programs()
    # The folders above it let its user through, unlike those of `tmp_path`.
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="banyan-postgresql-", dir=memory if memory.is_dir() else None))
    try:
        running = Cluster(folder)
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def holding_ledgers(server: Cluster) -> Iterator[None]:
    """Within the block each home folder that names no database has one on the server."""
    known: dict[Path, SecretStr] = {}

    def of(home: Path, database: SecretStr | None) -> SecretStr | None:
        if database is not None or home.name.endswith(".restore"):
            return database
        if home not in known:
            known[home] = SecretStr(server.database(f"home-{hashlib.sha1(str(home).encode()).hexdigest()}"))
        return known[home]

    make, list_names = layout.Layout.of, layout._names
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout.Layout, "of", lambda home, name, chroma=None, database=None:
                      make(home, name, chroma, of(home, database)))
        patch.setattr(layout, "_names", lambda home, database: list_names(home, of(home, database)))
        yield


def _known(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _has_locale() -> bool:
    """Whether texts can be compared as people do, which ledgers must not depend on."""
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    return "en_US.utf8" in known.split()
