"""What a question streams: the short, bounded steps of its trace, and claims as soon as their quotes are checked."""

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.messages import AIMessageChunk
from langgraph.config import get_stream_writer
from langgraph.graph.message import push_message

from ...graph_store.ledger.document_rows import SourceDocuments
from ...models.reasoner import claims_to
from ...prompts.rendering import block_note, passage_text
from ...runtime.threads import in_thread
from ...schemas.documents import Citation
from ...schemas.inquiry import Block, Judgement, StepName, TracedFinding, TraceStep
from ...schemas.lookups import Lookup, lookup_arguments, lookup_text
from ...schemas.retrieval import Answer, Claim, DraftAnswer, Mode, Passage
from .cited_message import WITHDRAWN, answer_chunk
from .citing import cite_claim, is_shown, with_unstated_number

_FINDINGS, _DOCUMENTS = 3, 3  # of a lookup and of a finding: a trace shows what was found, the answer cites the rest
_TEXT = 160  # characters of a text in a trace: two lines of a terminal
_LONGEST_ARGUMENTS = 6000  # characters of a table's arguments as JSON: a link to the page has room for these


def short(text: str) -> str:
    """Return a text on one line, cut to the length of a trace's texts."""
    line = " ".join(text.split())
    return line if len(line) <= _TEXT else f"{line[:_TEXT - 1]}…"


def trace_found(number: int, lookup: Lookup | None, blocks: Sequence[Block]) -> TraceStep:
    """Trace what a lookup of round `number` found, or the first look if `lookup` is None."""
    items = [item for block in blocks for item in block.items]
    found = list[TracedFinding]()
    for item in items[:_FINDINGS]:
        # A fact has a place in each document that states it; an item may have no document of its own.
        documents = dict.fromkeys(filter(None, [item.document, *(place.document for place in item.places)]))
        found.append(TracedFinding(
            text=short(item.statement or f"{item.title or item.document}: {passage_text(item)}"),
            documents=tuple(map(short, [*documents][:_DOCUMENTS]))))
    # A page can link to the lookup that gave a table: a relation, or the query that was run, so a repaired one.
    table = lookup_arguments(blocks[0].table) if blocks and blocks[0].table else {}
    if len(json.dumps(table)) > _LONGEST_ARGUMENTS:
        table = {}
    return TraceStep(step="search" if lookup else "first_look", round=number, tool=lookup.tool if lookup else None,
                     text=short(lookup_text(lookup)) if lookup else "", total=len(items),
                     found=tuple(found), table=table, notes=_short_notes(map(block_note, blocks)))


def found_text(step: TraceStep) -> str:
    """Return what a lookup found in a few lines, for the people who read a conversation."""
    lines = [finding.text for finding in step.found]
    more = [f"and {step.total - len(lines)} more"] if step.total > len(lines) else []
    return "\n".join([*lines, *more, *step.notes]) or "nothing was found"


def trace_judgement(step: StepName, number: int, judgement: Judgement, notes: Iterable[str] = ()) -> TraceStep:
    """Trace what a reasoner made of the evidence of round `number`: an answer, or the next lookups."""
    return TraceStep(step=step, round=number, sufficient=bool(judgement.draft and judgement.draft.answerable),
                     text=short(judgement.thought), notes=_short_notes(notes),
                     lookups=tuple(short(lookup_text(lookup)) for lookup in judgement.lookups))


def trace_answer(number: int, answer: Answer) -> TraceStep:
    """Trace the checked answer and the documents that it cites."""
    return TraceStep(step="answer", round=number, text=short(answer.answer), abstained=answer.abstained,
                     confidence=round(answer.confidence, 4), grade=answer.grade,
                     documents=tuple(dict.fromkeys(short(citation.document) for citation in answer.citations)))


def _short_notes(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(short(note) for note in dict.fromkeys(filter(None, notes)))


def stream_step(step: TraceStep) -> dict[str, Any]:
    """Write a step to the stream, and return its fields that differ from their defaults, for the state."""
    fields = step.model_dump(mode="json", exclude_defaults=True) | {"step": step.step, "round": step.round}
    # In one line: the lookups that are chosen, or else what was found, or else the text.
    headlines = [*step.lookups] or [item.text for item in step.found] or [*filter(None, [step.text])]
    get_stream_writer()({"step": step.step, "found": headlines, "trace": fields})
    return fields


class ShownClaims:
    """The claims of one answer that were shown so far; for the arguments see `citing.cite`.

    The custom stream gets `{"step": "claim", "found": [line], "citations": [...]}` for each, with its new citations,
    and `{"step": "withdrawn", "found": []}` if all are taken back. The stream of messages gets chunks of the answer.
    """

    def __init__(self, items: Sequence[Passage], documents: SourceDocuments, mode: Mode, question: str) -> None:
        self._items, self._documents, self._mode, self._question = items, documents, mode, question
        self._write = get_stream_writer()
        self._claims: list[Claim] = []
        self._citations: list[Citation] = []
        self.message_id, self.text = "", ""

    async def show(self, claims: Sequence[Claim]) -> None:
        """Check and show what is new in `claims`, all so far; withdraw those shown if a repaired reply has others."""
        common = min(len(claims), len(self._claims))
        if list(claims[:common]) != self._claims[:common]:
            self.withdraw()
        for claim in claims[len(self._claims):]:
            sent_count = len(self._citations)
            line = await in_thread(self._cite, claim)
            self._claims.append(claim)
            if line:  # "": the claim has no sound quote, so it is never shown
                citations = [citation.model_dump() for citation in self._citations]
                self._write({"step": "claim", "found": [line], "citations": citations[sent_count:]})
                self.message_id = self.message_id or uuid.uuid4().hex
                answer = f"{self.text}\n{line}" if self.text else line
                push_message(answer_chunk(answer, self.text, citations, self.message_id), state_key=None)
                self.text = answer

    def _cite(self, claim: Claim) -> str:
        """Return a claim as a line of the answer, or "", and add the citations that are new to the answer's."""
        checked = with_unstated_number(claim, self._items, self._question)
        return cite_claim(checked, self._items, self._documents, self._mode, self._citations)

    def confirm_claims(self, draft: DraftAnswer | None, abstain_below: float) -> tuple[str, str]:
        """Withdraw the claims unless the reply begins with them and is confident enough; return `AskState.shown`."""
        begins_with_shown = draft is not None and draft.claims[:len(self._claims)] == self._claims
        if draft is None or not begins_with_shown or not is_shown(draft, self._mode, abstain_below):
            self.withdraw()
        return self.message_id, self.text

    def withdraw(self) -> None:
        """Take back all claims that were shown, and begin again without any, in another message."""
        if self.text:
            self._write({"step": "withdrawn", "found": []})
            withdraw_message(self.message_id)
        self._claims, self._citations, self.message_id, self.text = [], [], "", ""


def withdraw_message(message_id: str) -> None:
    """End a message whose chunks were streamed by saying that it is withdrawn: streams cannot take chunks back."""
    push_message(AIMessageChunk(content=WITHDRAWN, id=message_id, chunk_position="last"), state_key=None)


@contextmanager
def showing_claims(items: Sequence[Passage], documents: SourceDocuments, mode: Mode, question: str,
                   ) -> Iterator[ShownClaims]:
    """Show the claims that a model writes within the block, and withdraw them if the block raises an error."""
    shown = ShownClaims(items, documents, mode, question)
    try:
        with claims_to(shown.show):
            yield shown
    except Exception:
        shown.withdraw()
        raise
