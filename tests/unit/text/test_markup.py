"""What of a document's markup is shown."""

import pytest
from banyan.text.markup import has_words, without_markup


@pytest.mark.parametrize(("text", "shown"), [
    (":::caution\nMind the step.\n:::", "\nMind the step.\n"),
    ("See [the rules](#rules) and [x] (./x.md \"X\").", "See the rules and x."),
    ("<img src=\"a.png\" width=1 /> Labs <b>now</b>", " Labs now"),
    ("Passed in 2007. <!-- INFO END -->", "Passed in 2007. "),
    ("end of a note --> Rest", " Rest"),
    ("## Fees", "Fees"),
    ("* ###### agreed", "agreed"),
    ("**Does it?** Yes", "Does it? Yes"),
    ("![plan](plan.png)Plan", "Plan"),
])
def test_markup_is_rendered_or_removed(text: str, shown: str) -> None:
    assert without_markup(text) == shown


@pytest.mark.parametrize("text", [
    "decree [1]", "List<T> of a < b", "dict[str](x)", "a ::: b", "5 * 3 ** 2", "[x] and (y)", "__init__"])
def test_what_is_no_markup_stays(text: str) -> None:
    assert without_markup(text) == text


def test_markup_alone_says_nothing() -> None:
    assert not has_words("<!-- INFO END -->")
    assert not has_words("![plan](plan.png)")
    assert has_words("<b>Plan</b>")
