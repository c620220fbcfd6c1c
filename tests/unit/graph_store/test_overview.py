"""The sizes that lists of knowledge bases show, which are read without opening these."""

import os

from banyan.config import Settings
from banyan.graph_store.integrity.status import read_overview

from ... import small_base


def test_sizes_are_those_of_the_ledger_now(tmp_path, hashed_embedder):
    settings = Settings(home=tmp_path, llm_base_url=None, _env_file=None)
    small_base.people(tmp_path, "kb", hashed_embedder)
    for file in (tmp_path / "kb").glob("ledger*"):
        os.utime(file, (1e9, 1e9))  # it has not changed for long, so its sizes are cached
    before = read_overview(settings, "kb")
    assert read_overview(settings, "kb") == before
    with small_base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        small_base.put(kb, "late", "Zed Orr was born in Graz.")
        small_base.finish(kb)
    assert read_overview(settings, "kb").documents == before.documents + 1
