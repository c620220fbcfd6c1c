"""The question of a run: read from the input with the conversation before it, and its misspelt names corrected."""

import re

from langchain_core.messages import HumanMessage
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from ...graph_store.graph_index import GraphIndex
from ...schemas.naming import normalise
from .state import MAX_EARLIER, MAX_QUESTION, AskState, QuestionError

_WORD = re.compile(r"[^\W\d_]{5,40}")
_LONG_WORD = 8
"""From this number of letters, two may be wrong. In a shorter word, a second difference makes another word."""
_MAX_WORDS = 20


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


def respelt(question: str, index: GraphIndex) -> tuple[str, list[tuple[str, str]]]:
    """Return a question with misspelt words of names corrected, and the words replaced, as (asked, meant).

    Only capitalised ASCII words that occur in no passage are corrected, each to the nearest word of a name with the
    same first letter; a word equally near to two is not changed.
    """
    replaced: dict[str, str] = {}
    for word in [match.group() for match in _WORD.finditer(question)][:_MAX_WORDS]:
        folded = normalise(word)
        if not word[0].isupper() or not word.isascii() or index.lexical.knows(folded):
            continue
        max_distance = 2 if len(word) >= _LONG_WORD else 1
        nearest = process.extract(folded, index.name_words, scorer=Levenshtein.distance, score_cutoff=max_distance,
                                  limit=2)
        distances = [(distance, name_word) for name_word, distance, _ in nearest if name_word[0] == folded[0]]
        if not distances or distances[0][0] == 0:  # no similar name, or the word is spelt like one
            continue
        if len(distances) == 1 or distances[0][0] < distances[1][0]:
            replaced[word] = distances[0][1].capitalize()
    for word, meant in replaced.items():
        question = re.sub(rf"\b{re.escape(word)}\b", meant, question)
    return question, list(replaced.items())
