"""Suggested questions: examples for a first visit, and follow-ups to an answer."""

from fastapi import APIRouter

from ..answers import Items
from ..example_questions import example_questions
from ..parameters import errors
from ..security.access import may
from .evidence import Cited, evidence
from .graph import Seen

router = APIRouter(prefix="/api/knowledge-bases/{kb}/questions", tags=["questions"], dependencies=[may("read")])


@router.get("", responses=errors(404))
def examples(seen: Seen) -> Items[str]:
    """Suggest three questions that the graph can answer; fewer if it is small."""
    return Items(items=example_questions(seen.view))


@router.post("/next", responses=errors(404))
def next_questions(seen: Seen, cited: Cited) -> Items[str]:
    """Suggest questions that the graph can answer, about the entities in the cited text."""
    named = [node.id for node in evidence(seen, cited).nodes]
    return Items(items=example_questions(seen.view, about=named) if named else [])
