"""A person's review of schema candidates, from a file or a resume value."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import ConfigDict, Field, ValidationError

from .delta import Candidate, Decision
from .documents import Frozen
from .errors import BanyanError
from .formats.small_files import read_text
from .formats.yaml_size import load_yaml

MAX_REVIEW_BYTES = 10 * 1024 * 1024
"""The largest review file; `schema review --save` writes about 1 KB for a candidate."""


class ReviewError(BanyanError):
    """A review that cannot be read; the message names the field."""


class Review(Frozen):
    """Decisions on candidates; candidates without a decision remain pending, unless `all` is set."""

    model_config = ConfigDict(extra="forbid")

    decisions: tuple[Decision, ...] = ()
    all: Literal["accept", "reject"] | None = Field(default=None, description="for every candidate not decided on")
    who: str = Field(default="reviewer", min_length=1, max_length=100)

    def on(self, candidates: Sequence[Candidate]) -> list[Decision]:
        """Return the decisions, with one for each candidate that `all` covers."""
        named = {(d.kind, d.name) for d in self.decisions}
        rest = [Decision(kind=c.kind, name=c.name, verdict=self.all) for c in candidates
                if self.all and (c.kind, c.name) not in named]
        return [*self.decisions, *rest]


def read_review(data: object) -> Review:
    """Read a review from JSON data.

    Raises:
        ReviewError: the data has another form; the message names the field and the problem.
    """
    try:
        return Review.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise ReviewError(f"the review cannot be read: {field}: {first['msg']}; it is an object with 'decisions' (a "
                          "list), 'all' (accept or reject) and 'who'") from error


def load_review(path: Path) -> Review:
    """Read a review from a JSON or YAML file, without the `candidates` that `schema review --save` wrote.

    Raises:
        ReviewError: the file cannot be read, or has another form.
    """
    try:
        data, _ = load_yaml(read_text(path, ReviewError, MAX_REVIEW_BYTES))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ReviewError(f"the review {path} cannot be read: {error}") from error
    if isinstance(data, dict):
        data.pop("candidates", None)
    return read_review(data)
