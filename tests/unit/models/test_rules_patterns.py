"""The forms of sentences that state facts: each gives the fact of its examples, and nothing else."""

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.patterns import CHINESE, ENGLISH, Pattern
from banyan.models.rules.recognition.spans import find_spans, name_of
from banyan.models.rules.stated_facts import FactForms, Mention
from banyan.schemas.formats.schema_loading import load_schema

EXAMPLES = [(pattern, *example) for pattern in (*ENGLISH, *CHINESE) for example in pattern.examples]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def facts(text: str, parser: Parser, patterns: tuple[Pattern, ...]) -> list[tuple[str, str, str]]:
    mentions = [Mention(span.start, span.end, span.kind, name_of(text, span)) for span in find_spans([text], parser)[0]]
    found = FactForms(load_schema("open"), patterns).find(text, mentions, [(0, len(text))], None)
    return [(fact.head, fact.label, fact.tail) for fact in found]


@pytest.mark.parametrize(("pattern", "sentence", "head", "tail"), EXAMPLES, ids=[e[1] for e in EXAMPLES])
def test_a_form_gives_the_fact_of_its_example(pattern: Pattern, sentence: str, head: str, tail: str,
                                              parser: Parser) -> None:
    assert facts(sentence, parser, (pattern,)) == [(head, pattern.says[0], tail)]


@pytest.mark.parametrize("sentence", [
    "In Norway, Sweden, and Denmark the ferries run all year.",
    "She travelled in Norway, Sweden and Denmark.",
    "Oslo is the capital of the US state of Minnesota in the novel.",
    "Was Ada Blum born in Oslo?",
    "Karl Blum, the father of Ada Blum, received no prize.",
    "The ferry from Oslo flows over with tourists into Germany.",
    "北方泵业公司在2020年的治理方面取得了进展。",
])
def test_sentences_that_are_near_a_form_state_nothing(sentence: str, parser: Parser) -> None:
    assert facts(sentence, parser, (*ENGLISH, *CHINESE)) == []
