"""Tiny datasets in the published formats, in our own words, and the gold answers to their questions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

PASSAGES = {
    "Northern Lamp": "The Northern Lamp is a lighthouse. It was built by Ada Brandt.",
    "Ada Brandt": "Ada Brandt was an engineer. She was born in Kalmar.",
    "Kalmar": "Kalmar is a town. Its oldest bridge was opened in 1889.",
    "Grey Hill": "Grey Hill is 120 metres high. Sheep graze on it.",
}
LAMP = "Where was the builder of the Northern Lamp born?"
BRIDGE = "When was the oldest bridge of Ada Brandt's home opened?"


def save(path: Path, value: Any) -> None:
    """Write JSON, or JSON lines if it is so named, one record on a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(record, ensure_ascii=False) for record in value] if isinstance(value, list) else []
    text = "\n".join(lines) if path.suffix == ".jsonl" else "[" + ",\n".join(lines) + "]"
    path.write_text(text if isinstance(value, list) else json.dumps(value, ensure_ascii=False), "utf-8")


def hotpotqa(folder: Path) -> None:
    """HotpotQA's own form: the contexts inside the questions."""
    context = [[title, [text[:25], text[25:]]] for title, text in PASSAGES.items()]
    save(folder / "hotpot_dev.json", [
        {"_id": "q0", "question": LAMP, "answer": "Kalmar", "type": "bridge", "level": "easy", "context": context,
         "supporting_facts": [["Northern Lamp", 1], ["Ada Brandt", 1]]},
        {"_id": "q1", "question": BRIDGE, "answer": "1889", "type": "bridge", "level": "easy", "context": context,
         "supporting_facts": [["Ada Brandt", 1], ["Kalmar", 1]]}])


def musique(folder: Path) -> None:
    """MuSiQue in HippoRAG's form, with recorded triples beside it that are no questions."""
    gold = {"Northern Lamp", "Ada Brandt"}
    save(folder / "musique.json", [
        {"id": "2hop__1", "question": LAMP, "answer": "Kalmar", "answer_aliases": ["Kalmar, Sweden"],
         "answerable": True,
         "paragraphs": [{"title": title, "paragraph_text": text, "is_supporting": title in gold, "idx": number}
                        for number, (title, text) in enumerate(PASSAGES.items())],
         "question_decomposition": [{"question": "Northern Lamp >> builder", "answer": "Ada Brandt"},
                                    {"question": "#1 >> place of birth", "answer": "Kalmar"}]}])
    corpus(folder / "musique_corpus.json")
    save(folder / "openie_musique.json", {"docs": []})


def corpus(path: Path) -> None:
    """HippoRAG's corpus."""
    save(path, [{"title": title, "text": text} for title, text in PASSAGES.items()])


def gbench(folder: Path) -> None:
    """GraphRAG-Bench: a file for each type, and a textbook."""
    more = {"Rationale": "It says so.", "Level-1 Topic": "Towns", "Level-2 Topic": "Light"}
    for name, question, answer in (
            ("FB", "The Northern Lamp was built by ____.", "Ada Brandt"),
            ("MC", "Where was Ada Brandt born?\nA. Oslo\nB. Kalmar\nC. Turku", "B"),
            ("MS", "Which are true?\nA. Kalmar is a town.\nB. Grey Hill is a lake.\nC. Sheep graze.", "AC"),
            ("TF", "Grey Hill is 500 metres high.", "False"),
            ("OE", "What is the Northern Lamp?", "A lighthouse, built by an engineer.")):
        save(folder / f"{name}.jsonl", [{"Question": question, "Answer": answer, **more}])
    book = folder / "textbooks" / "towns.md"
    book.parent.mkdir()
    book.write_text("# Towns\n\n" + "\n\n".join(f"## {title}\n\n{text}" for title, text in PASSAGES.items()), "utf-8")


NOVEL = {
    "[LOCATION#7]": "The lamp stood above [LOCATION#7]. Every night [PERSON#3] climbed up to it.",
    "[PERSON#3]": "[PERSON#3] was born in [LOCATION#7]. The townspeople called the old engineer Ada Brandt.",
    "bridge": "The bridge of [LOCATION#7], which strangers know as Kalmar, was opened in 1889.",
}


def anonyrag(folder: Path) -> None:
    """AnonyRAG as published: parquet files of questions and of chunks."""
    folder.mkdir(parents=True, exist_ok=True)
    reversion = "Q: Where was [PERSON#3] born?\nA: In [LOCATION#7].\n" * 60 + "Which names do the ids stand for?"
    rows = [{"question": reversion, "answer": "PERSON#3——Ada Brandt\nLOCATION#7——Kalmar"},
            {"question": "[PERSON#3] 是什么人？\nA. 诗人\nB. 工程师\nC. 渔夫\nD. 牧人", "answer": "B. (Ada Brandt)"}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "annoyrag_eng_qa.parquet")
    chunks = [{"text": text} for text in NOVEL.values()]
    parquet.write_table(pyarrow.Table.from_pylist(chunks), folder / "annoyrag_eng_texts.parquet")


def multihop_rag(folder: Path) -> None:
    """MultiHop-RAG: articles, and questions with their facts; one that nothing answers."""
    save(folder / "corpus.json", [
        {"title": title, "body": text, "source": "The Kalmar Post", "published_at": f"2023-10-0{number + 1}",
         "author": None, "category": "towns", "url": f"https://post.example/{number}"}
        for number, (title, text) in enumerate(PASSAGES.items())])
    facts = [("Northern Lamp", "It was built by Ada Brandt."), ("Ada Brandt", "She was born in Kalmar.")]
    save(folder / "MultiHopRAG.json", [
        {"query": LAMP, "answer": "Kalmar", "question_type": "inference_query",
         "evidence_list": [{"title": title, "fact": fact, "url": "", "source": ""} for title, fact in facts]},
        {"query": "Is Grey Hill higher than Blue Hill?", "answer": "Insufficient information.",
         "question_type": "null_query", "evidence_list": []}])


def graphrag_bench(folder: Path) -> None:
    """The other GraphRAG-Bench: one text, and a question of each kind."""
    save(folder / "medical_questions.json", [
        {"id": f"Towns-{kind}", "source": "Towns", "question": question, "answer": answer, "question_type": kind}
        for kind, question, answer in (
            ("Fact Retrieval", "Who built the Northern Lamp?", "Ada Brandt built it."),
            ("Contextual Summarize", "What is the Northern Lamp?", "A lighthouse. An engineer built it."))])
    save(folder / "towns.json", [{"corpus_name": "Towns", "context": " ".join(PASSAGES.values())}])


def generic(folder: Path) -> None:
    """Our own form."""
    save(folder / "questions.jsonl", [
        {"id": "a", "question": LAMP, "answers": ["Kalmar"], "gold": ["Ada Brandt"], "type": "two"},
        {"id": "b", "question": "Who mowed Blue Hill?", "answers": [], "gold": [], "unanswerable": True}])
    save(folder / "corpus.jsonl", [{"id": title, "title": title, "text": text} for title, text in PASSAGES.items()])


DATASETS: dict[str, Callable[[Path], None]] = {
    "hotpotqa": hotpotqa, "musique": musique, "gbench": gbench, "graphrag-bench": graphrag_bench,
    "anonyrag": anonyrag, "multihop-rag": multihop_rag, "generic": generic}
