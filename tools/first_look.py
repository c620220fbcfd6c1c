"""The first look at a question, without a model: passages, cards of what it names, tables and documents it asks for."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from ..graph_store.graph_index import GraphIndex
from ..graph_store.index.lexical import index_terms
from ..models.rules.recognition.names import names_in
from ..schemas.graph_schema import GraphSchema
from ..schemas.inquiry import Block
from ..schemas.lookups import LONGEST, CommunityLookup, PassageLookup, PathLookup, Tool
from ..schemas.naming import normalise
from ..schemas.retrieval import EVERYTHING, Passage, Place, Switches
from ..text.lexicon import SUMMARY_CUES
from ..text.scripts import Language, has_han, phrase_language
from ..text.section_lines import mark_length
from ..text.sentences import split_sentences
from ..text.table_rows import DOCUMENT, find_rows
from .asked_query import ask_tables
from .document_status import mark_versions
from .fact_lookups import entity_card, look_up_paths
from .fact_rows import fit_block, fit_lines, graph_item, item_cost
from .graph_names import LabelledTerms, named_entities
from .passages import look_up_passages
from .reports import look_up_reports
from .retriever import Retriever
from .table_choice import describe_tables, rows_by_document
from .table_query import block_of

# Shares of the budget.
_CARDS_SHARE = 1 / 8  # for cards; passages get what these leave
_CHAINS_SHARE = 1 / 4  # for the chains between two things that the question names
_PASSAGES_SHARE = 3 / 5  # at most, for passages that a model reads: 1/2 lacks what one question in 25 needs
_BESIDE_TABLE_SHARE = 1 / 4  # for passages beside the table that the question asks for (benchmarks/README.md)
_ASKED_SHARE = 1 / 2  # for the table that the question asks for
_NAMED_SHARE = 1 / 8  # for documents that the question names and of which at most one passage is shown
_REPORTS_SHARE = 3 / 4  # for reports, if the question is about the documents as a whole, which passages hardly answer
# Words of questions about what connects two things.
_CONNECTED = re.compile(r"\b(?:connect|link|relat|chain|between|lead|tie)\w*\b|关系|联系|关联|链", re.IGNORECASE)
_OF_DOCUMENTS = re.compile(r"\b(?:document|text|file|paper|collection|folder|corpus)|文件|文档|资料|文章|材料",
                           re.IGNORECASE)
"""Words of a question about the documents as a whole, even if it names something."""
_MOST_CARDS = 2
_MOST_WHOLE = 5  # lines of the relations that the question names which a card shows whatever they take
_WIDER = 3  # how many times the budget is searched for passages that are no rows of tables
_LEAST_OF_TABLE = 1 / 2  # a passage with at least this share of a table's rows is shown
_ENOUGH = 2  # how many shown passages of a document that a question names are enough


def first_look(retriever: Retriever, schema: GraphSchema, question: str, tokens: int, tools: Collection[Tool],
               switches: Switches = EVERYTHING, *, reasons: bool = True) -> list[Block]:
    """Return the evidence that a question begins with.

    Without a model that reasons, a question read as a query gets its result alone, any other one passages to quote.

    Returns:
        In this order: the result of the query that the question is read as; reports, if it is about the documents as a
        whole; passages; cards and chains; then the tables that the question may mean, which have a budget of their own.
    """
    named, terms = named_entities(retriever.index, question), retriever.labelled_terms(schema)
    blocks = _read_asked_table(retriever.index, question, int(tokens * _ASKED_SHARE)) if "table_query" in tools else []
    if blocks and not reasons:
        return mark_versions(retriever.index, blocks, question)
    has_asked_table = bool(blocks)
    if "community_search" in tools:
        # "Give an overview of Acme" is about one thing, "of these documents" is not.
        is_on_whole = SUMMARY_CUES.search(question) and (_OF_DOCUMENTS.search(question) or not named)
        reports = look_up_reports(retriever, terms, CommunityLookup(), question,
                                  int(tokens * _REPORTS_SHARE)) if is_on_whole else []
        is_survey = any(item.kind == "row" for block in reports for item in block.items)
        if is_survey and not reasons:
            return reports  # groups of documents answer by themselves; reports are quoted beside passages
        blocks += reports
    graph_blocks = list[Block]()
    if "entity_search" in tools and reasons:
        graph_blocks += _read_cards(retriever, terms, question, named, int(tokens * _CARDS_SHARE))
    if "dfs_search" in tools and reasons and _CONNECTED.search(question):
        names = [*dict.fromkeys(named.values())]
        if len(names) > 1:
            chains = look_up_paths(retriever.index, PathLookup(start=names[0], end=names[-1]))
            graph_blocks += [fit_block(block, int(tokens * _CHAINS_SHARE)) for block in chains if block.items]
    tokens_left = tokens - sum(item_cost(item) for block in (*blocks, *graph_blocks) for item in block.items)
    if "passage_search" in tools:
        share = _BESIDE_TABLE_SHARE if has_asked_table else _PASSAGES_SHARE
        if reasons:  # the shares are what a model needs; without one, passages are quoted
            tokens_left = min(tokens_left, int(tokens * share))
        passages = _read_passages(retriever, question, tokens_left, switches, is_read=reasons,
                                  are_tables_read=reasons and "table_query" in tools)
        blocks += [block.model_copy(update={"title": "passages"}) for block in passages]
        blocks += _read_named_documents(retriever, question, named,
                                        [item for block in passages for item in block.items],
                                        int(tokens * _NAMED_SHARE), switches)
    has_passages = any(item.kind == "passage" for block in blocks for item in block.items)
    # Without passages, tables are all that the question may be answered from.
    tables = describe_tables(retriever, question, alone=not has_passages) if reasons and "table_query" in tools else []
    found = [block for block in (*blocks, *graph_blocks) if block.items]
    return [*mark_versions(retriever.index, found, question), *tables]


def _read_passages(retriever: Retriever, question: str, tokens: int, switches: Switches, *, is_read: bool,
                   are_tables_read: bool) -> list[Block]:
    """Return the nearest passages; if tables can be queried, without those that are a few rows of a large one."""
    lookup = PassageLookup(query=question[:LONGEST])
    blocks = look_up_passages(retriever, lookup, tokens, (), switches, near=False, is_read=is_read)
    rows_of = rows_by_document(retriever.index) if are_tables_read else {}
    if not any(_is_part_of_table(item, rows_of) for block in blocks for item in block.items):
        return blocks
    # Others take the place of the passages that are left out.
    (wider,) = look_up_passages(retriever, lookup, tokens * _WIDER, (), switches, near=False, is_read=is_read)
    others = [item for item in wider.items if not _is_part_of_table(item, rows_of)]
    return [wider.model_copy(update={"items": tuple(fit_lines(others, tokens)[0]), "note": ""})]


def _is_part_of_table(passage: Passage, rows_of: Mapping[str, int]) -> bool:
    """Return True if a passage is just a few rows of its document's table; `rows_of` counts the rows of each table."""
    rows, lines = list(find_rows(passage.text)), passage.text.strip().splitlines()
    has_only_rows = bool(rows) and len(rows) == len(lines)
    return has_only_rows and len(rows) < _LEAST_OF_TABLE * rows_of.get(passage.document, 0)


def _read_named_documents(retriever: Retriever, question: str, named: Mapping[str, str], shown: Sequence[Passage],
                          tokens: int, switches: Switches) -> Iterator[Block]:
    """Yield the best passages of documents that a question names, if fewer than `_ENOUGH` of theirs are shown."""
    for name in dict.fromkeys((*names_in(question[:LONGEST]), *named.values())):  # also words that name an entity
        documents = retriever.index.documents_called(name)
        if sum(item.document in documents for item in shown) >= _ENOUGH:
            continue
        for document in sorted(documents):
            lookup = PassageLookup(query=question[:LONGEST], documents=(document,))
            blocks = look_up_passages(retriever, lookup, tokens // len(documents), [item.key for item in shown],
                                      switches)
            yield from (block.model_copy(update={"title": f"passages of {document}", "left": 0}) for block in blocks)


def _read_asked_table(index: GraphIndex, question: str, tokens: int) -> list[Block]:
    """Return the documents that a question asks for by their words, or the result of the query that it is read as."""
    if (mentioning := list_mentioning(index, question, tokens)) is not None:
        return [mentioning]
    if (asked := ask_tables(index, question)) is None:
        return []
    block = block_of(index.sql, asked.result, tokens, understood=asked.understood)
    # Short answers are made of the items' cells, so only the first row has one: what `ask_tables` answers.
    items = [item.model_copy(update={"cells": (asked.short,) if number == 0 and asked.short else ()})
             for number, item in enumerate(block.items)]
    return [block.model_copy(update={"items": tuple(items)})] if items else []


def _read_cards(retriever: Retriever, terms: LabelledTerms, question: str, named: Mapping[str, str], tokens: int,
                ) -> Iterator[Block]:
    """Yield short cards of the entities that a question names, of at most `_MOST_CARDS` that fewest chunks mention."""
    index = retriever.index
    support = {entity: len(index.entity_support(entity)) for entity in named}
    rarest = sorted(support, key=lambda entity: (support[entity], entity))[:_MOST_CARDS]
    if not rarest:
        return
    named_terms = set(terms.named(question))
    named_labels = {term.replace("_", " ") for term in named_terms}
    cosines = retriever.term_cosines(retriever.compare(question[:LONGEST]).vector)
    for entity in rarest:
        card = entity_card(index, entity, order=cosines.__getitem__, asked=named_terms)
        named_lines = sum(item.title in named_labels for item in card.items)
        yield fit_block(card, tokens // len(rarest), at_least=max(1, min(named_lines, _MOST_WHOLE)))


_DOCUMENTS = (r"(?:documents?|files?|texts?|papers?|articles?|pages?|notes?|minutes|reports?|e-?mails?|messages?|"
              r"letters?|posts?|transcripts?)")
_ASKS = r"(?:which|what|how[ ]many|list|show|name|find)(?:[ ](?:me|all|of|the|these|my|our)){0,3}+"
_VERBS = r"(?:(?:mention|name|contain)s?|refers?[ ]to|talks?[ ]about|speaks?[ ]of)"
_WHICH_CHINESE = (r"(?:哪些|哪几[篇个份]|哪[篇个份]|多少[篇个份]?)"
                  r"(?:文档|文件|文章|文本|资料|材料|论文|报告|纪要)[中里]?都?被?(?:提到|提及|谈到|讲到|说到|包含|出现)[了过]?")
_MENTIONING = re.compile(
    rf"{_ASKS}[ ]{_DOCUMENTS}(?:[ ](?:that|which|do|does))?[ ]{_VERBS}[ ](?:the[ ](?:words?|term|phrase|name)[ ])?"
    rf"([^\n]{{1,100}})|in[ ]{_ASKS}[ ]{_DOCUMENTS}[ ](?:is|are|was|were)[ ]([^\n]{{1,100}})[ ](?:mentioned|named)|"
    rf"有?{_WHICH_CHINESE}([^\n]{{1,100}})|([^\n]{{1,100}}?)在{_WHICH_CHINESE}", re.IGNORECASE)
_EDGES = " \"'“”‘’«»「」?？.。"
_QUOTES = re.compile("['’]")
_LONGEST_QUOTE = 250  # characters: those of a long sentence
_PHRASES: dict[Language, tuple[str, str]] = {
    "en": ("{} of {} documents mention “{}”", "{} ({}): “{}”"),
    "zh": ("{1} 份文档中有 {0} 份提到“{2}”", "{}（{} 处）：“{}”")}
"""The answer, with the number of documents, that of all, and the words; a document's line: title, times and quote."""


def list_mentioning(index: GraphIndex, question: str, tokens: int) -> Block | None:
    """Return a line for each document that mentions what a question asks for, most mentions first.

    A document mentions words if it has them in any case, as whole words, or another name of the one entity called so.
    None if the question asks for something else, or if no document has these words: they may be a form of a name.
    """
    found = _MENTIONING.fullmatch(question.strip(_EDGES))
    words = next(filter(None, found.groups()), "").strip(_EDGES) if found else ""
    if not words:
        return None
    head, line = _PHRASES[phrase_language(question)]
    rows = index.find_named(words).tolist()
    all_names = index.names_of(rows[0]) if len(rows) == 1 else []
    names = [words, *(name for name in all_names if normalise(name) != normalise(words))]
    items = [graph_item([place], line.format(title, f"{times:,}", " ".join(place.text.split())), title, "row")
             for times, title, place in sorted(_mentions(index, names), key=lambda one: (-one[0], one[1]))]
    shown, left = fit_lines(items, tokens)
    if not shown:
        return None
    # Short answers are made of the items' cells, so only the first line has one: what the title says.
    answer = head.format(f"{len(items):,}", f"{index.store.documents.count_documents():,}", "” / “".join(names))
    first, *others = shown
    return Block(title=answer, items=(first.model_copy(update={"cells": (answer,)}), *others), left=left)


def _mentions(index: GraphIndex, names: Sequence[str]) -> Iterator[tuple[int, str, Place]]:
    """Yield for each document with some names, the first in any case, how often it has them, its title and a quote."""
    # The longest first, so that "Ann Lee" is not counted as "Lee" again; "will" is not another name of Will Lee.
    forms = {name: _form_of(name) for name in sorted(names, key=len, reverse=True)}
    forms[names[0]] = f"(?i:{forms[names[0]]})"
    any_form = "|".join(forms.values())
    pattern = re.compile(any_form)
    # Only documents whose passages, or the headings above these, have an index term of each word are read.
    _, document_of_chunk = index.documents
    rows = set[int]()
    for name in names:
        with_each_word = [{*document_of_chunk[index.lexical.scores(word) > 0].tolist()}
                          for word in name.split() if index_terms(word)]  # a sign such as "&" has no term
        rows |= set.intersection(*with_each_word) if with_each_word else set()
    for row in sorted(rows):
        document = index.document_ids[row]
        text = index.store.documents.text(document)
        # A document's fields stand in the first line and repeat its title: they count once, if nothing below does.
        text_start = text.find("\n") if text.startswith(f"| {DOCUMENT}: ") else 0
        places = [match.start() for match in pattern.finditer(text, text_start)]
        if not places and (in_fields := pattern.search(text)):
            places = [in_fields.start()]
        if places:
            title = index.document_titles[row] or document
            is_shared = len(index.documents_by_name[normalise(title)]) > 1
            name = f"{title} ({document})" if is_shared else title
            yield len(places), name, _quote(document, text, places[0])


def _form_of(name: str) -> str:
    """Return an expression for a name in any spacing, with any apostrophe; Chinese has no spaces between words."""
    form = r"\s+".join(_QUOTES.sub("['’]", re.escape(word)) for word in name.split())
    return form if has_han(name) else rf"(?<!\w){form}(?!\w)"


def _quote(document: str, text: str, at: int) -> Place:
    """Return the sentence around a character as a place, of a long one the beginning or a part around the character."""
    block_start = text.rfind("\n\n", 0, at) + 1
    block_end = text.find("\n\n", at)
    # Only the paragraph is split, because the whole text may be long.
    spans = split_sentences(text[block_start:block_end if block_end >= 0 else len(text)])
    start, end = next((block_start + first, block_start + last) for first, last in spans if at < block_start + last)
    if end - start > _LONGEST_QUOTE and at - start > _LONGEST_QUOTE // 2:
        start = text.rfind(" ", start, at - _LONGEST_QUOTE // 3) + 1 or start
    start = min(start + mark_length(text[start:end]), at)
    quote = text[start:min(end, start + _LONGEST_QUOTE)]
    return Place(document=document, start=start + len(quote) - len(quote.lstrip()), text=quote.strip())
