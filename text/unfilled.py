"""Values that a template came with, such as "Name Surname" and "TBD": whoever wrote the document filled in nothing."""

import re

from .lexicon import word_set

_UNFILLED = frozenset({
    "name surname", "firstname surname", "first name surname", "firstname lastname", "first name last name",
    "first last", "surname name", "your name", "your name here", "your title", "your title here", "your email",
    "your affiliation", "author name", "tbd", "tba", "tbc", "to be determined", "to be announced", "to be confirmed",
    "fixme", "姓名", "你的姓名", "您的姓名", "待定", "待补充", "待填写"})
_TASK = "todo"
_FIELDS_OF_STATES = word_set("status state stage type kind category categories tag tags label labels keywords 状态")
"""Words of fields in which "TODO" is a value: one of several states or kinds."""
_BLANK = re.compile(r"<[^<>@/:]++>|\{\{[^{}]*+\}\}|(?:https?://doi\.org/|doi:)?[\d./-]*+x{3}[x\d./-]*+|"
                    r"(?:https?://doi\.org/|doi:)?10\.[\dx]{3,9}/\S*+(?<=xxx)")
"""A blank such as "<author>" or "{{ date }}", and an identifier of crosses: "xxxx", "10.5281/zenodo.xxxxx"."""


def is_unfilled(value: str, field: str = "") -> bool:
    """Return True for what a template has in place of a value; the name of the field decides about "TODO"."""
    words = " ".join(value.casefold().strip(" .,:;!*_-").split())
    if words == _TASK:
        return _FIELDS_OF_STATES.isdisjoint(re.split(r"[\W_]+", field.casefold()))
    return words in _UNFILLED or _BLANK.fullmatch(words) is not None
