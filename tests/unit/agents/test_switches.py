"""What may be switched off in a question."""

import pytest
from banyan.agents.retrieval.state import AskContext
from banyan.schemas.retrieval import ROUTES, Switches
from pydantic import ValidationError


def test_what_may_be_switched():
    assert AskContext().switches == Switches() == Switches(routes=ROUTES)
    given = {"routes": ("triple",), "dense": False, "lexical": False, "spreading": False, "beta": 0.25}
    assert AskContext(**given).switches == Switches(**given)
    # From a server the context comes as JSON.
    assert AskContext(**given | {"routes": ["triple"]}).switches == Switches(**given)
    assert AskContext(routes=("passage", "dfs")).switches == Switches(routes=())
    assert AskContext(routes=("passage", "dfs")).tools == ("dfs_search", "passage_search")
    for wrong in ({"beta": 1.1}, {"beta": -0.1}, {"routes": ("air",)}, {"walk": False}):
        with pytest.raises(ValidationError):
            Switches(**wrong)
