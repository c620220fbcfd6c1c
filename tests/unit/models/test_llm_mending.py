"""Objects that are nearly JSON."""

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


@pytest.mark.parametrize("text", ["{'a': 'It's'}", "{'a': 1", '{"a": "', "{a: 1}", '{"a": 1]', "{'a': (1,)}", "{,}"])
def test_what_is_missing_is_not_made_up(text: str) -> None:
    assert mend(text, 0, len(text))[0] is None
    with pytest.raises(UnusableAnswer, match="no complete JSON object in it"):
        next(json_objects(text, ["a"]))


@pytest.mark.parametrize("text", ['{"a": ' * 20_000, "{'" * 100_000, '{"\\' * 100_000, '{"a": "' + "\\\"" * 200_000])
def test_a_hostile_answer_takes_no_time(text: str) -> None:
    with pytest.raises(UnusableAnswer):
        next(json_objects(text, ["a"]))
