"""The words of a run: the question of a conversation, and the text of an answer that quotes."""

from collections.abc import Iterable, Sequence

from langchain_core.messages import HumanMessage

from ...graph_store.ledger.document_rows import SourceDocuments
from ...models.rules.recognition.names import names_in
from ...schemas.retrieval import Answer, DraftAnswer, Passage, QuotedDraft
from ...tools.graph_names import unknown_names_near
from ...tools.retriever import Retriever
from .cited_message import answer_in, phrases_for, without_marks
from .citing import cite
from .state import MAX_EARLIER, MAX_QUESTION, AskState, QuestionError

_LONGEST_QUESTION = 300  # characters of a question in which names are looked for
_NEAR_NAMES = 3  # similar names that an abstention shows
_FOUND_SHARE = 0.5  # of `abstain_below`, which quotes without a short answer need: a reader can judge quotes


def read_conversation(state: AskState) -> tuple[list[tuple[str, str]], str]:
    """Return the newest turns before a question as (role, text), oldest first, and the question itself.

    It is the last message if a person wrote it, else the input's `question`; QuestionError: there is none, or too long.
    """
    messages = list(state.get("messages") or ())
    question = state.get("question") or ""
    if not isinstance(question, str):
        raise QuestionError(f"the question is a text, not {type(question).__name__}: fix the input")
    if messages and isinstance(messages[-1], HumanMessage):
        question = messages.pop().text
    question = question.strip()
    if not question and messages and messages[-1].type == "ai":
        raise QuestionError("the last message is an answer: end the conversation with a question")
    if not question:
        raise QuestionError("the question is empty: ask something")
    if len(question) > MAX_QUESTION:
        raise QuestionError(f"the question has {len(question):,} characters, at most {MAX_QUESTION:,} are read: "
                            "shorten it, or add the text as a document")
    roles = {"human": "user", "ai": "assistant"}
    newest_first, characters_left = list[tuple[str, str]](), MAX_EARLIER
    for message in reversed([message for message in messages if message.type in roles and message.text]):
        text = answer_in(message.text)[:characters_left]
        newest_first.append((roles[message.type], text))
        characters_left -= len(text)
        if not characters_left:
            break
    return newest_first[::-1], question


def present_quotes(question: str, draft: QuotedDraft, passages: Sequence[Passage], documents: SourceDocuments,
                   abstain_below: float) -> Answer:
    """Return the short answer with its quotes, or what the draft asks back; below `abstain_below` an abstention."""
    if draft.asks_back:
        return Answer(answer=draft.asks_back, abstained=True)
    phrases = phrases_for(question)
    # `cite` shows no quotes of a draft that it does not trust, so it is given full confidence.
    trusted = draft.model_copy(update={"confidence": 1.0})
    quoted = cite(trusted, passages, documents, "reject", question=question)
    if not quoted.citations:
        return quoted.model_copy(update={"answer": phrases["none"], "confidence": 0.0})
    required = abstain_below if quoted.short else abstain_below * _FOUND_SHARE
    if draft.confidence < required:
        return quoted.model_copy(update={"answer": f"{quoted.answer}\n{phrases['closest']}", "abstained": True,
                                         "confidence": draft.confidence, "short": "", "grade": "none"})
    if not quoted.short:
        return quoted.model_copy(update={"confidence": draft.confidence, "grade": "found"})
    found = phrases["found"].format(quoted.short)
    if without_marks(found) != found:  # it ends like a citation mark, such as "[1]"
        found = phrases["found"].format(f"“{quoted.short}”")
    return quoted.model_copy(update={"answer": f"{found}\n{quoted.answer}", "confidence": draft.confidence,
                                     "grade": "stated"})


def present_unanswered(question: str, draft: DraftAnswer, passages: Sequence[Passage], documents: SourceDocuments,
                       ) -> Answer | None:
    """Return an abstention that shows what the documents do say; None if the draft says nothing that can be cited."""
    if draft.answerable:  # `cite` has already left out its claims, or trusts it too little to show them
        return None
    # `cite` shows nothing of a draft that does not answer, so it is given one that does, with full confidence.
    trusted = draft.model_copy(update={"answerable": True, "confidence": 1.0})
    cited = cite(trusted, passages, documents, "reject", question=question)
    if cited.abstained:
        return None
    intro = phrases_for(question)["unanswered"]
    return cited.model_copy(update={"answer": f"{intro}\n{cited.answer}", "abstained": True, "confidence": 0.0,
                                    "short": "", "grade": "none"})


def with_near_names(answer: Answer, question: str, retrievers: Iterable[Retriever]) -> Answer:
    """Return an abstaining answer with names of the documents that are similar to unknown ones of the question."""
    phrases, indexes = phrases_for(question), [retriever.index for retriever in retrievers]
    near = unknown_names_near(indexes, names_in(question[:_LONGEST_QUESTION]), _NEAR_NAMES)
    line = phrases["near"].format(phrases["joint"].join(near)) if near else ""
    return answer.model_copy(update={"answer": "\n".join(filter(None, [answer.answer, line]))})
