"""Where documents mention an entity, by any of its names: what a person sees before those documents are deleted."""

from typing import NamedTuple

from ..schemas.naming import normalise
from ..text.sentences import split_sentences
from ..text.whole_names import has_name
from .knowledge_base import KnowledgeBase
from .resolution.decisions import match_node


class EntityMentions(NamedTuple):
    """An entity's name, and the sentences of each document that mention it, by the document's id."""

    name: str
    sentences: dict[str, list[str]]


def find_entity_mentions(kb: KnowledgeBase, entity: str) -> EntityMentions:
    """Return the sentences that have one of an entity's names, also where nothing was extracted from them.

    Args:
        kb: the knowledge base.
        entity: the entity's name, "name (type)" or id.

    Raises:
        EntityDecisionError: no entity has this name, or several have.
    """
    node = match_node(kb.graph, entity)
    names = kb.graph.names(node)
    folded = [normalise(name) for name in names]
    found = dict[str, list[str]]()
    for document, text in kb.documents.whole_texts():
        within = normalise(text)
        if any(name in within for name in folded):
            sentences = [" ".join(text[start:end].split()) for start, end in split_sentences(text)
                         if any(has_name(text[start:end], name) for name in names)]
            if sentences:
                found[document] = sentences
    return EntityMentions(kb.graph.name(node), found)
