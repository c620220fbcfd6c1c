"""Question files, gold passages, and the dataset's own decompositions."""

import json

import pytest
from banyan.evaluation import recall
from banyan.evaluation.datasets import DatasetError, DatasetQuestion, GoldPassage, GoldStep, is_gold, load_questions
from banyan.schemas.documents import Chunk


def write(folder, records, *, lines=False):
    path = folder / "questions.json"
    path.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in records) if lines else json.dumps(records),
                    "utf-8")
    return path


MUSIQUE = {"id": "2hop__1", "question": "Q?", "answer": "A", "question_decomposition": [
    {"id": 1, "question": "First?", "answer": "Ulm"},
    {"id": 2, "question": "#1 >> river of #3, [PERSON#277]", "answer": 7}],
    "paragraphs": [{"title": "T", "paragraph_text": "One.", "is_supporting": True},
                   {"title": "T", "paragraph_text": "Two.", "is_supporting": False},
                   {"title": "U", "paragraph_text": "Three.", "is_supporting": True}]}


@pytest.mark.parametrize("lines", [False, True])
def test_musique(tmp_path, lines):
    path = write(tmp_path, [MUSIQUE, MUSIQUE | {"id": "b", "paragraphs": []}], lines=lines)
    assert load_questions(path, "musique") == [DatasetQuestion(
        id="2hop__1", question="Q?", gold=(GoldPassage(title="T", text="One."), GoldPassage(title="U", text="Three.")),
        steps=(GoldStep(question="First?", answer="Ulm"),
               GoldStep(question="{answer 1} >> river of #3, [PERSON#277]", answer="7")), answers=("A",))]


@pytest.mark.parametrize(("form", "record"), [
    ("hotpotqa", {"_id": "x", "question": "Q?", "supporting_facts": [["A", 0], ["B", 1], ["A", 2]]}),
    ("hotpotqa", {"id": "x", "question": "Q?", "evidence": ["A", "B"]}),
    ("2wiki", {"_id": "x", "question": "Q?", "evidence": ["A", "B", "A"]}),
    ("2wiki", {"_id": "x", "question": "Q?", "supporting_facts": [["A", 0], ["B", 0]]}),
])
def test_gold_titles(tmp_path, form, record):
    assert load_questions(write(tmp_path, [record]), form) == [
        DatasetQuestion(id="x", question="Q?", gold=(GoldPassage(title="A"), GoldPassage(title="B")))]


def test_generic(tmp_path):
    records = [{"id": 5, "question": "谁？", "gold": ["d2", "d1", "d2"],
                "decomposition": [{"question": "一？", "answer": "二"}]},
               {"id": 6, "question": "Unanswerable?", "gold": []}]
    assert load_questions(write(tmp_path, records, lines=True), "generic") == [
        DatasetQuestion(id="5", question="谁？", gold=(GoldPassage(id="d2"), GoldPassage(id="d1")),
                        steps=(GoldStep(question="一？", answer="二"),))]


def test_a_file_with_a_byte_order_mark_and_odd_line_separators_is_read(tmp_path):
    path = tmp_path / "q.jsonl"
    record = json.dumps({"id": "a", "question": "One\u2028two?", "gold": ["d"]}, ensure_ascii=False)
    path.write_text(f"\ufeff{record}\r\n\r\n{record}\n", "utf-8")
    assert [q.question for q in load_questions(path, "generic")] == ["One\u2028two?"] * 2


@pytest.mark.parametrize(("form", "record", "said"), [
    ("musique", {"id": "a", "question": "Q?"}, "paragraphs"),
    ("musique", {"id": "a", "question": "Q?", "paragraphs": [{"title": "T", "paragraph_text": "P"}]}, "is_supporting"),
    ("musique", "text", "object"),
    ("hotpotqa", {"question": "Q?"}, "supporting_facts"),
    ("hotpotqa", {"question": "Q?", "supporting_facts": [[]]}, "supporting_facts.0.0"),
    ("hotpotqa", {"question": "Q?", "supporting_facts": {"title": ["A"], "sent_id": [0]}}, "supporting_facts"),
    ("2wiki", {"question": "Q?", "evidence": [["A", 0]]}, "evidence.0"),
    ("2wiki", {"question": None, "evidence": ["A"]}, "question"),
    ("generic", {"id": "a", "question": "Q?"}, "gold"),
    ("generic", {"id": "a", "question": "Q?", "gold": ["d"], "decomposition": [{"question": "One?"}]}, "answer"),
])
def test_a_record_of_another_form_is_named(tmp_path, form, record, said):
    good = {"musique": MUSIQUE, "generic": {"id": "a", "question": "Q?", "gold": ["d"]}}.get(
        form, {"question": "Q?", "evidence": ["A"]})
    with pytest.raises(DatasetError, match=f"(?s)record 1: not a {form} question.*{said}"):
        load_questions(write(tmp_path, [good, record]), form)


def test_files_that_cannot_be_read_are_explained(tmp_path):
    with pytest.raises(DatasetError, match="there is no question file"):
        load_questions(tmp_path / "absent.json", "generic")
    path = tmp_path / "bad.json"
    path.write_text('{"id": "a", "question": "Q?", "gold": ["d"]}\n\n{"id": ', "utf-8")
    with pytest.raises(DatasetError, match="line 3"):
        load_questions(path, "generic")
    path.write_text('[{"id": "a"},\n oops]', "utf-8")
    with pytest.raises(DatasetError, match="line 2"):
        load_questions(path, "generic")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DatasetError, match="UTF-8"):
        load_questions(path, "generic")


@pytest.mark.parametrize(("text", "said"), [
    ("", "has no question: a generic file is a JSON array of records, or one on each line"), ("[]", "has no question"),
    ('{"id": "a", "question": "Q?", "gold": []}', "has no question with gold passages")])
def test_a_file_without_anything_to_measure_is_refused(tmp_path, text, said):
    path = tmp_path / "q.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(DatasetError, match=said):
        load_questions(path, "generic")


def test_types_and_numbers_of_steps_group_questions(tmp_path):
    hotpot = {"question": "Q?", "supporting_facts": [["A", 0]], "type": "bridge"}
    (typed,) = load_questions(write(tmp_path, [hotpot]), "hotpotqa")
    (stepped,) = load_questions(write(tmp_path, [MUSIQUE]), "musique")
    plain = {"id": 1, "question": "Q?", "gold": ["d"]}
    records = [plain, plain | {"type": "summary", "decomposition": [{"question": "One?", "answer": 1}]}]
    generic = load_questions(write(tmp_path, records), "generic")
    assert [one.group for one in (typed, stepped, *generic)] == ["bridge", "2 steps", "", "summary"]


def test_the_evidences_of_2wiki_are_its_steps(tmp_path):
    record = {"_id": "x", "question": "Q?", "supporting_facts": [["A", 0]], "type": "compositional",
              "evidences": [["Film A", "director", "Bo"], ["Bo", "country", "Chile"]]}
    (question,) = load_questions(write(tmp_path, [record]), "2wiki")
    assert question.steps == (GoldStep(question="Film A director", answer="Bo"),
                              GoldStep(question="Bo country", answer="Chile"))
    assert question.group == "compositional"


def chunk(document: str, ordinal=0, title="", text="text") -> Chunk:
    return Chunk(id=f"{document}-{ordinal}", document_id=document, ordinal=ordinal, start=0, end=len(text), text=text,
                 title=title)


def test_what_counts_as_gold():
    assert is_gold(GoldPassage(id="a"), chunk("a"))
    assert not is_gold(GoldPassage(id="a"), chunk("b", title="a"))
    assert is_gold(GoldPassage(title="T"), chunk("a", title="T"))
    assert not is_gold(GoldPassage(title="T"), chunk("a", title="t"))
    # Of two passages of one title only the one of the gold text, or a part of it.
    assert is_gold(GoldPassage(title="T", text="A longer text."), chunk("a", title="T", text="longer text."))
    assert not is_gold(GoldPassage(title="T", text="A longer text."), chunk("a", title="T", text="Another."))


def test_places_count_each_document_once():
    ranked = [chunk("a", 0), chunk("a", 1), chunk("b", 0), chunk("a", 2), chunk("c", 0), chunk("b", 1)]
    assert [recall.gold_rank(GoldPassage(id=one), ranked) for one in "abcd"] == [1, 2, 3, None]
