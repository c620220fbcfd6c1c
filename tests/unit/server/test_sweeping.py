"""What killed drops and restores left in a home folder goes when a server starts; dropped ones leave nothing."""


import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.runtime.safe_files import own_folder
from banyan.server.app import create_app

from ... import in_process, small_base

pytestmark = pytest.mark.sqlite


def left(home):
    return sorted(path.name for path in home.iterdir() if not path.name.startswith(("server", "audit", ".uploads")))


def test_what_killed_processes_left_goes_when_a_server_starts(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "people", hashed_embedder)
    grave = tmp_path / ".dropped-0123" / "old"
    grave.mkdir(parents=True)
    (grave / "ledger.sqlite").write_text("all that the documents said")
    killed = tmp_path / ".0123.restore"
    (killed / "new").mkdir(parents=True)
    (killed / "new" / "ledger.sqlite").write_text("all that the documents say")
    (killed / ".lock").touch()
    with own_folder(tmp_path, ".at-work", ".restore") as at_work, \
            Resources(Settings(home=tmp_path, llm_base_url=None, _env_file=None), hashed_embedder) as resources, \
            in_process.client(create_app(resources)):
        assert left(tmp_path) == sorted([at_work.name, "people"])
