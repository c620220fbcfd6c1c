"""Anonymise a corpus and its questions in the form of AnonyRAG, so a model cannot answer from memory.

A build finds the entities. All surface forms of their names are replaced by ids. The key records which words each id
replaced, so the texts can be restored exactly. Tasks are made from the facts of the graph, and the result is checked
for names that are left.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext, BuildInput
from banyan.agents.resources import Resources
from banyan.graph_store.graph.resolved_graph import ResolvedGraph
from banyan.prompts.rendering import text_language
from banyan.runtime.threads import run
from banyan.schemas.documents import Frozen
from banyan.schemas.errors import BanyanError
from banyan.schemas.naming import content_id, normalise
from networkx.utils import UnionFind
from pydantic import Field

PERSON = "Person"
_WORD = re.compile(r"[^\W\d_]+")
_NUMERAL = re.compile(r"[IVX]+")
_SHORTEST_WORD = 3
_TITLES = frozenset([
    "mrs", "miss", "lord", "lady", "sir", "madame", "monsieur", "captain", "doctor", "professor", "saint", "king",
    "queen", "prince", "princess", "count", "uncle", "aunt", "father", "mother", "bishop", "duke", "duchess", "emperor",
    "pope", "general", "colonel", "president", "the", "and", "von", "van", "der", "den", "della", "del", "los", "las"])
MARK = re.compile(r"\[([A-Z_]{2,40}#\d{1,9})\]")
_SPACED = r"[^\W\u3040-\u9fff]"
"""A letter or digit of a script that puts spaces between words."""
_MOST_FACTS = 6
_OPTIONS = 4
_REVERT = {
    "en": "Read the statements below. For every anonymised person and place in them, find out from the texts which "
          "name was replaced, and give each id with its name, as in PERSON#1——Ishmael.",
    "zh": "请阅读下列陈述，结合文本推断其中所有被匿名化的人名和地名原本的内容，"
          "逐一给出编号与名称，形如 PERSON#1——鲁智深。"}
_CHOOSE = {"en": "Which is right? {head}, {relation}:", "zh": "下列哪一项正确？{head}，{relation}："}
Anonymised = Callable[[str], str]
Fact = tuple[str, str, str]
"""The ids of head and tail, and the relation in words between them."""


class NamedEntity(NamedTuple):
    """An entity to be anonymised: its type in capitals, the name to show, and its surface forms."""

    kind: str
    name: str
    forms: tuple[str, ...]


def named_entities(graph: ResolvedGraph, types: Collection[str], texts: Sequence[str]) -> list[NamedEntity]:
    """Return the entities of some types to anonymise, sorted by name.

    Entities that share a surface form become one. Single words of persons' names are returned as entities, too: a word
    refers to the person ("Curie" for "Marie Curie") if no other person has it in the name, else to the family, which is
    a separate entity. Words that the texts also write in lower case are not names.

    Args:
        graph: the graph, with the names of each entity resolved.
        types: the entity types, as named in the schema.
        texts: the texts to anonymise.
    """
    entities_by_form: dict[str, set[str]] = {}
    entities: dict[str, NamedEntity] = {}
    for entity in graph.entity_ids():
        kind = graph.type(entity)
        if kind in types:
            forms = tuple(sorted({form.strip() for form in graph.names(entity) if _is_usable(form)}))
            if forms:
                entities[entity] = NamedEntity(kind.upper(), graph.name(entity), forms)
            for form in forms:
                entities_by_form.setdefault(normalise(form), set()).add(entity)
    merged = _merge_by_form(entities, entities_by_form)
    return sorted([*merged, *_name_words(merged, texts)])


def _is_usable(form: str) -> bool:
    return len(form.strip()) > 1 and any(character.isalpha() for character in form)


def _merge_by_form(entities: dict[str, NamedEntity], entities_by_form: dict[str, set[str]]) -> list[NamedEntity]:
    """Merge entities that share a surface form, because a form can have only one id."""
    union = UnionFind(entities)
    for sharing_entities in entities_by_form.values():
        union.union(*sharing_entities)
    groups = [(entities[min(group)], {form for entity in group for form in entities[entity].forms})
              for group in union.to_sets()]
    return [NamedEntity(first.kind, first.name, tuple(sorted(forms))) for first, forms in groups]


def _name_words(entities: Iterable[NamedEntity], texts: Sequence[str]) -> Iterator[NamedEntity]:
    """Yield the single words of persons' names that occur in the texts, each as a person or a family."""
    lower_case_words = {word for text in texts for word in _WORD.findall(text) if word.islower()}
    no_names = lower_case_words | _TITLES
    whole_names = {normalise(form) for entity in entities for form in entity.forms}
    persons_by_word: dict[str, list[NamedEntity]] = {}
    for entity in entities:
        if entity.kind != PERSON.upper():
            continue
        words = {word for form in entity.forms for word in _WORD.findall(form)}
        for word in sorted(words):
            looks_like_a_name = len(word) >= _SHORTEST_WORD and word[0].isupper() and not _NUMERAL.fullmatch(word)
            if looks_like_a_name and word.lower() not in no_names and normalise(word) not in whole_names:
                persons_by_word.setdefault(word, []).append(entity)
    counts = Counter(word for text in texts for word in _WORD.findall(text))
    for word, persons in persons_by_word.items():
        if not counts[word] and not counts[word.upper()]:
            continue
        first = persons[0]
        # A word of several persons' names is the name of their family.
        name = first.name if len(persons) == 1 else word
        yield NamedEntity(first.kind, name, (word,))


class AnonymityError(BanyanError):
    """A text and a key do not match, or texts cannot be anonymised; the message says why."""


class AnonymityKey(Frozen):
    """The key to anonymised texts.

    `entities` has the names of each id. `places` has, for each document, the ids in their order in the text, each with
    the words that it replaced.
    """

    entities: dict[str, tuple[str, ...]] = Field(description="an id's names, the usual one first")
    places: dict[str, tuple[tuple[str, str], ...]]


class Anonymiser:
    """An anonymiser that replaces entities by ids, numbered in the order in which the entities first occur.

    Args:
        entities: the entities to replace; a form of several entities refers to the first.
    """

    def __init__(self, entities: Sequence[NamedEntity]) -> None:
        """Compile one regular expression that finds every form of every entity."""
        self._ids: dict[tuple[str, str], str] = {}
        self._entities: dict[tuple[str, str], list[str]] = {}
        self._counts: dict[str, int] = {}
        self._places: dict[str, tuple[tuple[str, str], ...]] = {}
        for entity in entities:
            names = self._entities.setdefault((entity.kind, entity.name), [entity.name])
            names += [form for form in entity.forms if form not in names]
        # Sorted by first letter (a capital), then the longest form first, so the longest one at a place matches.
        forms = sorted((form[0].upper()[0], -len(form), number, form, (entity.kind, entity.name))
                       for number, entity in enumerate(entities) for form in entity.forms)
        # The entity of each group of the expression: group 1 is an id in the text, group 2 the first form.
        self._identities = [identity for *_, identity in forms]
        # There may be thousands of forms, so the forms are grouped by first letter, and only those with the letter at a
        # place are tried there. The letter is matched with its case: a name does not begin in lower case.
        patterns = []
        for letter, letter_forms in groupby(forms, key=lambda entry: entry[0]):
            alternatives = "|".join(f"({_pattern(form)})" for _, _, _, form, _ in letter_forms)
            patterns.append(f"(?-i:(?={re.escape(letter)}))(?:{alternatives})")
        self._names = re.compile("|".join([f"(?-i:{MARK.pattern})", *patterns]), re.IGNORECASE)

    @property
    def key(self) -> AnonymityKey:
        """The key to all texts that were anonymised so far."""
        names_by_id = {self._ids[identity]: tuple(names) for identity, names in self._entities.items()
                       if identity in self._ids}
        return AnonymityKey(entities=names_by_id, places=dict(self._places))

    def replace(self, name: str, text: str) -> str:
        """Replace the names in a text by ids, and record the replaced words under the document's name."""
        places: list[tuple[str, str]] = []

        def replace_match(match: re.Match[str]) -> str:
            """Return the id for a matched name, and record the match."""
            # Text that looks like an id (group 1) stays as it is, and the key records it, too.
            identifier = match[1] or self._id(self._identities[(match.lastindex or 0) - 2])
            places.append((identifier, match[0]))
            return f"[{identifier}]"

        anonymised = self._names.sub(replace_match, text)
        self._places[name] = tuple(places)
        return anonymised

    def _id(self, identity: tuple[str, str]) -> str:
        """Return the id of an entity, given by type and name; a new one is its type with the next number: PERSON#3."""
        if identity not in self._ids:
            kind = re.sub(r"[^A-Z]+", "_", identity[0])
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._ids[identity] = f"{kind}#{self._counts[kind]}"
        return self._ids[identity]


def revert(name: str, text: str, key: AnonymityKey) -> str:
    """Return the original text of an anonymised document.

    Raises:
        AnonymityError: the key has no such document, or the text has other ids; the message names the first.
    """
    if name not in key.places:
        raise AnonymityError(f"the key has no document {name!r}; it has: {', '.join(sorted(key.places)[:5])}")
    places, pieces, done = iter(key.places[name]), list[str](), 0
    for mark in MARK.finditer(text):
        identifier, words = next(places, ("", ""))  # "": the text has more ids than the key
        if identifier != mark[1]:
            raise AnonymityError(f"{name}, character {mark.start()}: [{mark[1]}] is where the key has "
                                 f"{f'[{identifier}]' if identifier else 'no further id'}: the text was changed, or "
                                 "the key is another text's")
        pieces += [text[done:mark.start()], words]
        done = mark.end()
    if (missing := next(places, None)) is not None:
        raise AnonymityError(f"{name}: [{missing[0]}] is missing at the end: the text was changed, or the key is "
                             "another text's")
    return "".join([*pieces, text[done:]])


def _pattern(form: str) -> str:
    """Return a regular expression for a name: its words with any white space between them."""
    words = form.split()
    not_within_word_before = f"(?<!{_SPACED})" if re.match(_SPACED, words[0]) else ""
    not_within_word_after = f"(?!{_SPACED})" if re.match(_SPACED, words[-1][-1]) else ""
    return not_within_word_before + r"\s+".join(map(re.escape, words)) + not_within_word_after


def leaks(text: str, key: AnonymityKey) -> list[str]:
    """Return the names of the key that still occur in an anonymised text, each once, as it is written there.

    A name within a longer word does not count. Neither does one that begins in lower case, because it is an ordinary
    word ("may", not "May").
    """
    without_ids = MARK.sub("\0", text)
    folded_text = " ".join(without_ids.lower().split())
    leaked = []
    for name in dict.fromkeys(name for names in key.entities.values() for name in names):
        folded_name = " ".join(name.lower().split())
        if folded_name not in folded_text:  # a quick test before the regular expression
            continue
        matches = (match[0] for match in re.finditer(_pattern(name), without_ids, re.IGNORECASE))
        first_match = next((words for words in matches if not words[0].islower()), None)
        if first_match is not None:
            leaked.append(first_match)
    return leaked


class Task(Frozen):
    """A question and its answer, as in AnonyRAG's files."""

    question: str
    answer: str


def facts_by_ids(graph: ResolvedGraph, key: AnonymityKey, anonymised: Anonymised) -> list[Fact]:
    """Return the graph's triples as facts between ids, in the graph's order.

    Triples are left out if one end has no id, or both have the same one.

    Args:
        graph: the graph with the triples.
        key: the key with the ids.
        anonymised: replaces the names in a text by ids.
    """
    facts = list[Fact]()
    for head, relation, tail in graph.edges():
        # An end has an id if its whole name is replaced by one.
        ends = [mark[1] for end in (head, tail) if (mark := MARK.fullmatch(anonymised(graph.name(end))))]
        if len(ends) == 2 and ends[0] != ends[1] and key.entities.keys() >= set(ends):
            facts.append((ends[0], relation.replace("_", " "), ends[1]))
    return facts


def tasks_from_facts(facts: Sequence[Fact], key: AnonymityKey) -> list[Task]:
    """Create tasks for each entity that is the head of facts: a reversion task, and a multiple-choice task if possible.

    The reversion task shows the entity's first facts; the multiple-choice task is about the first one.
    """
    names = {identifier: entity_names[0] for identifier, entity_names in key.entities.items()}
    facts_by_head, tails_by_type = dict[str, list[Fact]](), dict[str, list[str]]()
    for fact in facts:
        head, _, tail = fact
        facts_by_head.setdefault(head, []).append(fact)
        tails_by_type.setdefault(tail.partition("#")[0], []).append(tail)
    tasks = list[Task]()
    for head in sorted(facts_by_head, key=_type_and_number):
        tasks.append(_reversion(facts_by_head[head][:_MOST_FACTS], names))
        tasks.extend(_choice(facts_by_head[head][0], facts_by_head, tails_by_type, names))
    return tasks


def _type_and_number(identifier: str) -> tuple[str, int]:
    kind, _, number = identifier.partition("#")
    return kind, int(number)


def _reversion(facts: Sequence[Fact], names: dict[str, str]) -> Task:
    """Return a task that shows facts between ids and asks for the names behind the ids."""
    lines = [f"- [{head}] {relation} [{tail}]" for head, relation, tail in facts]
    asked = {identifier: names[identifier] for head, _, tail in facts for identifier in (head, tail)}
    return Task(question="\n".join([_REVERT[text_language("".join(asked.values()))], *lines]),
                answer="\n".join(f"{identifier}——{name}" for identifier, name in asked.items()))


def _choice(fact: Fact, facts_by_head: dict[str, list[Fact]], tails_by_type: dict[str, list[str]],
            names: dict[str, str]) -> Iterator[Task]:
    """Yield a task that asks for the tail of a fact among four entities of its type, if there are that many."""
    head, relation, tail = fact
    right_answers = {other_tail for _, other_relation, other_tail in facts_by_head[head] if other_relation == relation}
    same_type = dict.fromkeys(tails_by_type[tail.partition("#")[0]])
    options = [other for other in same_type if other not in right_answers and other != head]
    if len(options) >= _OPTIONS - 1:
        # The id's number chooses the letter of the right answer, so the letters vary but can be reproduced.
        place = _type_and_number(tail)[1] % _OPTIONS
        options[place:] = [tail, *options[place:_OPTIONS - 1]]
        lines = [f"{chr(ord('A') + number)}. [{option}]" for number, option in enumerate(options)]
        asked = _CHOOSE[text_language(names[tail])].format(head=f"[{head}]", relation=relation)
        yield Task(question="\n".join([asked, *lines]), answer=f"{chr(ord('A') + place)}. [{tail}]")


class Corpus(Frozen):
    """The result of `anonymise`: texts by their names, generated tasks, the user's questions, the key, and leaks."""

    texts: dict[str, str]
    tasks: tuple[Task, ...]
    questions: tuple[Task, ...]
    key: AnonymityKey
    leaks: tuple[str, ...]


def anonymise(resources: Resources, texts: Mapping[str, str], types: Collection[str], *, schema: str = "general",
              questions: Collection[Task] = (), max_tokens: int | None = None) -> Corpus:
    """Anonymise texts and the user's questions, generate tasks about the texts, and check for names that are left.

    A knowledge base is built from the texts to find the entities. It is kept, so another run makes no calls again.

    Args:
        resources: models and knowledge bases.
        texts: the texts by their names.
        types: the entity types whose names are replaced.
        schema: the schema of the knowledge base.
        questions: the user's questions with answers; names in them are replaced, too.
        max_tokens: the budget of the build; None means no limit.

    Raises:
        AnonymityError: the build stopped or failed in part, or no entity of the types was found.
    """
    name = f"anonymise-{content_id(schema, *(part for item in sorted(texts.items()) for part in item))[:12]}"
    build_input: BuildInput = {"knowledge_base": name, "schema": schema,
                               "documents": [{"id": key, "text": text} for key, text in texts.items() if text.strip()]}
    context = BuildContext(max_tokens=max_tokens, retry_failed=True)
    report = run(partial(build_graph(resources).ainvoke, build_input, context=context))["report"]
    if report["stopped"] or report["chunks_failed"]:
        why = report["stopped"] or f"{report['chunks_failed']} chunks failed"
        raise AnonymityError(f"finding the names: {why}; run the command again to resume")
    all_texts = [*texts.values(), *(part for task in questions for part in (task.question, task.answer))]
    with resources.snapshot(name) as snapshot:
        entities = named_entities(snapshot.kb.graph, types, all_texts)
        if not entities:
            raise AnonymityError(f"no entity of the types {', '.join(sorted(types))} was found: name others (--types), "
                                 "or another schema (--schema)")
        anonymiser = Anonymiser(entities)
        anonymised = {key: anonymiser.replace(key, text) for key, text in texts.items()}
        places = anonymiser.key.places  # of the texts only, not of what is replaced below
        replace = partial(anonymiser.replace, "")
        facts = facts_by_ids(snapshot.kb.graph, anonymiser.key, replace)
    user_questions = tuple(Task(question=replace(task.question), answer=replace(task.answer)) for task in questions)
    tasks = tasks_from_facts(facts, anonymiser.key)
    key = AnonymityKey(entities=anonymiser.key.entities, places=places)
    # The answers of reversion tasks contain the names, so only the questions are checked.
    checked = [*anonymised.items(), *(("questions", task.question) for task in (*tasks, *user_questions))]
    leaked = tuple(f"{place}: {words!r}" for place, text in checked for words in leaks(text, key))
    return Corpus(texts=anonymised, tasks=tuple(tasks), questions=user_questions, key=key, leaks=leaked)
