"""Relative dates of dated documents in answers, citations and facts; without a date they stay as they are."""

import pytest

CALL = {"id": "call", "title": "Call", "metadata": {"date": "2024-03-05"},
        "text": "Ann Lee repaired the Vex pump yesterday. Bo Ek will visit the plant next week."}
NOTE = {"id": "note", "title": "Note", "text": "Zed Orr sold the boat yesterday."}
WEEKLY = {"id": "weekly", "title": "周会", "metadata": {"日期": "2024年3月5日"}, "text": "张伟昨天提交了验收报告。"}


@pytest.fixture(scope="module")
def kb(base_of):
    return base_of(CALL, NOTE, WEEKLY)


@pytest.mark.parametrize(("question", "short"), [
    ("When did Ann Lee repair the Vex pump?", "yesterday [2024-03-04]"),
    ("张伟什么时候提交了验收报告？", "昨天 [2024-03-04]")])
def test_when_is_answered_with_the_meant_date(kb, question, short):
    answer = kb.ask(question)
    assert answer.short == short
    assert short in answer.citations[0].meant
    assert short.split(" [")[0] in answer.citations[0].quote and "[" not in answer.citations[0].quote


def test_without_a_date_the_words_stay(kb):
    answer = kb.ask("When did Zed Orr sell the boat?")
    assert "Zed Orr sold the boat yesterday." in answer.text
    assert answer.citations[0].meant == ()


def test_another_date_of_the_document_gives_another_meaning(kb):
    kb.add({**CALL, "metadata": {"date": "2024-04-02"}})
    assert kb.ask("When did Ann Lee repair the Vex pump?").short == "yesterday [2024-04-01]"
    kb.add(CALL)
