"""An anonymised corpus with its questions, in the form of AnonyRAG: a model cannot answer from memory.

Entities come from a build. Their names become ids in all surface forms, and the key records the words at each place, so
reverting is exact. Tasks come from the facts of the graph, and the result is checked for names that are left.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from networkx.utils import UnionFind
from pydantic import Field

from ...agents.construction.graph import build_graph
from ...agents.construction.state import BuildContext, BuildInput
from ...agents.resources import Resources
from ...graph_store.graph.resolved_graph import ResolvedGraph
from ...prompts import language_of
from ...runtime.event_loop import run
from ...schemas.documents import Frozen
from ...schemas.errors import BanyanError
from ...schemas.naming import content_id, normalise

PERSON = "Person"
_WORD = re.compile(r"[^\W\d_]+")
_NUMERAL = re.compile(r"[IVX]+")
_SHORTEST = 3
_TITLES = frozenset([
    "mrs", "miss", "lord", "lady", "sir", "madame", "monsieur", "captain", "doctor", "professor", "saint", "king",
    "queen", "prince", "princess", "count", "uncle", "aunt", "father", "mother", "bishop", "duke", "duchess", "emperor",
    "pope", "general", "colonel", "president", "the", "and", "von", "van", "der", "den", "della", "del", "los", "las"])
MARK = re.compile(r"\[([A-Z_]{2,40}#\d{1,9})\]")
_SPACED = r"[^\W\u3040-\u9fff]"
"""A letter or digit of a script that puts spaces between words."""
_FACTS = 6
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
    """Return the entities of some types, one for each set of surface forms, sorted by name.

    A word of a person's name refers to that person if no other person has it ("Curie" for "Marie Curie"), and to a
    separate entity, the family, if several persons do. Words that the texts also write in lower case are not names.

    Args:
        graph: the graph, with the names of each entity resolved.
        types: the entity types, as named in the schema.
        texts: the texts to anonymise.
    """
    bearers: dict[str, set[str]] = {}  # entities with the same name cannot be distinguished
    entities: dict[str, NamedEntity] = {}
    for entity in graph.entity_ids():
        kind = graph.type(entity)
        if kind in types:
            forms = tuple(sorted({form.strip() for form in graph.names(entity) if _usable(form)}))
            if forms:
                entities[entity] = NamedEntity(kind.upper(), graph.name(entity), forms)
            for form in forms:
                bearers.setdefault(normalise(form), set()).add(entity)
    merged = _merge_by_form(entities, bearers)
    return sorted([*merged, *_parts(merged, texts)])


def _usable(form: str) -> bool:
    return len(form.strip()) > 1 and any(character.isalpha() for character in form)


def _merge_by_form(entities: dict[str, NamedEntity], bearers: dict[str, set[str]]) -> list[NamedEntity]:
    """Merge entities that share a form, because a form can only have one id."""
    same = UnionFind(entities)
    for sharing in bearers.values():
        same.union(*sharing)
    groups = [(entities[min(group)], {form for entity in group for form in entities[entity].forms})
              for group in same.to_sets()]
    return [NamedEntity(first.kind, first.name, tuple(sorted(forms))) for first, forms in groups]


def _parts(entities: Iterable[NamedEntity], texts: Sequence[str]) -> Iterator[NamedEntity]:
    """Yield the words of persons' names that refer to a person or a family on their own."""
    small = {word for text in texts for word in _WORD.findall(text) if word.islower()}
    taken = {normalise(form) for entity in entities for form in entity.forms}
    bearers: dict[str, list[NamedEntity]] = {}
    for entity in entities:
        if entity.kind != PERSON.upper():
            continue
        words = {word for form in entity.forms for word in _WORD.findall(form)}
        for word in sorted(words):
            lower = word.lower()
            if (len(word) >= _SHORTEST and word[0].isupper() and not _NUMERAL.fullmatch(word)
                    and lower not in small | _TITLES and normalise(word) not in taken):
                bearers.setdefault(word, []).append(entity)
    mentioned = Counter(word for text in texts for word in _WORD.findall(text))
    for word, persons in bearers.items():
        if not mentioned[word] and not mentioned[word.upper()]:
            continue
        only = persons[0]
        yield NamedEntity(only.kind, only.name, (word,)) if len(persons) == 1 else NamedEntity(only.kind, word, (word,))


class AnonymityError(BanyanError):
    """A text and a key that do not match, or texts that cannot be anonymised; the message says why."""


class AnonymityKey(Frozen):
    """The names of the ids. `places`: the ids of each document in order, each with the words that it replaced."""

    entities: dict[str, tuple[str, ...]] = Field(description="an id's names, the usual one first")
    places: dict[str, tuple[tuple[str, str], ...]]


class Anonymiser:
    """An anonymiser that replaces entities by ids, numbered in the order in which the entities first occur.

    Args:
        entities: the entities to replace; a form of several entities refers to the first.
    """

    def __init__(self, entities: Sequence[NamedEntity]) -> None:
        self._ids: dict[tuple[str, str], str] = {}
        self._entities: dict[tuple[str, str], list[str]] = {}
        self._counts: dict[str, int] = {}
        self._places: dict[str, tuple[tuple[str, str], ...]] = {}
        for entity in entities:
            names = self._entities.setdefault((entity.kind, entity.name), [entity.name])
            names += [form for form in entity.forms if form not in names]
        # The longest name at a place is replaced, and none that begins in lower case if its script has capitals.
        forms = sorted((form[0].upper()[0], -len(form), number, form, (entity.kind, entity.name))
                       for number, entity in enumerate(entities) for form in entity.forms)
        self._identities = [identity for *_, identity in forms]
        # By their first letter, of which a place has one, as there may be thousands of names.
        patterns = [f"(?-i:(?={re.escape(first)}))(?:{'|'.join(f'({_pattern(one[3])})' for one in some)})"
                    for first, some in groupby(forms, key=lambda one: one[0])]
        self._names = re.compile("|".join([f"(?-i:{MARK.pattern})", *patterns]), re.IGNORECASE)

    @property
    def key(self) -> AnonymityKey:
        """The key of everything replaced so far."""
        return AnonymityKey(entities={self._ids[identity]: tuple(names) for identity, names in self._entities.items()
                                      if identity in self._ids}, places=dict(self._places))

    def replace(self, name: str, text: str) -> str:
        """Replace the names in a text by ids, and record the places under the document's name."""
        places: list[tuple[str, str]] = []

        def mark(found: re.Match[str]) -> str:
            # Text that looks like an id stays, and the key records it.
            identifier = found[1] or self._id(self._identities[(found.lastindex or 0) - 2])
            places.append((identifier, found[0]))
            return f"[{identifier}]"

        changed = self._names.sub(mark, text)
        self._places[name] = tuple(places)
        return changed

    def _id(self, identity: tuple[str, str]) -> str:
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
        identifier, words = next(places, ("", ""))
        if identifier != mark[1]:
            raise AnonymityError(f"{name}, character {mark.start()}: [{mark[1]}] is where the key has "
                                 f"{f'[{identifier}]' if identifier else 'no further id'}: the text was changed, or "
                                 "the key is another text's")
        pieces += [text[done:mark.start()], words]
        done = mark.end()
    if (left := next(places, None)) is not None:
        raise AnonymityError(f"{name}: [{left[0]}] is missing at the end: the text was changed, or the key is another "
                             "text's")
    return "".join([*pieces, text[done:]])


def _pattern(form: str) -> str:
    """Return a pattern of a name: its words, between which a line may break, and no longer word around them."""
    words = form.split()
    return ((f"(?<!{_SPACED})" if re.match(_SPACED, words[0]) else "") + r"\s+".join(map(re.escape, words))
            + (f"(?!{_SPACED})" if re.match(_SPACED, words[-1][-1]) else ""))


def leaks(text: str, key: AnonymityKey) -> list[str]:
    """Return the names of the key that occur in a text outside its ids, each once, as written there.

    A name within a longer word does not count, and neither does one in lower case, which is a word ("may" for "May").
    """
    bare = MARK.sub("\0", text)
    folded = " ".join(bare.lower().split())
    left = []
    for name in dict.fromkeys(name for names in key.entities.values() for name in names):
        plain = " ".join(name.lower().split())
        if plain not in folded:
            continue
        left += [match[0] for match in re.finditer(_pattern(name), bare, re.IGNORECASE)
                 if not match[0][0].islower()][:1]
    return left


class Task(Frozen):
    """A question and its answer, as in AnonyRAG's files."""

    question: str
    answer: str


def facts_by_ids(graph: ResolvedGraph, key: AnonymityKey, anonymised: Anonymised) -> list[Fact]:
    """Return the graph's triples whose two ends have different ids, in the graph's order.

    Args:
        graph: the graph with the triples.
        key: the key with the ids.
        anonymised: replaces the names in a text.
    """
    facts = list[Fact]()
    for head, relation, tail in graph.edges():
        ends = [mark[1] for end in (head, tail) if (mark := MARK.fullmatch(anonymised(graph.name(end))))]
        if len(ends) == 2 and ends[0] != ends[1] and key.entities.keys() >= set(ends):  # noqa: PLR2004  (of a triple)
            facts.append((ends[0], relation.replace("_", " "), ends[1]))
    return facts


def tasks_from_facts(facts: Sequence[Fact], key: AnonymityKey) -> list[Task]:
    """Create a reversion task for each entity with facts, and a multiple-choice task for its first fact."""
    names, stated = {identifier: own[0] for identifier, own in key.entities.items()}, dict[str, list[Fact]]()
    tails: dict[str, list[str]] = {}
    for fact in facts:
        stated.setdefault(fact[0], []).append(fact)
        tails.setdefault(fact[2].partition("#")[0], []).append(fact[2])
    return [task for identifier in sorted(stated, key=_number) for task in (
        _reversion(stated[identifier][:_FACTS], names), *_choice(stated[identifier][0], stated, tails, names))]


def _number(identifier: str) -> tuple[str, int]:
    kind, _, number = identifier.partition("#")
    return kind, int(number)


def _reversion(facts: Sequence[Fact], names: dict[str, str]) -> Task:
    lines = [f"- [{head}] {relation} [{tail}]" for head, relation, tail in facts]
    asked = {identifier: names[identifier] for head, _, tail in facts for identifier in (head, tail)}
    return Task(question="\n".join([_REVERT[language_of("".join(asked.values()))], *lines]),
                answer="\n".join(f"{identifier}——{name}" for identifier, name in asked.items()))


def _choice(fact: Fact, stated: dict[str, list[Fact]], tails: dict[str, list[str]], names: dict[str, str],
            ) -> Iterator[Task]:
    """Yield the multiple-choice task of a fact, if there are enough other entities of the tail's type."""
    head, relation, tail = fact
    true = {other for _, same, other in stated[head] if same == relation}
    options = [other for other in dict.fromkeys(tails[tail.partition("#")[0]]) if other not in true | {head}]
    if len(options) >= _OPTIONS - 1:
        place = _number(tail)[1] % _OPTIONS  # spreads the right answers over the letters, reproducibly
        options[place:] = [tail, *options[place:_OPTIONS - 1]]
        lines = [f"{chr(ord('A') + number)}. [{option}]" for number, option in enumerate(options)]
        asked = _CHOOSE[language_of(names[tail])].format(head=f"[{head}]", relation=relation)
        yield Task(question="\n".join([asked, *lines]), answer=f"{chr(ord('A') + place)}. [{tail}]")


class Corpus(Frozen):
    """Anonymised texts by their names, tasks about them, the user's questions, and the key, stored separately."""

    texts: dict[str, str]
    tasks: tuple[Task, ...]
    questions: tuple[Task, ...]
    key: AnonymityKey
    leaks: tuple[str, ...]


def anonymise(resources: Resources, texts: Mapping[str, str], types: Collection[str], *, schema: str = "general",
              questions: Collection[Task] = (), max_tokens: int | None = None) -> Corpus:
    """Anonymise texts and the user's questions, generate tasks about them, and check for leaks.

    The knowledge base that finds the entities remains, so another run pays nothing again.

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
        changed = {key: anonymiser.replace(key, text) for key, text in texts.items()}
        places = anonymiser.key.places
        hide = partial(anonymiser.replace, "")
        facts = facts_by_ids(snapshot.kb.graph, anonymiser.key, hide)
    hidden_questions = tuple(Task(question=hide(task.question), answer=hide(task.answer)) for task in questions)
    tasks = tasks_from_facts(facts, anonymiser.key)
    key = AnonymityKey(entities=anonymiser.key.entities, places=places)
    # Answers of reversion tasks contain the names, so only questions are checked.
    asked = [("questions", task.question) for task in (*tasks, *hidden_questions)]
    return Corpus(texts=changed, tasks=tuple(tasks), questions=hidden_questions, key=key,
                  leaks=tuple(f"{where}: {words!r}" for where, text in [*changed.items(), *asked]
                              for words in leaks(text, key)))
