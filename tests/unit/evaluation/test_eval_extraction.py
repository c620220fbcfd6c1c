"""`banyan eval extraction`: Text2KGBench's scores on small cases and its own data, bounding, the command."""

import json

import pytest
from banyan.evaluation.extraction_answers import ExtractionScores, GoldCase, load_gold, load_recorded, score_answers
from banyan.evaluation.recall import DatasetError
from banyan.schemas.formats.schema_loading import load_schema
from banyan.schemas.graph_schema import ROOT_TYPE, AttributeType, EntityType, GraphSchema, RelationType

from ...conftest import DATA

FILMS = GraphSchema(
    name="films", entity_types=(EntityType(name="film"), EntityType(name="human"), EntityType(name=ROOT_TYPE)),
    relation_types=(RelationType(name="director", domain=("film",), range=("human",)),
                    RelationType(name="cast member", domain=("film",), range=("human",)),
                    RelationType(name="country of origin", domain=("film",), range=("*",))),
    attribute_types=(AttributeType(name="publication date", owners=("film",), kind="date"),))
TEXT = "Jaws was directed by Steven Spielberg, with the actors Roy Scheider and Robert Shaw."
CASE = GoldCase(id="1", text=TEXT, triples=(("Jaws", "director", "Steven Spielberg"),
                                            ("Jaws", "cast member", "Roy Scheider")))


def _scores(*said: tuple[str, str, str]) -> ExtractionScores:
    return score_answers(FILMS, [CASE], {"1": said})


RIGHT = ("Jaws", "director", "Steven Spielberg")


@pytest.mark.parametrize(("said", "scores"), [
    ([RIGHT, ("Jaws", "director", "Roy Scheider"), ("Jaws", "cast_member", "Robert Shaw")], (0.3333, 0.5, 0.4)),
    ([("JAWS", "cast_member", "roy_scheider"), ("Ja ws", "director", "StevenSpielberg")], (1, 1, 1)),
    ([RIGHT, ("jaws", "director", "steven spielberg")], (1, 0.5, 0.6667)),
    ([RIGHT, ("Jaws", "country_of_origin", "Jaws"), ("Jaws", "made_up", "Jaws")], (1, 0.5, 0.6667))],
    ids=["one of three is right", "case, spaces and underscores", "said twice", "relations that are not asked for"])
def test_precision_recall_and_f1_of_a_sentence(said, scores):
    found = _scores(*said)
    assert (found.precision, found.recall, found.f1) == scores


@pytest.mark.data
@pytest.mark.parametrize(("name", "reference"), [
    ("movie", [.33, .23, .25, .89, .26, .11, .26]), ("music", [.42, .28, .32, .94, .16, .06, .22]),
    ("sport", [.57, .52, .52, .85, .22, .15, .13])])
def test_the_recorded_answers_score_as_the_benchmark_has_it(name, reference):
    schema, gold, recorded = _benchmark(name)
    found = score_answers(schema, gold, recorded)
    made_up = found.hallucination
    assert [round(value, 2) for value in (
        found.precision, found.recall, found.f1, found.conformance, made_up.subject, made_up.relation,
        made_up.object)] == reference


def _benchmark(name):
    number = {"movie": 1, "music": 2, "sport": 3}[name]
    folder = DATA / "text2kgbench"
    return (load_schema(str(folder / "ontologies" / f"{number}_{name}_ontology.json")),
            load_gold(folder / "ground_truth" / f"ont_{number}_{name}_ground_truth.jsonl"),
            load_recorded(folder / "vicuna13b" / f"ont_{number}_{name}_llm_responses.jsonl"))


GOLD_LINE = '{"id": "1", "sent": "s", "triples": []}\n'


@pytest.mark.parametrize(("load", "text", "message"), [
    (load_gold, "", "has no sentence"),
    (load_gold, GOLD_LINE + "\n{,}", "line 3, column 2: not JSON: Expecting property name"),
    (load_gold, '{"id": "1", "sent": "s", "triples": [{"sub": "a", "rel": "b"}]}',
     r"line 1, triples\.0\.obj: Field required"),
    (load_gold, GOLD_LINE * 2, "line 2, id: '1' occurs already"),
    (load_recorded, '{"id": "1", "triples": [["a", "b", 3]]}',
     r"line 1, triples\.0\.2: Input should be a valid string")])
def test_a_broken_file_is_an_error_that_names_the_place(tmp_path, load, text, message):
    path = tmp_path / "data.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(DatasetError, match=rf"data\.jsonl.*{message}"):
        load(path)


KEYS = {"precision", "recall", "f1", "conformance", "hallucination"}


def write(shell, name, records) -> None:
    (shell.folder / name).write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")


@pytest.fixture
def command(shell):
    write(shell, "gold.jsonl", [{
        "id": number, "sent": f"{name}:Person --employer--> Acme:Organization.",
        "triples": [{"sub": name, "rel": "employer", "obj": employer}]}
        for number, name, employer in (("1", "Ada", "Acme"), ("2", "Bob", "Bonn"))])
    return lambda *more: shell("eval", "extraction", "--ontology", shell.schema, "--gold", "gold.jsonl", *more)


def test_the_reasoners_own_scores(command, shell):
    found = json.loads(command("--json").out)
    assert set(found) == KEYS
    assert set(found["hallucination"]) == {"subject", "relation", "object"}
    assert (found["precision"], found["recall"], found["f1"], found["conformance"]) == (0.5, 0.5, 0.5, 1)
    assert shell.kbs() == [], "measuring makes no knowledge base"
    assert "0.50" in command().out


def test_recorded_answers_before_and_after(command, shell):
    write(shell, "said.jsonl", [
        {"id": "1", "triples": [["Ada", "employer", "Acme"], ["Ada", "employer", "Bonn"]]},
        {"id": "2", "triples": [["Bob", "likes", "Acme"]]}])
    found = json.loads(command("--recorded", "said.jsonl", "--json").out)
    assert set(found) == {"recorded", "bounded"}
    assert all(set(one) == KEYS for one in found.values())
    assert (found["recorded"]["precision"], found["recorded"]["conformance"]) == (0.25, 0.5)
    assert (found["bounded"]["precision"], found["bounded"]["conformance"]) == (0.5, 1)
    assert found["bounded"]["hallucination"] == {"subject": 0, "relation": 0, "object": 0}
    table = command("--recorded", "said.jsonl").out
    assert table.index("recorded") < table.index("bounded")
