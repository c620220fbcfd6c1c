"""Reading the question, and the conversation before it, from the input of the retrieval graph."""

from langchain_core.messages import HumanMessage

from .state import MAX_EARLIER, MAX_QUESTION, AskState, QuestionError


def read_conversation(state: AskState) -> tuple[list[tuple[str, str]], str]:
    """Return the conversation before a question and the question itself.

    Returns:
        The earlier turns as (role, text), oldest first: the newest that have `MAX_EARLIER` characters together. Then
        the question: the last message if a person wrote it, else the input's `question`.

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
    newest_first, characters_left = list[tuple[str, str]](), MAX_EARLIER
    for message in reversed([message for message in messages if message.type in roles]):
        text = message.text[:characters_left]
        newest_first.append((roles[message.type], text))
        characters_left -= len(text)
        if not characters_left:
            break
    return newest_first[::-1], question
