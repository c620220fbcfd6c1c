"""Each lookup, by itself and as a LangChain tool: what it finds, says, leaves out and cites."""

import banyan
import pytest
from banyan.prompts.rendering import block_note
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.lookups import LOOKUPS, TOOLS, EntityLookup, PassageLookup, PathLookup, TableQuery, TripleLookup
from banyan.tools.langchain_tools import look_up
from banyan.tools.retriever import Retriever

from ... import scripted
from ... import small_base as base
from ...newest import newest

SCHEMA = GraphSchema.model_validate({
    "name": "towns",
    "entity_types": [{"name": "Person"}, {"name": "Ship"}, {"name": "Town"}, {"name": "River"}],
    "relation_types": [
        {"name": "mayor_of", "aliases": ["governs"], "labels": {"zh": "市长"}, "domain": ["Person"], "range": ["Town"]},
        {"name": "lies_on", "domain": ["Town"], "range": ["River"]},
        {"name": "flows_into", "domain": ["River"], "range": ["River"]}],
    "attribute_types": [{"name": "population", "owners": ["Town"], "kind": "number"}]})
RIVERS = [(f"Town{number:02}", "Solva" if number < 20 else "Arno") for number in range(24)]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder, SCHEMA) as kb, kb.writing():
        for start in (0, 12):
            towns = RIVERS[start:start + 12]
            base.put(kb, f"rivers{start}", " ".join(f"{town} lies on the {river}." for town, river in towns),
                     title=f"Rivers from {start}", entities={name: "Town" for name, _ in towns} | {
                         river: "River" for _, river in towns},
                     triples=[(town, "lies_on", river) for town, river in towns])
        base.put(kb, "flow", "The Solva flows into the Arno.", entities={"Solva": "River", "Arno": "River"},
                 triples=[("Solva", "flows_into", "Arno")])
        base.put(kb, "mayors", "Ada Byron was mayor of Town01 from 1990 to 1995. Carl Berg was mayor of Town01 from "
                 "1996 to 2001. Mercury Hall was mayor of Town02.",
                 entities={"Ada Byron": "Person", "Carl Berg": "Person", "Mercury Hall": "Person"},
                 triples=[("Ada Byron", "mayor_of", "Town01", "from 1990 to 1995"),
                          ("Carl Berg", "mayor_of", "Town01", "from 1996 to 2001"),
                          ("Mercury Hall", "mayor_of", "Town02")])
        base.put(kb, "census", "Town01 has a population of 7,000. Town02 has a population of 900.",
                 attributes=[("Town01", "population", "7,000"), ("Town02", "population", "900")])
        base.put(kb, "ship", "The Mercury is a ship. Mercury Hall sails it.", entities={"Mercury": "Ship"})
        base.put(kb, "comet", "Mercury is a river of the north.", entities={"Mercury": "River"})
        base.finish(kb)
        yield Retriever(kb)


def found(retriever, lookup, **more):
    blocks = look_up(retriever, lookup, **more)
    documents = retriever.index.store.documents
    for item in (item for block in blocks for item in block.items):
        for place in item.places or [item]:
            text = documents.get(place.document).text
            assert place.text
            assert text[place.start:place.start + len(place.text)] == place.text
    return blocks


def lines(blocks) -> list[str]:
    return [item.statement for block in blocks for item in block.items]


def notes(blocks) -> str:
    return " ".join(map(block_note, blocks))


def test_a_document_is_read_by_the_question_if_no_query_is_given(retriever):
    (block,) = found(retriever, PassageLookup(documents=("census",)), question="How many live in Town01?")
    assert block.title == "passages: How many live in Town01? (in census)"
    assert {item.document for item in block.items} == {"census"}
    with pytest.raises(ValueError, match="give words to search by, or documents"):
        PassageLookup(query=" ")


class TestCards:
    def test_shows_both_directions_values_and_documents(self, retriever):
        (card,) = found(retriever, EntityLookup(entity="town01"))
        assert card.title.startswith("Town01 (Town")
        assert lines([card]) == ["lies on -> Solva (rivers0)",
                                 "<- mayor of: Ada Byron (from 1990 to 1995); Carl Berg (from 1996 to 2001) (mayors)",
                                 "population: 7,000 (census)"]
        assert card.note == ""

    @pytest.mark.parametrize(("at", "line"), [
        ("1992", "<- mayor of: Ada Byron (from 1990 to 1995) (mayors)"),
        ("2000-05", "<- mayor of: Carl Berg (from 1996 to 2001) (mayors)")])
    def test_shows_what_holds_at_a_date(self, retriever, at, line):
        assert line in lines(found(retriever, EntityLookup(entity="Town01", at=at)))

    def test_only_wanted_relations_or_which_there_are(self, retriever):
        assert lines(found(retriever, EntityLookup(entity="Town01", relations=("Population",)))) == [
            "population: 7,000 (census)"]
        blocks = found(retriever, EntityLookup(entity="Town01", relations=("painted",)))
        assert lines(blocks) == []
        assert "lies_on, mayor_of, population" in notes(blocks)

    def test_what_does_not_fit_is_counted_and_named(self, retriever):
        blocks = found(retriever, EntityLookup(entity="Town01"), tokens=30)
        assert len(lines(blocks)) == 1
        assert notes(blocks) == "2 more lines: mayor of, population"


class TestQueries:
    @pytest.mark.parametrize(("sql", "line"), [
        ("SELECT count(*) AS n FROM entities WHERE type = 'River'", "n: 3"),
        ("SELECT count(*) AS n FROM lies_on WHERE tail ILIKE 'arno'", "n: 4"),
        ("SELECT max(number) AS most FROM population", "most: 7000")])
    def test_compute_over_entities_relations_and_attributes(self, retriever, sql, line):
        (block,) = look_up(retriever, TableQuery(sql=sql))
        assert lines([block]) == [line]
        assert block.title.startswith(sql)

    @pytest.mark.parametrize(("sql", "line", "note"), [
        ("```sql\nSELECT count(*) AS n FROM entities\n```", "n: 31", ""),
        ("SELECT count(*) AS n FROM Entitys WHERE kind = 'River'", "", "read as entities; no column 'kind'"),
        ("SELECT count(*) AS n FROM entitie WHERE type = River", "n: 3", "River read as the text 'River'"),
        ("SELECT count(*) AS n FROM entities WHERE type = 'river'", "n: 3", "type 'river' read as 'River'"),
        ("SELECT count(*) AS n FROM entities WHERE type <> 'Rive'", "n: 28", "type 'Rive' read as 'River'"),
        ("SELECT count(*) AS n FROM entities WHERE type = 'Lake'", "n: 0", "no type is 'Lake'; there are: "),
        ("SELECT count(*) AS n FROM entities WHERE type LIKE 'riv%'", "n: 0", "LIKE tells capitals apart"),
        ("SELECT count(*) AS n FROM weather", "", "no table 'weather'; there are: "),
        ("DROP TABLE entities", "", "only one SELECT")])
    def test_are_repaired_once_or_say_what_there_is(self, retriever, sql, line, note):
        (block,) = look_up(retriever, TableQuery(sql=sql))
        assert lines([block]) == ([line] if line else [])
        assert note in block.note


class TestTables:
    @pytest.mark.parametrize("relation", ["mayor_of", "Mayor of", "governs", "市长"])
    def test_is_found_by_any_label_and_grouped_by_the_end_that_repeats(self, retriever, relation):
        (table,) = found(retriever, TripleLookup(relation=relation))
        assert table.title == "mayor of (3 rows)"
        assert lines([table]) == ["Town01 <- Ada Byron (from 1990 to 1995); Carl Berg (from 1996 to 2001) (mayors)",
                                  "Town02 <- Mercury Hall (mayors)"]

    def test_is_complete(self, retriever):
        (table,) = found(retriever, TripleLookup(relation="lies_on"))
        members = [place.member for item in table.items for place in item.places]
        assert sorted(members) == [town for town, _ in RIVERS]
        assert all(line.startswith(("Solva <- ", "Arno <- ")) for line in lines([table]))
        assert "24 rows" in table.title
        assert table.note == ""

    @pytest.mark.parametrize(("filters", "heads"), [
        ({"head": "carl"}, ["Carl Berg"]), ({"tail": "town 01"}, []), ({"tail": "TOWN01"}, ["Ada Byron", "Carl Berg"]),
        ({"at": "1991"}, ["Ada Byron", "Mercury Hall"]), ({"document": "mayors", "tail": "02"}, ["Mercury Hall"]),
        ({"document": "census"}, [])])
    def test_is_filtered(self, retriever, filters, heads):
        blocks = found(retriever, TripleLookup(relation="mayor_of", **filters))
        assert sorted(row for line in lines(blocks) for row in ("Ada Byron", "Carl Berg", "Mercury Hall")
                      if row in line) == heads
        assert heads or "without it there are 3" in notes(blocks)

    def test_an_unknown_relation_gets_those_that_exist(self, retriever):
        assert "mayor_of" in notes(found(retriever, TripleLookup(relation="mayors of")))
        blocks = found(retriever, TripleLookup(relation="zzz"))
        assert all(name in notes(blocks) for name in ("mayor_of", "lies_on", "flows_into", "population"))
        assert lines(blocks) == []


class TestPaths:
    def test_connects_two_things_by_the_shortest_chain(self, retriever):
        (line,) = lines(found(retriever, PathLookup(start="Ada Byron", end="Arno")))
        assert line == ("Ada Byron -mayor of (from 1990 to 1995)-> Town01 -lies on-> Solva -flows into-> Arno "
                        "(mayors, rivers0, flow)")

    def test_leads_from_one_thing_along_relations(self, retriever):
        assert lines(found(retriever, PathLookup(start="Ada Byron", along=("mayor of",)))) == [
            "Ada Byron -mayor of (from 1990 to 1995)-> Town01 (mayors)",
            "Ada Byron -mayor of (from 1990 to 1995)-> Town01 <-mayor of (from 1996 to 2001)- Carl Berg (mayors)"]
        assert any("Solva" in line for line in lines(found(retriever, PathLookup(start="Ada Byron"))))

    def test_says_what_is_unknown_or_not_connected(self, retriever):
        assert "Arno" in notes(found(retriever, PathLookup(start="Ada Byron", end="Arnno")))
        assert "'Nobody'" in notes(found(retriever, PathLookup(start="Nobody", end="Arno")))
        assert "no chain" in notes(found(retriever, PathLookup(start="Ada Byron", end="Arno", along=("lies_on",))))


ROWS = [f"| Lot {number} | {number * 7} crowns |" for number in range(60)]


@pytest.fixture(scope="module")
def texts(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder) as kb, kb.writing():
        table = "\n".join(["| Lot | Price |", "|---|---|", *ROWS])
        base.put_plain(kb, "auction", f"# Auction\n\n{table}\n", title="Auction", max_tokens=120)
        wool = "The guild of weavers in Marlow bought wool from the abbey of Sele each spring at the fair"
        for number, text in enumerate([f"{wool}.", f"{wool}!", f"{wool} of 1412.", f"{wool} of 1413."]):
            base.put_plain(kb, f"wool{number}", text, title="Wool")
        base.put_plain(kb, "long", " ".join(f"The dyer bought madder number {number}." for number in range(90)),
                       title="Long", max_tokens=2000)
        base.finish(kb)
        yield Retriever(kb)


class TestPassages:
    def test_stays_in_documents_with_a_part_in_id_or_title(self, texts):
        for part in ("wool2", "LONG"):
            (block,) = found(texts, PassageLookup(query="wool of the abbey", documents=(part, "")))
            assert {item.document for item in block.items} == {part.lower()}
        assert "No document has" in notes(found(texts, PassageLookup(query="wool", documents=("silk",))))

    def test_near_duplicates_are_shown_once_but_not_what_has_another_number(self, texts):
        (block,) = found(texts, PassageLookup(query="The guild bought wool from the abbey", documents=("wool",)))
        shown = {item.document for item in block.items}
        assert {"wool2", "wool3"} <= shown
        assert not {"wool0", "wool1"} <= shown

    def test_what_was_seen_is_not_shown_again(self, texts):
        lookup = PassageLookup(query="madder bought by the dyer", documents=("long", "wool"))
        (block,) = found(texts, lookup)
        (other,) = found(texts, lookup, seen=[block.items[0].key])
        assert block.items[0].chunk_id not in {item.chunk_id for item in other.items}
        everything = [f"{chunk.id}:{chunk.start}:{len(chunk.text)}" for chunk in texts.index.chunks]
        (nothing,) = found(texts, lookup, seen=everything)
        assert (nothing.items, nothing.note) == ((), "all that is near was shown before")

    def test_what_was_cut_was_not_seen_as_a_whole(self, texts):
        lookup = PassageLookup(query="madder bought by the dyer", documents=("long",))
        (block,) = found(texts, lookup, tokens=20)
        (cut,) = block.items
        (again,) = found(texts, lookup, seen=[cut.key], tokens=4000)
        whole = texts.index.chunks[texts.index.chunk_row[cut.chunk_id]].text
        assert len(cut.text) < len(whole)
        assert "goes on" in block.note
        assert whole in [item.text for item in again.items]

    def test_documents_that_are_named_are_read_to_their_end(self, texts):
        (block,) = found(texts, PassageLookup(query="zyx", documents=("auction",)), tokens=9000)
        assert [item.chunk_id for item in block.items] == [
            chunk.id for chunk in texts.index.chunks if chunk.document_id == "auction"]

    def test_a_table_that_is_cut_goes_on_in_the_next_item(self, texts):
        (block,) = found(texts, PassageLookup(query="Lot 1 price 7 crowns", documents=("auction",)), tokens=600)
        chunks = [chunk.id for chunk in texts.index.chunks if chunk.document_id == "auction"]
        assert len(chunks) > 3
        first, second = (chunks.index(item.chunk_id) for item in block.items[:2])
        assert second == first + 1
        assert "\n| Lot" in block.items[0].text, "its lines are kept"

    def test_a_part_of_a_table_says_so(self, texts):
        """The last ten lines of forty-two under a heading looked like all of them."""
        (block,) = found(texts, PassageLookup(query="zyx", documents=("auction",)), tokens=9000)
        first, *between, last = (item.header.rpartition(" [")[2] for item in block.items)
        assert (first, {*between}, last) == ("goes on]", {"continued, goes on]"}, "continued]")


@pytest.fixture(scope="module")
def resources(tmp_path_factory, hashed_embedder):
    shop = scripted.Workshop(tmp_path_factory.mktemp("shop"), hashed_embedder)
    shop.build(shop.write({"curie.md": "Curie:Person --employer--> Sorbonne:Organization."}))
    with shop.resources() as resources:
        yield resources


@pytest.fixture
def tools(resources):
    return {tool.name: tool for tool in banyan.KnowledgeBase("kb", resources).as_tools()}


def test_each_lookup_is_a_tool_with_its_own_arguments_alone(tools):
    assert tuple(tools) == TOOLS
    for name, tool in tools.items():
        assert tool.description
        shown = tool.tool_call_schema.model_json_schema()["properties"]
        assert set(shown) == set(LOOKUPS[name].model_fields) - {"tool"}
        assert all(field["description"] for field in shown.values())


@pytest.mark.parametrize(("name", "arguments"), [
    ("entity_search", {"entity": "Curie"}), ("triple_search", {"relation": "employer"}),
    ("dfs_search", {"start": "Curie"}), ("passage_search", {"query": "Who employed Curie?"})])
def test_the_content_names_documents_and_the_artifact_leads_to_their_words(tools, resources, name, arguments):
    message = tools[name].invoke({"type": "tool_call", "id": "1", "name": name, "args": arguments})
    assert "curie.md" in message.content
    items = [item for block in message.artifact for item in block.items]
    assert items
    documents = newest(resources).kb.documents
    for place in (place for item in items for place in item.places or [item]):
        text = documents.get(place.document).text
        assert text[place.start:place.start + len(place.text)] == place.text


def test_rows_are_found_of_several_relations_or_of_any(retriever):
    several = look_up(retriever, TripleLookup(relation="mayor_of|flows_into"))
    assert [block.title for block in several] == ["mayor of (3 rows)", "flows into (1 rows)"]
    (card,) = look_up(retriever, TripleLookup(tail="Solva"))
    assert "flows into -> Arno" in card.items[0].statement
    (elsewhere,) = look_up(retriever, TripleLookup(tail="Solva", document="census"))
    assert not elsewhere.items
    (block,) = look_up(retriever, TripleLookup())
    assert block.note == "give a relation, a head or a tail"
