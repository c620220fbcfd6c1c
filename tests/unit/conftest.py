"""Resources whose reasoner says what a test wants."""

import pytest


@pytest.fixture(scope="module")
def opened(tmp_path_factory, hashed_embedder):
    """The people of `small_base` as the knowledge base "kb"."""
    from .. import asking, small_base  # noqa: PLC0415  (imports wait until a test asks)

    home = tmp_path_factory.mktemp("home")
    small_base.people(home, "kb", hashed_embedder)
    with asking.FakeResources(home, hashed_embedder) as resources:
        yield resources


@pytest.fixture
def resources(opened):
    """The same, with a reasoner that was not told anything yet."""
    from .. import asking  # noqa: PLC0415

    opened.fake = asking.Fake()
    return opened
