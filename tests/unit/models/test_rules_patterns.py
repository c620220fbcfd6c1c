"""The forms and patterns of sentences that state facts: each gives the facts of its examples, and nothing else."""

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.clauses import roles
from banyan.models.rules.prose_facts import ProseFacts, ProsePattern, load_patterns
from banyan.models.rules.recognition.spans import find_spans, name_of
from banyan.models.rules.stated_facts import FactForms, Mention, Pattern, Stated, labelled, load_forms
from banyan.schemas.formats.schema_loading import load_schema

PROSE = [(pattern, *example) for pattern in load_patterns() for example in pattern.examples]
EXAMPLES = [(pattern, *example) for pattern in load_forms() for example in pattern.examples]


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
    assert facts(sentence, parser, load_forms()) == []


def mentions_of(text: str, parser: Parser) -> list[Mention]:
    return [Mention(span.start, span.end, span.kind, name_of(text, span))
            for span in find_spans([text], parser, language="")[0]]


def prose(text: str, parser: Parser, patterns: tuple[ProsePattern, ...],
          subject: Mention | None = None) -> list[Stated]:
    found = ProseFacts(labelled(load_schema("open"), patterns))
    return list(found.find(parser, text, [(0, len(text))], mentions_of(text, parser), subject))


@pytest.mark.parametrize(("pattern", "sentence", "head", "tail"), PROSE, ids=[e[1] for e in PROSE])
def test_a_pattern_gives_the_fact_of_its_example(pattern: ProsePattern, sentence: str, head: str, tail: str,
                                                 parser: Parser) -> None:
    assert [fact[:3] for fact in prose(sentence, parser, (pattern,))] == [(head, pattern.says[0], tail)]


@pytest.mark.parametrize("sentence", [
    "Acme Corporation acquired Delta Bank.",
    "Delta Bank was acquired by Acme Corporation.",
    "In 2001 Acme Corporation, a maker of pumps, acquired Delta Bank for 3 million euros.",
    "Delta Bank, which Acme Corporation acquired in 2001, makes valves.",
    "Delta Bank, acquired by Acme Corporation, makes valves.",
    "Acme Corporation sold its pumps and acquired Delta Bank.",
])
def test_a_pattern_reads_every_form_of_its_verb(sentence: str, parser: Parser) -> None:
    found = [fact for fact in prose(sentence, parser, load_patterns()) if fact.label == "acquired"]
    assert [(fact.head, fact.tail) for fact in found] == [("Acme Corporation", "Delta Bank")]


@pytest.mark.parametrize("sentence", [
    "Acme Corporation did not acquire Delta Bank.",
    "Acme Corporation may acquire Delta Bank.",
    "Acme Corporation plans to acquire Delta Bank.",
    "If Acme Corporation acquired Delta Bank, prices would rise.",
    "Karl Blum denied that Acme Corporation acquired Delta Bank.",
    "Acme Corporation, Delta Bank",
    "The Executive Director of the Board",
    "Members of the Committee are Gold Members of the Board.",
])
def test_what_is_denied_possible_or_no_sentence_is_no_fact(sentence: str, parser: Parser) -> None:
    assert prose(sentence, parser, load_patterns()) == []


def test_a_pronoun_refers_to_the_only_person_before_it_or_to_the_subject_of_the_text(parser: Parser) -> None:
    subject = Mention(0, 0, "person", "Ada Blum")
    assert {fact[:3] for fact in prose("She was born in Oslo.", parser, load_patterns(), subject)} == {
        ("Ada Blum", "born_in", "Oslo")}
    assert prose("She was born in Oslo.", parser, load_patterns()) == []
    two = "Karl Blum met Paul Weiss in Cairo before he joined Acme Corporation."
    assert [fact for fact in prose(two, parser, load_patterns(), subject) if fact.label == "works_for"] == []


def test_a_list_of_names_gives_a_fact_for_each(parser: Parser) -> None:
    found = prose("Acme Corporation was founded in 1970 by Karl Blum and Paul Weiss.", parser, load_patterns())
    assert {(fact.tail, fact.time) for fact in found if fact.label == "founded_by"} == {
        ("Karl Blum", "in 1970"), ("Paul Weiss", "in 1970")}


def test_marks_and_line_breaks_are_no_part_of_a_sentence(parser: Parser) -> None:
    text = "- c) **Acme Corporation**\n  provides [training](https://x.org/a)\n  for engineers."
    assert [fact[:3] for fact in prose(text, parser, load_patterns())] == [
        ("Acme Corporation", "provides", "training for engineers")]


def test_the_subject_of_a_participle_is_what_it_describes(parser: Parser) -> None:
    founded = next(token for token in parser.parse_sentences(["Acme, founded by Blum, makes pumps."])[0]
                   if token.lemma_ == "found")
    assert {role: [token.text for token in tokens] for role, tokens in roles(founded).items() if tokens} == {
        "obj": ["Acme"], "subj": ["Blum"]}


def test_a_line_of_a_name_and_a_post_states_them_without_a_verb(parser: Parser) -> None:
    found = {fact[:3] for fact in prose("Ada Blum, CTO of Acme Corporation", parser, load_patterns())}
    assert found == {("Ada Blum", "works_for", "Acme Corporation"), ("Ada Blum", "role", "CTO")}


def test_a_title_belongs_to_its_own_name_alone(parser: Parser) -> None:
    text = "She met President Ada Blum and the painter Paul Weiss."
    found = [fact[:3] for fact in prose(text, parser, load_patterns())]
    assert ("Paul Weiss", "role", "President") not in found
    assert ("Paul Weiss", "occupation", "painter") in found


def test_a_name_that_no_recogniser_finds_is_read_where_a_pattern_shows_it(parser: Parser) -> None:
    text = "The Nilequeen 200 was developed by Orbitlabs."
    found = ProseFacts(labelled(load_schema("open"), load_patterns())).find(parser, text, [(0, len(text))], [], None)
    assert [(fact[:3], fact.head_kind) for fact in found] == [
        (("Nilequeen 200", "created_by", "Orbitlabs"), "product")]
