"""Claims that are shown while a model still writes them, each as soon as its quotes are checked."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from langchain_core.messages import AIMessageChunk
from langgraph.config import get_stream_writer
from langgraph.graph.message import push_message

from ...graph_store.ledger.document_rows import SourceDocuments
from ...models.reasoner import claims_to
from ...runtime.threads import in_thread
from ...schemas.documents import Citation
from ...schemas.retrieval import Claim, DraftAnswer, Mode, Passage
from .cited_message import WITHDRAWN, answer_chunk
from .citing import cite_claim, is_shown, with_unstated_number


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
