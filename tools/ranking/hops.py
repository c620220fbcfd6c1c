"""The second hop of a question that was not decomposed.

"How many people live in the state where the Bald Hills Wind Farm operates?" names the farm, which leads
to the state; what is asked about the state is in the rest of the question. So the rest, without the
names, is searched as a sub-query that follows the whole question. This needs no grammar of any language.
"""

from collections.abc import Iterable

from ...graph_store.bounding.grounding import words
from ...graph_store.index.name_trie import Named
from ...schemas.retrieval import SubQuery
from ..query import wording


def second_hop(question: SubQuery, names: Iterable[Named], number: int) -> SubQuery | None:
    """Return a sub-query that follows a question, with the question's words except its names.

    Args:
        question: the whole question.
        names: the names in it, from left to right.
        number: the question's number among all sub-queries.

    Returns:
        The sub-query, or None if the question has no names or no other words.
    """
    text, parts, end = question.question, list[str](), 0
    for named in names:
        parts.append(text[end:named.start])
        end = named.end
    rest = wording(" ".join([*parts, text[end:]]))
    if not parts or not words(rest):
        return None
    return question.model_copy(update={"question": rest, "follows": (number,)})
