"""The sample documents and questions hold together: each answer stands where its gold says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCUMENTS = {
    language: {path.name: path.read_text("utf-8") for path in sorted((EXAMPLES / language).glob("*.md"))}
    for language in ("en", "zh")
}
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (EXAMPLES / "questions.jsonl").read_text("utf-8").splitlines()
]


def is_comparison(question: dict[str, Any]) -> bool:
    return "-comparison-" in question["id"]


def each(keep: Any) -> pytest.MarkDecorator:
    kept = [q for q in QUESTIONS if keep(q)]
    return pytest.mark.parametrize("question", kept, ids=[q["id"] for q in kept])


def says(text: str, words: str) -> bool:
    """Whether the words stand in the text, and not within a longer Latin word or number."""
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(words)}(?![0-9A-Za-z])", text) is not None


def gold_texts(question: dict[str, Any]) -> list[str]:
    return [DOCUMENTS[question["language"]][name] for name in question["gold"]]


def subject_terms(question: dict[str, Any]) -> set[str]:
    """What the first hop asks about: its longer words (in Chinese pairs) that its gold has too."""
    asked = question["decomposition"][0]["question"]
    pairs = [asked[i : i + 2] for i in range(len(asked) - 1)]
    words = re.findall(r"\w{4,}", asked) if question["language"] == "en" else pairs
    return {word for word in words if says(gold_texts(question)[0], word)}


def count(language: str, kind: str) -> int:
    return sum(q["id"].startswith(f"{language}-{kind}-") for q in QUESTIONS)


def test_there_are_16_english_and_8_chinese_documents() -> None:
    assert {language: len(documents) for language, documents in DOCUMENTS.items()} == {"en": 16, "zh": 8}


@pytest.mark.parametrize(("language", "name"), [(key, name) for key in DOCUMENTS for name in DOCUMENTS[key]])
def test_a_document_has_a_title_and_a_fitting_length(language: str, name: str) -> None:
    title, text = DOCUMENTS[language][name].split("\n", 1)
    assert re.fullmatch(r"# \S.*", title)
    assert says(text, title.removeprefix("# "))
    if language == "en":
        assert 120 <= len(text.split()) <= 220
    else:
        assert 200 <= len(re.findall(r"[\u4e00-\u9fff]", text)) <= 350


def test_titles_and_question_ids_are_unique() -> None:
    titles = [text.split("\n", 1)[0] for documents in DOCUMENTS.values() for text in documents.values()]
    ids = [question["id"] for question in QUESTIONS]
    assert len(set(titles)) == len(titles)
    assert len(set(ids)) == len(ids)
    assert len({question["question"] for question in QUESTIONS}) == len(QUESTIONS)


def test_every_kind_of_question_is_there() -> None:
    least = {"single": (10, 5), "two": (8, 4), "three": (4, 1), "unanswerable": (4, 2), "comparison": (1, 0)}
    for kind, (english, chinese) in least.items():
        assert count("en", kind) >= english
        assert count("zh", kind) >= chinese


@each(lambda q: True)
def test_a_question_has_the_agreed_keys(question: dict[str, Any]) -> None:
    assert list(question) == ["id", "language", "question", "answers", "gold", "hops", "decomposition",
                              "unanswerable"]
    assert question["id"].startswith(f"{question['language']}-")
    assert question["hops"] in (1, 2, 3)


@each(lambda q: q["unanswerable"])
def test_an_unanswerable_question_has_no_gold_and_no_answer(question: dict[str, Any]) -> None:
    assert (question["gold"], question["answers"], question["decomposition"]) == ([], [], [])


@each(lambda q: not q["unanswerable"])
def test_each_hop_is_answered_by_the_gold_document_of_its_place(question: dict[str, Any]) -> None:
    assert len(question["gold"]) == len(set(question["gold"])) == question["hops"]
    assert set(question["gold"]) <= set(DOCUMENTS[question["language"]])
    for hop, text in zip(question["decomposition"], gold_texts(question), strict=True):
        assert says(text, hop["answer"])


@each(lambda q: not q["unanswerable"])
def test_each_accepted_answer_stands_in_a_gold_document(question: dict[str, Any]) -> None:
    assert question["answers"]
    for answer in question["answers"]:
        assert any(says(text, answer) for text in gold_texts(question))
    if not is_comparison(question):
        assert question["decomposition"][-1]["answer"] in question["answers"]


@each(lambda q: q["hops"] > 1 and not q["unanswerable"])
def test_a_hop_refers_only_to_earlier_hops_and_all_are_used(question: dict[str, Any]) -> None:
    steps = question["decomposition"]
    used = [int(number) for step in steps for number in re.findall(r"#(\d)", step["question"])]
    for place, step in enumerate(steps, 1):
        assert all(int(number) < place for number in re.findall(r"#(\d)", step["question"]))
    assert sorted(set(used)) == ([] if is_comparison(question) else list(range(1, len(steps))))


@each(lambda q: q["hops"] > 1 and not q["unanswerable"])
def test_no_single_document_answers_a_multi_hop_question(question: dict[str, Any]) -> None:
    answers = [hop["answer"] for hop in question["decomposition"]]
    needed = sorted({*answers, *subject_terms(question)})
    alone = [name for name, text in DOCUMENTS[question["language"]].items()
             if all(says(text, words) for words in needed)]
    assert alone == [], needed
    if not is_comparison(question):
        assert not says(gold_texts(question)[0], answers[-1])


@each(is_comparison)
def test_the_comparison_names_the_one_with_the_earlier_year(question: dict[str, Any]) -> None:
    years = [int(hop["answer"]) for hop in question["decomposition"]]
    earlier = gold_texts(question)[years.index(min(years))]
    assert earlier.startswith(f"# {question['answers'][0]}\n")
