"""Curly and straight quotes and apostrophes in names: the same name, in documents and questions."""

import banyan
import pytest
from banyan.schemas.naming import canonical_name, normalise

APOSTROPHES = "'’‘ʼ´′＇"


@pytest.mark.parametrize("apostrophe", APOSTROPHES)
def test_an_apostrophe_of_any_form_is_the_same(apostrophe):
    assert canonical_name(f"Conan O{apostrophe}Brien") == "conan o'brien"


def test_double_quotes_of_any_form_are_the_same():
    assert normalise("Ada “Ace” „Top‟ Roth") == normalise('Ada "Ace" "Top" Roth')


def test_a_question_finds_a_name_with_another_apostrophe(tmp_path):
    with banyan.open("kb", home=tmp_path / "home", llm_base_url=None) as kb:
        kb.add({"id": "a", "text": "Nora O’Shea was born in Tralee. Ian O'Dowd was born in Ennis."})
        assert kb.ask("Where was Nora O'Shea born?").short == "Tralee"
        assert kb.ask("Where was Ian O’Dowd born?").short == "Ennis"
