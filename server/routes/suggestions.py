"""Suggested questions: examples for a first visit, and follow-ups to an answer."""

from functools import partial

from fastapi import APIRouter

from ..answers import Items
from ..example_questions import example_questions
from ..parameters import KbName, errors
from ..security.access import may
from ..service import Serving
from .evidence import Cited, evidence
from .graph import Seen

router = APIRouter(prefix="/api/knowledge-bases/{kb}/questions", tags=["questions"], dependencies=[may("read")])


@router.get("", responses=errors(404))
def examples(kb: KbName, seen: Seen, service: Serving) -> Items[str]:
    """Suggest three questions, each of which was answered when it was tried; fewer if the graph is small."""
    return Items(items=example_questions(seen.view, partial(service.tried.is_answered, kb)))


@router.post("/next", responses=errors(404))
def next_questions(kb: KbName, seen: Seen, service: Serving, cited: Cited) -> Items[str]:
    """Suggest questions that were answered when they were tried, about the entities in the cited text."""
    named = [node.id for node in evidence(seen, cited).nodes]
    is_answered = partial(service.tried.is_answered, kb)
    return Items(items=example_questions(seen.view, is_answered, about=named) if named else [])
