"""Libraries that would report to their makers do not: nothing leaves the machine but calls to the LLM that is set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from .. import command_line

pytestmark = pytest.mark.integration


def test_onnxruntime_keeps_no_identifier_of_the_machine_and_nothing_to_upload(tmp_path):
    """It keeps both in the user's cache before it sends anything; in a CI it would be silent by itself."""
    environment = {name: value for name, value in command_line.clean_environment().items()
                   if name != "CI" and not name.startswith(("ORT_", "XDG_", "GITHUB_"))}
    kept = os.environ.get("BANYAN_CACHE") or str(user_cache_path("banyan", appauthor=False))
    program = ("from banyan.config import Settings\n"
               "from banyan.models.embedding.embedding_models import load_embedder\n"
               "load_embedder(Settings(_env_file=None)).encode(['a text'])\n")
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=120,
                   env={**environment, "HOME": str(tmp_path), "BANYAN_CACHE": kept})
    assert [path for path in Path(tmp_path).rglob("*") if "onnx" in path.name.lower()] == []
