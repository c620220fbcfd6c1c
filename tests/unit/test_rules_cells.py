"""What chooses the row, the cell, the number and the name that answer a newcomer's question."""

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.answering.answers import answer
from banyan.models.rules.answering.evidence import Pools
from banyan.models.rules.answering.spans import candidates
from banyan.models.rules.questions.answer_types import analyse
from banyan.schemas.retrieval import Passage

PARSER = Parser()


def passage(title: str, text: str) -> Passage:
    return Passage(chunk_id=title, document=title, title=title, text=text, start=0, score=1.0)


GARDEN = [
    passage("Plots", "| Holder: Ann Ode | Since: 2021 | Main crop: Dahlias |\n"
                     "| Holder: Bo Lin | Since: 2009 | Main crop: Peas |"),
    passage("Harvest", "| Crop: Peas | 2022: 96 kg | 2023: 88 kg |\n| Crop: Beans | 2022: 40 kg | 2023: 91 kg |"),
    passage("Staff", "| Name: Mira Haddow | Job: treasurer |\n| Name: Tom Abel | Job: keeper |"),
    passage("Waiting", "At the moment 37 households are waiting for a plot, and most wait about two years."),
    passage("Mail", "| Document: swap.eml | Title: Swap | Author: Ida Lund | Cc: Tom Abel |\n\n"
                    "Report of the swap: it rained."),
]


@pytest.mark.parametrize(("question", "short"), [
    ("What does Ann Ode mostly grow?", "Dahlias"),  # the column says it in another word
    ("How many kilograms of peas were there in 2023?", "88 kg"),  # an amount, not the number of rows
    ("Of which crop did they harvest the most in 2023?", "Beans"),
    ("What does Mira Haddow do?", "treasurer"),
    ("How many households wait for a plot?", "37"),  # not the years
    ("Who got a copy of the mail about the swap?", "Tom Abel"),
])
def test_what_is_asked_for_chooses_row_cell_and_number(question, short, hashed_embedder):
    assert answer(question, [], GARDEN, Pools(hashed_embedder, PARSER)).short == short


def test_rows_of_documents_values_of_another_measure_and_words_that_are_no_names_do_not_answer(hashed_embedder):
    def spans(question: str, sentence: str) -> list[str]:
        found = candidates(analyse(question, PARSER), sentence, "", (), (), PARSER.parse(sentence))
        return [span.words for span in found]

    assert spans("How much did the door cost?", "Only five members hold a key.") == []
    assert spans("In which year did it open?", "It opened in July.") == []
    assert spans("Who looks after the roof?", "Report of the roof by Len Hargreave.") == ["Len Hargreave"]
    draft = answer("Who looks after the money of the garden?", [], GARDEN[4:], Pools(hashed_embedder, PARSER))
    assert draft.confidence < 0.5
    assert "Ida Lund" not in draft.short


def test_a_table_does_not_tell_why(hashed_embedder):
    offers = [passage("Offers", "| Firm: Lund | Price: 90 EUR |\n| Firm: Berg | Price: 70 EUR |\n\n"
                                "The cheapest offer was not taken because Berg could not start before autumn.")]
    draft = answer("Why did they not take the cheapest offer?", [], offers, Pools(hashed_embedder, PARSER))
    assert "could not start" in draft.claims[0].text
