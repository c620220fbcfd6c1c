"""Requests made up from an OpenAPI description by schemathesis.

Its hypothesis-jsonschema 0.23.1 draws collections by `many.more()`, which Hypothesis 6.170 has no more: it is given
back here, in terms of what took its place. When hypothesis-jsonschema has moved on, `collections_as_before` can go.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis.internal.conjecture.utils import many


def _more(elements: Any) -> bool:
    if elements._depth is None:
        elements.__enter__()
        elements.steps = iter(elements)
    for _ in elements.steps:
        return True
    elements.__exit__(None, None, None)
    return False


@contextmanager
def collections_as_before() -> Iterator[None]:
    """Within the block, collections can be drawn as hypothesis-jsonschema does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many, "more", _more, raising=False)
        yield
