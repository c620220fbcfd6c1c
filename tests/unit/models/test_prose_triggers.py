"""Sentences that no pattern fits are not parsed, and those that are read the same beside any others."""

from collections.abc import Sequence

import pytest
from banyan.models.parsing.lemmas import possible_lemmas
from banyan.models.parsing.parser import Needed, Parser
from banyan.models.rules.prose_facts import ProseFacts, load_patterns
from banyan.models.rules.prose_triggers import Triggers
from banyan.models.rules.recognition.spans import find_spans, name_of
from banyan.models.rules.stated_facts import Mention, labelled
from banyan.schemas.formats.schema_loading import load_schema
from banyan.text.sentences import split_sentences

ACME, OSLO = Mention(0, 4, "organization", "Acme"), Mention(0, 4, "location", "Oslo")


class Counting(Parser):
    """A parser that keeps which sentences it was asked to parse."""

    def __init__(self) -> None:
        super().__init__()
        self.parsed: list[str] = []

    def parse_sentences(self, sentences: Sequence[str], needed: Needed | None = None) -> list:
        found = super().parse_sentences(sentences, needed)
        self.parsed += [text for text, doc in zip(sentences, found, strict=True) if doc is not None]
        return found


@pytest.fixture(scope="module")
def parser() -> Counting:
    return Counting()


def facts(text: str, parser: Parser) -> list[tuple[str, ...]]:
    mentions = [Mention(span.start, span.end, span.kind, name_of(text, span)) for span in find_spans([text], parser)[0]]
    found = ProseFacts(labelled(load_schema("open"), load_patterns())).find(
        parser, text, split_sentences(text), mentions, None)
    return [fact[:4] for fact in found]


@pytest.mark.parametrize(("sentence", "mentions", "needed"), [
    ("Acme bought Zeta.", [ACME], True),
    ("Acme grows.", [ACME], False),                         # no word of a pattern
    ("Acme took Zeta over.", [ACME], True),                 # a verb with its particle
    ("Acme took Zeta.", [ACME], False),
    ("Oslo expired on 3 May 2031.", [OSLO, Mention(16, 26, "date", "3 May 2031")], True),
    ("Oslo expired on time.", [OSLO], False),               # no date
    ("Oslo lies near Bergen.", [OSLO], False),              # no preposition of the pattern
    ("Oslo lies in Bergen.", [OSLO], True),
    ("Oslo lies in a valley.", [OSLO], False),              # one name
])
def test_a_sentence_is_parsed_if_it_has_what_a_pattern_needs(sentence: str, mentions: list[Mention], needed: bool,
                                                             parser: Parser) -> None:
    patterns = [pattern for pattern in load_patterns() if pattern.words & {"acquire", "buy", "expire", "lie"}]
    lemmas = possible_lemmas(parser._pipeline("en"))
    assert lemmas is not None
    words = sentence.rstrip(".").split()
    assert Triggers(patterns).may_state(words, lemmas, sentence, mentions, None) is needed


def test_a_sentence_states_the_same_beside_others_and_again() -> None:
    sentences = ["Ada Blum founded Acme Corporation in Oslo in 1970.", "The pumps ran.", "Karl Blum leads Delta Bank.",
                 "Zofia Nowak was born in Radom."]
    alone = [fact for sentence in sentences for fact in facts(sentence, Parser())]
    assert len(alone) > 3
    again = Parser()
    for order in (sentences, sentences[::-1], sentences):
        found = facts("\n\n".join(order), again)
        assert sorted(found) == sorted(alone)
