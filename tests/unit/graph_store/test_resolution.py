"""Entity resolution: names, scores, groups, and the graph that follows from them."""

import json
import random
from typing import Any

import pytest
from banyan.benchmarks import entity_pairs
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.graph.resolved_graph import ResolvedGraph
from banyan.graph_store.resolution.name_comparison import fold, match_names, statements
from banyan.graph_store.resolution.same_entities import Judgements, resolve
from banyan.graph_store.resolution.surroundings import Surroundings
from banyan.schemas.extraction import BoundedExtraction
from banyan.schemas.graph_schema import EntityType, GraphSchema, open_schema
from banyan.schemas.naming import entity_id
from banyan.schemas.resolution import EntityDecision, pair_of
from hypothesis import given
from hypothesis import strategies as st

from ... import admitted
from ...admitted import facts
from ...newest import dump_graph


def graph_of(**chunks: BoundedExtraction) -> KnowledgeGraph:
    return admitted.graph_of(chunks.items())


def groups(graph: KnowledgeGraph, judgements: Judgements | None = None, schema: GraphSchema | None = None,
           **texts: str) -> list[set[str]]:
    around = Surroundings(graph, schema or open_schema(), {})
    said = {chunk: statements(text, around.entities_by_name(chunk)) for chunk, text in texts.items()}
    found = resolve(around, said, judgements or Judgements()).aliases
    together: dict[str, set[str]] = {}
    for row in found.values():
        together.setdefault(row.canonical, {around.names[row.canonical]}).add(around.names[row.id])
    return sorted(together.values(), key=sorted)


@pytest.mark.parametrize(("first", "second", "rule"), [
    ("José García", "Jose Garcia", "spelling"), ("Фёдор Достоевский", "Федор Достоевский", "spelling"),
    ("ＡＢＣ　Ｃｏｒｐ", "ABC Corp", "spelling"), ("列夫·托尔斯泰", "列夫・托尔斯泰", "spelling"),
    ("《红楼梦》", "红楼梦", "spelling"), ("J.R.R. Tolkien", "J. R. R. Tolkien", "spelling"),
    ("Coca-Cola", "Coca Cola", "spelling"), ("Hale & Sons", "Hale and Sons", "spelling"),
    ("Görli", "Goerli", "spelling"), ("Meta EIP", "Meta EIPs", "spelling"),
    ("St. Louis", "Saint Louis", "spelling"), ("Prague/Electra", "Prague-Electra", "spelling"),
    ("3 May 1801", "1801年5月3日", "date"), ("Lovelace, Ada", "Ada Lovelace", "person"),
    ("World War II", "Second World War", "spelling"), ("Austin, Texas", "Austin", "place"),
    ("World Health Organization", "WHO", "acronym"), ("World Health Organization (WHO)", "WHO", "acronym"),
    ("World Health Organization (WHO)", "World Health Organization", "spelling"),
    ("T. B. Hale", "Thomas B. Hale", "person"), ("Ada K. Marsh", "Ada Marsh", "person")])
def test_names_of_one_thing_are_tied_by_a_rule(first: str, second: str, rule: str) -> None:
    for names in ((first, second), (second, first)):
        match = match_names(*map(fold, names), person=rule == "person")
        assert match is not None
        assert match.rule == rule


@pytest.mark.parametrize(("first", "second"), [
    ("World War I", "World War II"), ("Louis XIV", "Louis XVI"), ("XXXIV Olympiad", "X Olympiad"),
    ("Николай I", "Николай II"), ("第一中学", "第二中学"), ("version 1.5", "version 15"), ("C++", "C"),
    ("-5 degrees", "5 degrees"), ("Martin Luther King Jr.", "Martin Luther King"), ("North Korea", "South Korea"),
    ("东方航空", "南方航空"), ("3 May 1801", "May 4, 1801"), ("late 1998", "1998"), ("one season", "first season"),
    ("Иван", "Йван"), ("Royal Navy", "Royal Australian Navy"), ("Acme Ltd", "Acme Inc."), ("王伟", "王维"),
    ("John Adam", "John Adams"), ("Analysi", "Analysis"), ("Glas", "Glass")])  # their s is no plural's
def test_names_that_contradict_or_differ_are_never_tied(first: str, second: str) -> None:
    is_person = first == "John Adam"
    for names in ((first, second), (second, first)):
        assert match_names(*map(fold, names), organisation=not is_person, person=is_person) is None


def test_what_a_text_states_ties_names_that_have_nothing_in_common() -> None:
    text = "周树人，又名鲁迅，是中国作家。"
    graph = graph_of(a=facts(names=("周树人", "鲁迅")), b=facts(names=("周树人",)))
    assert groups(graph, a=text) == [{"周树人", "鲁迅"}]
    assert groups(graph_of(a=facts(names=("周树人", "鲁迅")))) == []


CURIE, BOHR = ("Marie Curie", "found", "radium"), ("Niels Bohr", "led", "the institute")


@pytest.mark.parametrize("text", [
    "Marie Curie, also known as Niels Bohr, was a spy.",
    "Marie Curie, also known as Zedekiah Smith. Zedekiah Smith, also known as Niels Bohr.",
    "M. Curie, also known as Niels Bohr, was a spy."])
def test_one_document_alone_makes_no_two_things_one_that_others_know(text) -> None:
    said = facts(names=("Marie Curie", "Niels Bohr", "Zedekiah Smith", "M. Curie"), kind="Person")
    known = {"b": facts(CURIE, kind="Person"), "c": facts(BOHR, kind="Person")}
    together = {"Marie Curie", "Niels Bohr"}
    assert not [group for group in groups(graph_of(a=said, **known), a=text) if together <= group]
    twice = groups(graph_of(a=said, d=said, **known), a=text, d=text)
    if text.startswith("Marie"):
        assert [group for group in twice if together <= group], "two documents say so"
    pair = pair_of(entity_id("Marie Curie", "Person"), entity_id("Niels Bohr", "Person"))
    by_person = Judgements(decisions=(EntityDecision(
        verdict="merge", first=pair[0], second=pair[1], who="Eve", why="", decided_at="2026-01-01"),))
    assert [group for group in groups(graph_of(a=said, **known), by_person, a=text) if together <= group]


def test_a_name_that_may_stand_for_two_things_stands_for_neither() -> None:
    one = graph_of(a=facts(names=("Springfield", "Springfield, Ohio")), b=facts(names=("Ohio", "Iowa")))
    assert groups(one) == [{"Springfield", "Springfield, Ohio"}]
    two = graph_of(a=facts(names=("Springfield", "Springfield, Ohio", "Springfield, Iowa")),
                   b=facts(names=("Ohio", "Iowa")))
    assert groups(two) == []


def test_different_types_and_contradictions_keep_homonyms_apart() -> None:
    schema = GraphSchema(name="s", entity_types=(EntityType(name="Person"), EntityType(name="Place")))
    assert groups(graph_of(a=facts(names=("José Ruiz",), kind="Person"), b=facts(names=("Jose Ruiz",), kind="Place")),
                  schema=schema) == []
    born = graph_of(a=facts(("José Ruiz", "was born on", "3 May 1901")), b=facts(("Jose Ruiz", "was born on", "1955")))
    assert groups(born) == []
    assert groups(graph_of(a=facts(("José Ruiz", "son of", "Jose Ruiz")))) == []
    agreeing = graph_of(a=facts(("José Ruiz", "was born on", "3 May 1901")),
                        b=facts(("Jose Ruiz", "was born in", "1901")))
    assert groups(agreeing) == [{"José Ruiz", "Jose Ruiz"}]


def test_one_name_in_a_document_is_one_thing_of_the_better_supported_type() -> None:
    schema = GraphSchema(name="s", entity_types=(EntityType(name="Company"), EntityType(name="Place"), EntityType(
        name="Concept", last_resort=True)))
    documents = {"a": "one", "b": "one", "c": "one", "d": "two"}
    guessed = {"a": facts(names=("Brink",), kind="Company"), "b": facts(names=("Brink",), kind="Company"),
               "c": facts(names=("Brink",), kind="Place")}

    def types(**chunks: BoundedExtraction) -> list[str]:
        graph = graph_of(**chunks)
        aliases = resolve(Surroundings(graph, schema, documents), {}, Judgements()).aliases
        resolved = ResolvedGraph(graph, aliases)
        return sorted(resolved.entity(node).type for node in resolved.entity_ids()
                      if resolved.entity(node).name == "Brink")

    assert types(**guessed) == ["Company"]
    assert types(a=guessed["a"], d=facts(names=("Brink",), kind="Place")) == ["Company", "Place"]
    said = facts(("Brink", "lies near", "Ulm"), kind="Place")
    assert types(a=guessed["a"], b=guessed["b"], c=said) == ["Place"], "facts support a type more than mentions"
    assert types(a=guessed["a"], d=facts(("Brink", "has", "rooms"), kind="Concept")) == ["Company"], "it says nothing"
    # A homonym: a fact ties the two.
    near = said.model_copy(update={"mentions": (*said.mentions, *guessed["a"].mentions), "facts": (
        said.facts[0].model_copy(update={"tail": "Brink", "tail_type": "Company"}),)})
    assert types(a=guessed["a"], c=near) == ["Company", "Place"]
    # Of two documents, one says something of it; the other has it among the same names.
    beside = facts(names=("Brink", "Ulm", "Aalen", "Fulda"), kind="Company")
    place = facts(("Brink", "lies near", "Ulm"), names=("Aalen", "Fulda"), kind="Place")
    assert types(a=beside, d=place) == ["Place"]
    assert types(a=facts(names=("Brink", "Osram"), kind="Company"), d=place) == ["Company", "Place"]


@pytest.mark.parametrize(("titled", "name"), [
    ("Sir Henry Baskerville", "Henry Baskerville"), ("Inspector Lestrade", "Lestrade"), ("屠呦呦教授", "屠呦呦")])
def test_a_title_is_no_part_of_a_persons_name_within_a_document(titled, name) -> None:
    chunks = {"a": facts(names=(titled,), kind="Person"), "b": facts(names=(name,), kind="Person")}

    def together(documents: dict[str, str]) -> bool:
        return bool(resolve(Surroundings(graph_of(**chunks), open_schema(), documents), {}, Judgements()).aliases)

    assert together({"a": "one", "b": "one"})
    assert not together({"a": "one", "b": "two"})


def test_likeness_is_not_handed_on_along_a_chain() -> None:
    kind = "Organization"
    graph = graph_of(a=facts(names=("Acme",), kind=kind), b=facts(names=("Acme Inc.",), kind=kind),
                     c=facts(names=("Acme Ltd",), kind=kind))
    assert all(not {"Acme Inc.", "Acme Ltd"} <= group for group in groups(graph))


def test_of_the_labelled_pairs_no_two_things_are_merged_and_hardly_a_name_is_missed() -> None:
    pairs = [json.loads(line) for line in entity_pairs.PAIRS.read_text("utf-8").splitlines()]
    merged = [entity_pairs.outcome(pair) == "merged" for pair in pairs]
    assert len(pairs) >= 150
    assert [pair for pair, one in zip(pairs, merged, strict=True) if one and not pair["same"]] == []
    assert sum(merged) >= 0.95 * sum(pair["same"] for pair in pairs)


def ids(*names: str) -> tuple[str, ...]:
    return tuple(entity_id(name, "Thing") for name in names)


def test_persons_decide_against_all_rules_and_the_later_decision_counts() -> None:
    graph = graph_of(a=facts(names=("José Ruiz", "Pepe")), b=facts(names=("Jose Ruiz",)))
    pepe, accented, plain = ids("Pepe", "José Ruiz", "Jose Ruiz")

    def decided(*said: tuple[str, str, str]) -> list[set[str]]:
        return groups(graph, Judgements(decisions=[
            EntityDecision(verdict=verdict, first=first, second=second, who="me") for verdict, first, second in said]))  # type: ignore[arg-type]

    assert decided(("merge", pepe, accented)) == [{"Pepe", "José Ruiz", "Jose Ruiz"}]
    assert decided(("split", accented, plain)) == []
    assert decided(("merge", pepe, accented), ("split", accented, pepe)) == [{"José Ruiz", "Jose Ruiz"}]
    assert decided(("split", accented, plain), ("merge", pepe, plain)) == [{"Pepe", "Jose Ruiz"}]
    assert decided(("merge", pepe, "gone")) == [{"José Ruiz", "Jose Ruiz"}]


NAMES = ["José Ruiz", "Jose Ruiz", "Ulm", "Ulm, Ohio", "Ohio", "The Danube", "Danube", "Acme", "World War II",
         "World War 2", "Ada K. Marsh", "Ada Marsh"]
TRIPLES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(["in", "saw", "also known as"]),
                             st.sampled_from(NAMES)), max_size=4)


def resolved(chunks: dict[str, BoundedExtraction]) -> ResolvedGraph:
    graph = graph_of(**chunks)
    return ResolvedGraph(graph, resolve(Surroundings(graph, open_schema(), {}), {}, Judgements()).aliases)


@given(st.lists(TRIPLES, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_order_does_not_matter(said: list[Any], rng: random.Random) -> None:
    chunks = {f"c{number}": facts(*triples) for number, triples in enumerate(said)}
    expected = resolved(chunks)
    shuffled = list(chunks)
    rng.shuffle(shuffled)
    assert dump_graph(resolved({chunk: chunks[chunk] for chunk in shuffled})) == dump_graph(expected)


@pytest.mark.parametrize(("kind", "names"), [
    ("Person", {"NickBannon", "Nick Bannon"}), ("Room", {"tool room", "toolroom"}), ("Tool", {"Drop Saw", "Dropsaw"}),
    ("Person", {"E. Bach", "Emanuel Bach"}), ("Person", {"Haydn", "Joseph Haydn"}),
    ("Repository", {"open/pump-specs", "pump-specs"})])
def test_names_of_one_document_that_say_the_same_are_one(kind: str, names: set[str]) -> None:
    said = facts(names=tuple(sorted(names)), kind=kind)
    assert groups(graph_of(a=said, b=said)) == [names]


@pytest.mark.parametrize(("kind", "names"), [
    ("Product", {"Window", "Windows"}), ("Concept", {"author", "authors"}),
    ("Tree", {"red wood", "Redwood"}), ("Person", {"A. Gabrieli", "Gabrieli", "Giovanni Gabrieli"}),
    ("Person", {"Bach", "Emanuel Bach", "Johann Bach"})])
def test_names_that_may_be_of_several_stay_apart(kind: str, names: set[str]) -> None:
    assert groups(graph_of(a=facts(names=tuple(sorted(names)), kind=kind))) == []
