"""Shared fixtures. Unit tests run with sockets disabled; tests marked `integration` may use loopback."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
import pytest_socket
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
DATA = TESTS.parent.parent / "shared" / "data"

# A shared machine may be slow at any moment, which says nothing of the code. CI tries the same examples every
# time, so that it fails by what was changed alone; a developer's run looks for new ones.
settings.register_profile("banyan", deadline=None, suppress_health_check=[HealthCheck.too_slow],
                          derandomize="CI" in os.environ)
settings.load_profile("banyan")


def load_test_module(name: str) -> ModuleType:
    """A module that stands beside the tests (importlib mode puts none of them on the path)."""
    full_name = f"banyan_tests_{name}"
    if full_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(full_name, TESTS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[full_name] = module
        spec.loader.exec_module(module)
    return sys.modules[full_name]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("integration"):
        pytest_socket.enable_socket()
    else:
        pytest_socket.disable_socket(allow_unix_socket=True)
    if item.get_closest_marker("data") and not DATA.is_dir():
        pytest.skip(f"the measuring data is not at {DATA}")


@pytest.fixture(scope="session")
def hashed_embedder():
    """A fast embedder without a model: equal trigrams, similar vectors."""
    return load_test_module("hashed_embedding").HashedEmbedder()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The measuring data; tests that use it are marked `data` and skip where it is absent."""
    return DATA
