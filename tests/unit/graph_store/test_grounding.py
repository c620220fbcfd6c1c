"""Finding names, values and sentences in a source: words in a row, quoted as the source writes them."""

import pytest
from banyan.graph_store.bounding.grounding import SourceText
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(("text", "name", "quote"), [
    ("Visit ＡＣＭＥ　Ltd today", "acme ltd", "ＡＣＭＥ　Ltd"), ("Acme Ltd", "ＡＣＭＥ ＬＴＤ", "Acme Ltd"),
    ("Café Zoe\u0308 opens", "zoë", "Zoe\u0308"), ("Café opens", "Cafe\u0301", "Café"),
    ("Die STRASSE endet", "Straße", "STRASSE"), ("the ﬁnal act", "final", "ﬁnal"),
    ("他住在北京市朝阳区", "北京市", "北京市"), ("小米公司由雷军创立", "雷军", "雷军"),
    ("ｱｲｳ社", "アイウ社", "ｱｲｳ社"), ("one\n  two", "One two", "one\n  two"), ("“Acme” rose", "Acme", "Acme"),
    ("Acme. It", "(Acme)", "Acme"), ("see Bobby, Bob", "Bob", "Bob"),
    ("서울특별시에서", "서울특별시", "서울특별시"), ("हिन्दी भाषा", "हिन्दी", "हिन्दी")])
def test_names_are_found_as_they_are_compared_and_quoted_as_they_are_written(text, name, quote):
    found = SourceText(text).find(name)
    assert found.quote == quote == text[found.start:found.end]


@pytest.mark.parametrize(("text", "name"), [
    ("Bobby left", "Bob"), ("unacme", "Acme"), ("Zoélie left", "Zoe"), ("3.5 million", "5"), ("12 34", "1234"),
    ("C++ won", "C"), ("हिन्दी", "हिन"), ("Ada and Marie Curie", "Ada Curie"), ("Curie, Marie", "Marie Curie"),
    ("v1999b", "1999"), ("abc", " "), ("a b", ""), ("Ада ушла", "Ад"), ("", "Ada")])
def test_a_part_of_a_word_is_not_the_word(text, name):
    assert SourceText(text).find(name) is None


@pytest.mark.parametrize(("text", "name", "quote"), [
    ("Bleach: Hell Verse aired", "Bleach : Hell Verse", "Bleach: Hell Verse"), ("hip-hop rose", "hip hop", "hip-hop"),
    ("the U.S. won", "US", "U.S"), ("J.K. Rowling wrote", "J. K. Rowling", "J.K. Rowling"),
    ("Gdańsk and Málaga", "Malaga", "Málaga"), ("in Málaga", "MÁLAGA", "Málaga"), ("1,200 people", "1200", "1,200"),
    ("Why (Must We) sold", "why must we", "Why (Must We)"), ('Reece "Goose" Tatum', "Goose Tatum", '"Goose" Tatum'),
])
def test_punctuation_spacing_and_accents_do_not_matter_and_the_source_is_quoted(text, name, quote):
    found = SourceText(text).ground(name)
    assert (found.shown, found.quoted) == (quote, True)
    assert found.span.quote == quote == text[found.span.start:found.span.end]


@pytest.mark.parametrize(("text", "name", "quote"), [
    ("Turkic languages spread", "Turkic language", "Turkic languages"), ("a city", "cities", "city"),
    ("Curie's lab", "Curie", "Curie"), ("Curie left", "Curie's", "Curie"), ("Mercury shone", "Mercury (planet)", None),
    ("Beatles fans", "The Beatles", None), ("end of the war", "end of war", "end of the war"),
    ("Ronald (“Ron”) Laird won", "Ronald Laird", "Ronald (“Ron”) Laird"),
])
def test_the_last_word_is_inflected_and_articles_and_asides_are_left_out(text, name, quote):
    found = SourceText(text).ground(name)
    assert found.span.quote == (quote or text.split()[0])
    # What the source does not say is not stored; that a word stands in the plural there is no reason to change it.
    assert found.shown == (name if quote else text.split()[0])


@pytest.mark.parametrize(("said", "kind", "shown"), [
    ("2010-01-01", "date", "2010"), ("01 January 2010", "date", "2010"), ("7 May 2011", "date", "May 7, 2011"),
    ("2011-05", "date", None), ("2012", "date", None), ("1.2亿", "number", "1.2亿元"),
    ("120000000 CNY", "number", "1.2亿元"), ("5", "number", None), ("5000000", "number", "$5 million"),
    ("5 million USD", "number", "$5 million"), ("A film", "text", "a film"), ("no film", "text", None)])
def test_values_are_found_in_another_spelling_and_take_the_source_s(said, kind, shown):
    source = SourceText("It is a film of 2010, shown on May 7, 2011. It made $5 million, 即1.2亿元。")
    found = source.ground_value(said, kind)
    assert (found and found.shown) == shown


@pytest.mark.parametrize(("text", "said", "kind", "shown"), [
    ("Members serve at most 2 terms.", "2", "number", "at most 2"),
    ("Members serve at most 2 terms.", "at most 2", "number", "at most 2"),
    ("At least 20% must vote.", "20%", "number", "At least 20%"), ("no more\nthan 3", "3", "number", "no more\nthan 3"),
    ("No. 3 has no 4", "4", "number", "4"), ("任期最多3届", "3届", "number", "最多3届"),
    ("There are no term limits.", "term limits", "text", "no term limits"),
    ("No conflict of interest was observed.", "conflict of interest", "text", "No conflict of interest"),
    ("The plan was not approved.", "approved", "text", "not approved"),
    ("没有年龄限制", "年龄限制", "text", "没有年龄限制"),
    ("A sua casa fica no Rio de Janeiro, que é uma cidade.", "Rio de Janeiro", "text", "Rio de Janeiro")])
def test_a_value_keeps_the_words_that_limit_or_deny_it(text, said, kind, shown):
    found = SourceText(text).ground_value(said, kind)
    assert found.shown == shown
    assert found.span.quote == text[found.span.start:found.span.end] == shown


def test_a_fact_of_a_very_long_list_quotes_the_part_that_it_cites():
    text = f"Elected were {', '.join(f'Ada Member{number}' for number in range(90))}."
    part = "Ada Member70, Ada Member71"
    assert SourceText(text).support(part, "Ada Member70").quote == part
    assert SourceText("Bo met Ada. Cy left.").support("met Ada", "Ada").quote == "Bo met Ada."


@given(st.lists(st.sampled_from(["Ada", "Zoë", "北京", "x1", "O'Neil", "ﬁn", "3.5", "12", "(", ") ", "-", "।",
                "दिल्ली", "\u0301"]),
                min_size=1).map("".join), st.text(max_size=6) | st.sampled_from(["ada", "zoe", "京", "3.5", "दिल्ली"]))
def test_what_is_grounded_is_quoted_from_the_source(text, name):
    found = SourceText(text).ground(name)
    if found is not None:
        assert text[found.span.start:found.span.end] == found.span.quote != ""
        again = SourceText(text).ground(found.shown)
        assert again is not None
        assert (again.shown, again.span) == (found.shown, found.span)


COUNCIL = SourceText("The top five are elected. EIPs 4844, 7044 and a prize in physics.", "Term of 2026",
                     "Results > Council election", "eip-7.md")
VIOLIN = SourceText("Ada left her room. I saw Mr. Lund, a young _virtuoso_, in the gallery, by the portrait, near "
                    "specs/_old_.", "The Lost Violin")
CHINESE = SourceText("得票最多的五人当选。", "2026年选举结果", "指导委员会选举")


@pytest.mark.parametrize(("source", "names", "others"), [
    # A name may be composed of words of the text and of those above it.
    (COUNCIL, ["2026 council election", "council election of 2026", "2026 Council elections", "EIP-7044"],
     ["2026 council election in Oslo", "EIP-7044 in Oslo"]),
    # A description takes its words from a text, and its names whole.
    (VIOLIN, ["Ada's room", "portrait in the gallery", "Mr. Lund's portrait", "young virtuoso"],
     ["Bank of Ada", "Ada Lund's room"]),
    (CHINESE, ["2026年指导委员会选举", "指导委员会选举结果"], ["指导委员会主席", "委员会2025年选举"])])
def test_names_and_descriptions_are_composed_of_words_of_their_source(source, names, others):
    assert [source.ground(name).shown for name in names] == names
    assert [source.ground(name) for name in others] == [None] * len(others)


def test_who_says_i_is_the_narrator_of_the_document():
    assert VIOLIN.ground("narrator").shown == "narrator of The Lost Violin"
    assert SourceText("He heard the narrator's friend.", "The Lost Violin").ground("author") is None


@pytest.mark.parametrize(("own_type", "is_found"), [
    ("Meeting", True), ("Board Meeting", True), ("Person", False), ("", False)])
def test_a_name_may_add_the_word_of_its_type(own_type, is_found):
    source = SourceText("- Ada proposed a new fridge.", "2014-05-10", "Agenda", "board/2014-05-10.md")
    assert (source.ground("Board Meeting 2014-05-10", own_type) is not None) == is_found
    assert source.ground("Board Meeting 2015-05-10", own_type) is None
    assert source.ground("Ada Meeting", own_type) is None, "but it is not made of one name and its type"


@pytest.mark.parametrize(("name", "shown"), [
    ("beta 2", "Python 3.9 beta 2"), ("3.9.0 beta 2", "Python 3.9.0 beta 2"), ("v3.9.0", "Python 3.9.0"),
    ("3.9", "Python 3.9"), ("2.7.1", "2.7.1"), ("Python 3.9.0", "Python 3.9.0"), ("beta", "beta"), ("596", "596")])
def test_a_version_is_named_with_what_the_lines_above_it_say_it_is_of(name, shown):
    source = SourceText("- 3.9.0 beta 2 of 3.9, then v3.9.0, unlike 2.7.1 or Python 3.9.0",
                        "PEP 596 – Python 3.9 Release Schedule")
    assert source.ground(name).shown == shown
    assert SourceText("3.9.0 beta 2, 3.9, v3.9.0").ground("beta 2").shown == "beta 2"


@pytest.mark.parametrize(("given_time", "stored"), [
    ("yesterday", "yesterday [2024-03-04]"), ("2024-03-04", "yesterday [2024-03-04]"),
    ("since last week", "since last week [2024-02-26/2024-03-03]"),
    ("since last week [2024-02-26/2024-03-03]", "since last week [2024-02-26/2024-03-03]"),
    ("planned for next month", "planned for next month [2024-04]"), ("2024-03-09", "")])
def test_a_relative_date_is_kept_as_said_and_as_meant(given_time, stored):
    text = "Ann came yesterday. Bo leads it since last week. The move is planned for next month."
    source = SourceText(text, said_on="2024-03-05")
    assert source.ground_time(given_time) == stored


def test_a_value_may_have_the_note_that_prompts_put_behind_a_relative_date():
    source = SourceText("The rent: Paid last month's part, the rest is due\nnext month.", said_on="2015-10-17")
    for value, shown in (("Paid last month [2015-09]'s part", "Paid last month [2015-09]'s part"),
                         ("the rest is due next month [2015-11]", "the rest is due next month [2015-11]")):
        assert source.ground_value(value, "text").shown == shown
    assert source.ground_value("Paid last month [2015-08]'s part", "text").shown == "Paid last month [2015-09]'s part"
    assert source.ground_value("Paid next year [2016]", "text") is None


@pytest.mark.parametrize(("value", "shown"), [
    ("$110 callout + $25/extinguisher", "$110 callout + $25/extinguisher"), ("$300", "$300"),
    ("Tcl_TraceVar", "Tcl_TraceVar"), ("3 * 4", "3 * 4")])
def test_a_value_keeps_its_first_sign_and_loses_the_backslashes_of_markdown(value, shown):
    source = SourceText(r"Quoted: \$110 callout + \$25/extinguisher, or \$300; see Tcl\_TraceVar and 3 \* 4.")
    assert source.ground_value(value, "text").shown == shown


@pytest.mark.parametrize(("text", "shown", "quote"), [
    ("Ann came yesterday.", "yesterday [2024-03-04]", "yesterday"),
    ("On 4 March 2024 Ann said that yesterday", "4 March 2024", "4 March 2024")])
def test_a_relative_date_is_the_value_of_a_date(text, shown, quote):
    grounded = SourceText(text, said_on="2024-03-05").ground_value("2024-03-04", "date")
    assert (grounded.shown, grounded.span.quote) == (shown, quote)
