"""Shared fixtures. Unit tests run with sockets disabled; tests marked `integration` may use loopback."""

import atexit
import gc
import importlib
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_socket
from filelock import FileLock
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
DATA = TESTS.parent.parent / "shared" / "data"

EXAMPLES = int(os.environ.get("BANYAN_TEST_EXAMPLES", "1"))
"""How many times as many examples property tests try; `make slow` sets it to 4."""

POSTGRESQL = bool(os.environ.get("BANYAN_TEST_POSTGRESQL"))
"""Whether ledgers are in PostgreSQL in all tests that open knowledge bases in their own process, but those `sqlite`."""

# A shared machine may be slow at any moment, which says nothing of the code. Every run tries the same examples, so
# that it fails by what was changed alone; the long look tries new ones each time.
settings.register_profile("banyan", max_examples=10 * EXAMPLES, deadline=None,
                          suppress_health_check=[HealthCheck.too_slow], derandomize=EXAMPLES == 1)
settings.load_profile("banyan")

# What tests write is in memory where there is room: whether it lasts is no question here, and half of the time would
# go by in waiting for disks. PYTEST_DEBUG_TEMPROOT names another place.
MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4_000_000_000:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Where the user's own knowledge bases would be: no test looks there, nor does a process that one starts.
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="banyan-tests-data-")
atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)

# LangGraph then refuses to read types from a checkpoint that it does not know, here and in processes that tests start.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

# Started in a shell's background, pytest ignores Ctrl-C, and so would the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What is imported stays: looking through it for garbage, again and again, takes a third of the time of importing.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("integration"):
        pytest_socket.enable_socket()
    else:
        pytest_socket.disable_socket(allow_unix_socket=True)
    if item.get_closest_marker("sqlite") and POSTGRESQL:
        pytest.skip("it is about a ledger's file")
    if item.get_closest_marker("data") and not DATA.is_dir():
        pytest.skip(f"the measuring data is not at {DATA}")


@pytest.fixture(scope="session")
def hashed_embedder():
    from .hashed_embedding import HashedEmbedder  # noqa: PLC0415  (imports wait until a test asks)

    return HashedEmbedder()


@pytest.fixture
def shop(tmp_path: Path, hashed_embedder: Any) -> Any:
    from .scripted import Workshop  # noqa: PLC0415

    return Workshop(tmp_path, hashed_embedder)


@pytest.fixture
def shell(tmp_path: Path, hashed_embedder: Any, monkeypatch: pytest.MonkeyPatch,
          capsys: pytest.CaptureFixture[str]) -> Any:
    from .scripted import Shell  # noqa: PLC0415

    return Shell(tmp_path, hashed_embedder, monkeypatch, capsys)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is traced, with the spans that have ended."""
    from banyan.runtime import telemetry  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: PLC0415

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry.trace, "get_tracer", provider.get_tracer)
    return exporter


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Any]:
    from .postgresql import cluster  # noqa: PLC0415

    pytest_socket.enable_socket()
    with ExitStack() as stack:
        try:
            server = stack.enter_context(cluster())
        except LookupError as error:
            pytest.skip(str(error))
        yield server


@pytest.fixture(scope="session", autouse=POSTGRESQL)
def in_postgresql(postgresql: Any) -> Iterator[None]:
    from .postgresql import holding_ledgers  # noqa: PLC0415

    with holding_ledgers(postgresql):
        yield


@pytest.fixture(scope="session")
def reading_processes() -> Iterator[dict[Any, Any]]:
    processes: dict[Any, Any] = {}
    yield processes
    for process in processes.values():
        process.end()


@pytest.fixture(scope="module")
def shared_reading(reading_processes: dict[Any, Any]) -> Iterator[None]:
    """One process for the files that tests read, where the process itself is not what is tested.

    It takes seconds to start. One with limits of a module's own ends with the module.
    """
    loaders = importlib.import_module("banyan.ingest.loaders")
    usual = importlib.import_module("banyan.ingest.reading").DEFAULT_LIMITS

    class SharedProcess(loaders.ReadingProcess):
        def __exit__(self, *_: object) -> None:
            pass

        def end(self) -> None:
            super().__exit__()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loaders, "ReadingProcess",
                      lambda limits: reading_processes.setdefault(limits, SharedProcess(limits)))
        yield
    for limits in reading_processes.keys() - {usual}:
        reading_processes.pop(limits).end()


@pytest.fixture(scope="session")
def english_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `home` has the knowledge base "english", of the English examples; the first to ask builds it.

    What the build said is in `report.json`. To be read only: a test that writes copies it.
    """
    from . import command_line  # noqa: PLC0415

    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "english"
    with FileLock(f"{folder}.lock"):
        if not (folder / "report.json").exists():
            folder.mkdir()
            built = command_line.CommandLine(folder)("build", command_line.EXAMPLES / "en", "--kb", "english", "--json")
            (folder / "report.json").write_text(json.dumps(built.json), "utf-8")
    return folder


@pytest.fixture(scope="module")
def english_folder(english_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder of `english_store` for one file's tests: they may run servers in it, and write."""
    return shutil.copytree(english_store, tmp_path_factory.mktemp("english") / "copy")


@pytest.fixture(scope="session")
def real_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """llama.cpp's server with a small model, in a process of its own: answers, and the vectors of texts."""
    from . import llama_server  # noqa: PLC0415

    if missing := llama_server.missing():
        pytest.skip(missing)
    with llama_server.LlamaServer("answers", tmp_path_factory.mktemp("llama") / "log") as server:
        yield server
