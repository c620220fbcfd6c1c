"""The question of an input, and the conversation before it."""

from langchain_core.messages import HumanMessage

from .state import MAX_EARLIER, MAX_QUESTION, AskState, QuestionError


def read_conversation(state: AskState) -> tuple[list[tuple[str, str]], str]:
    """Return the most recent earlier turns as (role, text), oldest first, and the question.

    Raises:
        QuestionError: the question is missing, not a text, or too long.
    """
    messages = list(state.get("messages") or ())
    question = state.get("question") or ""
    if not isinstance(question, str):
        raise QuestionError(f"the question is a text, not {type(question).__name__}: fix the input")
    if messages and isinstance(messages[-1], HumanMessage):
        question = messages.pop().text
    question = question.strip()
    if not question:
        raise QuestionError("the question is empty: ask something")
    if len(question) > MAX_QUESTION:
        raise QuestionError(f"the question has {len(question):,} characters, at most {MAX_QUESTION:,} are read: "
                            "shorten it, or add the text as a document")
    roles = {"human": "user", "ai": "assistant"}
    earlier, room = list[tuple[str, str]](), MAX_EARLIER
    for message in reversed([m for m in messages if m.type in roles]):
        earlier.append((roles[message.type], message.text[:room]))
        room -= len(earlier[-1][1])
        if not room:
            break
    return earlier[::-1], question
