"""A process keeps a few knowledge bases open, whatever it is asked of."""

import sys
from pathlib import Path

import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.config import Settings

from ... import small_base
from ...newest import newest


@pytest.mark.skipif(sys.platform != "linux", reason="counts what /proc shows")
def test_knowledge_bases_that_were_used_longest_ago_are_closed(tmp_path, hashed_embedder):
    settings = Settings(home=tmp_path, llm_base_url=None, open_bases=2, _env_file=None)
    for number in range(4):
        small_base.people(tmp_path, f"kb{number}", hashed_embedder)
    held = []
    with Resources(settings, hashed_embedder) as resources:
        graph = build_graph(resources)
        for number in range(4):
            answer = graph.invoke({"knowledge_base": f"kb{number}", "question": "Where was Ada Byron born?"})
            assert "Ulm" in answer["answer"]
            held.append(len(list(Path("/proc/self/fd").iterdir())))
        first = newest(resources, "kb2").kb
        newest(resources, "kb0")
        assert newest(resources, "kb2").kb is first, "it was used later than kb3"
    # Chroma's threads let go of single files a little later: of a third base there would be as many as of the second.
    assert max(held[2:]) < held[1] + (held[1] - held[0]) / 2, held
