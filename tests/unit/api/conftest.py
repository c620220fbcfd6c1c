"""Knowledge bases that a module's tests share."""

import banyan
import pytest

from ... import scripted


@pytest.fixture(scope="module")
def base_of(tmp_path_factory, hashed_embedder):
    """A function that gives a knowledge base of some documents, read by the scripted reasoner."""
    shop = scripted.Workshop(tmp_path_factory.mktemp("base"), hashed_embedder)
    with shop.resources() as resources:
        def make(*documents):
            kb = banyan.open("kb", resources=resources)
            kb.add(*documents, schema=shop.schema)
            return kb

        yield make
