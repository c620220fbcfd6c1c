"""Objects that are nearly JSON."""

import json
import re
from typing import Any

import pytest
from banyan.models.llm.parsing import UnusableAnswer, json_objects, mend
from hypothesis import given
from hypothesis import strategies as st

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="ab'\"\\{}[],: \u00e9\u5c45"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet="abc'\""), inner, max_size=3),
    max_leaves=8)
_OBJECTS = st.dictionaries(st.text(alphabet="abc'\""), _VALUES, min_size=1, max_size=4)


@given(_OBJECTS)
def test_a_python_literal_is_read(value: dict[str, Any]) -> None:
    text = f"x = {value!r}; y"
    assert mend(text, 4, len(text)) == (value, len(text) - 3)


@given(_OBJECTS)
def test_commas_before_closing_brackets_are_left_out(value: dict[str, Any]) -> None:
    parts = re.split(r'("(?:[^"\\]|\\.)*")', json.dumps(value))
    text = "".join(part if part.startswith('"') else re.sub(r"(?<![\[{])([\]}])", r", \1", part) for part in parts)
    text = re.sub(r"(?<=[\[{]), (?=[\]}])", "", text)
    assert mend(text, 0, len(text)) == (value, len(text))


@pytest.mark.parametrize("text", ["{'a': 'It's'}", "{'a': 1", '{"a": "', "{a: 1}", '{"a": 1]', "{'a': (1,)}", "{,}"])
def test_what_is_missing_is_not_made_up(text: str) -> None:
    assert mend(text, 0, len(text))[0] is None
    with pytest.raises(UnusableAnswer, match="no complete JSON object in it"):
        next(json_objects(text, ["a"]))


@pytest.mark.parametrize("text", ['{"a": ' * 20_000, "{'" * 100_000, '{"\\' * 100_000, '{"a": "' + "\\\"" * 200_000])
def test_a_hostile_answer_takes_no_time(text: str) -> None:
    with pytest.raises(UnusableAnswer):
        next(json_objects(text, ["a"]))


def test_parts_of_a_broken_object_are_no_answers() -> None:
    broken = '{"claims": [{"text": "One."}, {"text": "Two."}], "short": '
    with pytest.raises(UnusableAnswer, match="Expecting value: line 1 column"):
        next(json_objects(broken, ["claims"]))
    assert list(json_objects(f'{{"note": 1}} {broken}', ["claims"])) == [{"note": 1}]


def test_the_last_object_is_the_first_to_be_tried() -> None:
    text = "{'a': 1} {\"a\": 2} {\"b\": 3} {\"a\": 4}"
    assert list(json_objects(text, ["a"])) == [{"a": 4}, {"a": 2}, {"a": 1}]
