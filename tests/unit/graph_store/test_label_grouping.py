"""Labels that mean the same are one candidate; small corpora, widening, and what the next batch is shown."""


import pytest
from banyan.schemas.delta import SameLabel
from banyan.schemas.graph_schema import EntityType, GraphSchema, RelationType

from ...newest import newest
from ...scripted import ScriptedResources, Workshop

SCHEMA = GraphSchema(name="s", entity_types=(EntityType(name="Person"), EntityType(name="Firm")),
                     relation_types=(RelationType(name="leads", domain=("Person",), range=("Firm",)),))
LEADERS = {"a.txt": "Ada:Person --chairs--> Acme:Organization (0.9).",
           "b.txt": "Bea:Person --heads the board of--> Acme:Organization (0.9).",
           "c.txt": "Acme:Organization --chaired by--> Cem:Person (0.9)."}


class Grouper:
    """Says of each label what it is told to, and counts how often it is asked."""

    def __init__(self, means) -> None:
        self.means, self.asked = means, []

    async def group(self, labels, schema):
        self.asked.append([label.name for label in labels])
        return [SameLabel(number, *self.means[label.name]) for number, label in enumerate(labels, 1)
                if label.name in self.means]


class GroupingResources(ScriptedResources):
    """Scripted resources with a model that groups labels."""

    grouper: Grouper

    def schema_writer(self, name):
        return self.grouper


class GroupingShop(Workshop):
    """Builds whose labels a model groups; by default one document suffices."""

    def __init__(self, folder, embedder, means, **settings) -> None:
        super().__init__(folder, embedder, **{"schema_support": None, **settings})
        self.settings = self.settings.model_copy(update={"llm_base_url": "http://127.0.0.1:9/v1"})
        self.grouper = Grouper(means)

    def resources(self):
        resources = GroupingResources(self.settings, self.embedder, self.scripted)
        resources.grouper = self.grouper
        return resources

    def schema_in_force(self):
        with self.resources() as resources:
            return newest(resources).kb.schemas.current()


@pytest.fixture
def small(tmp_path, hashed_embedder):
    """A workshop without a model, in whose small corpora one document supports an element."""
    return Workshop(tmp_path, hashed_embedder, schema_support=None)


@pytest.fixture
def grouping(tmp_path, hashed_embedder):
    return lambda means, name="one", **settings: GroupingShop(tmp_path / name, hashed_embedder, means, **settings)


def test_synonyms_and_inverse_labels_become_one_relation(grouping):
    shop = grouping({"heads the board of": ("chairs", False), "chaired by": ("chairs", True)})
    assert shop.build(shop.write(LEADERS))["rejected"] == {}
    (relation,) = [r for r in shop.schema_in_force().relation_types if "chairs" in r.all_names()]
    assert relation.aliases == ("heads the board of",)
    assert relation.inverse_aliases == ("chaired by",)
    assert {(head, tail) for head, name, tail in shop.triples() if name == relation.name} == {
        ("Ada", "Acme"), ("Bea", "Acme"), ("Cem", "Acme")}
    assert shop.problems() == []


class Linguist(Grouper):
    """Knows which labels mean the same, and whether they say it from tail to head, whichever comes first."""

    async def group(self, labels, schema):
        known = [name for r in schema.relation_types for name in r.all_names() if name in self.means]
        names = [*known, *(label.name for label in labels)]
        return [SameLabel(number, names[0], self.means[label.name] != self.means[names[0]])
                for number, label in enumerate(labels, 1) if label.name != names[0]]


def test_a_then_b_equals_both_at_once(grouping):
    once, twice = grouping({}, "once"), grouping({}, "twice")
    for shop in (once, twice):
        shop.grouper = Linguist({"chairs": False, "heads the board of": False, "chaired by": True, "chaired_by": True})
    once.build(once.write(LEADERS))
    for name in sorted(LEADERS, reverse=True):
        twice.build(twice.write({name: LEADERS[name]}))
    assert once.triples() == twice.triples()
    names = [{n for r in shop.schema_in_force().relation_types for n in (*r.all_names(), *r.inverse_aliases)}
             for shop in (once, twice)]
    assert names[0] == names[1]


def test_one_document_suffices_in_a_small_corpus_and_two_are_needed_in_a_large_one(small):
    text = {"a.txt": "Ada:Person --mentor of--> Bob:Person (0.9)."}
    small.build(small.write(text))
    assert ("Ada", "mentor_of", "Bob") in small.triples()
    small.build(small.write({f"{n}.txt": f"P{n}:Person --employer--> Acme:Organization." for n in range(50)}))
    assert ("Ada", "mentor_of", "Bob") not in small.triples()


def test_what_is_often_stated_between_other_types_widens_a_relation(small):
    small.build(small.write({"a.txt": "Ada:Person --located_in--> Bonn:Place."}))
    assert small.triples() == set(), "once is a slip"
    small.build(small.write({"b.txt": "Bob:Person --located_in--> Ulm:Place."}))
    assert small.triples() == {("Ada", "located_in", "Bonn"), ("Bob", "located_in", "Ulm")}
    with small.resources() as resources:
        decided = newest(resources).kb.schemas.versions()[-1].decisions
    assert [(d.decision.verdict, d.decision.name) for d in decided] == [("edit", "located_in")]
    assert decided[0].decision.why.startswith("located in between Person and Place: mean confidence")
    assert small.problems() == []
