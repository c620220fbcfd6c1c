"""The wordings of example questions for relations and attributes, in the languages that the rules read."""

from typing import NamedTuple

from ..text.content_words import Language


class Wording(NamedTuple):
    """The questions for a relation: for its tail, and for all of its heads; `{}` is the entity at the other end."""

    tail: str
    heads: str = ""


RELATIONS: dict[Language, dict[str, Wording]] = {
    "en": {
        "born_in": Wording("Where was {} born?", "Who was born in {}?"),
        "died_in": Wording("Where did {} die?", "Who died in {}?"),
        "educated_at": Wording("Where did {} study?", "Who studied at {}?"),
        "works_for": Wording("Where did {} work?", "Who works for {}?"),
        "spouse": Wording("Who was {} married to?"),
        "child_of": Wording("Who were the parents of {}?"),
        "located_in": Wording("Where is {} located?", "What is located in {}?"),
        "capital_of": Wording("What is {} the capital of?"),
        "flows_into": Wording("What does {} flow into?", "What flows into {}?"),
        "founded_by": Wording("Who founded {}?", "What was founded by {}?"),
        "created_by": Wording("Who created {}?", "What was created by {}?"),
        "directed_by": Wording("Who directed {}?", "What was directed by {}?"),
        "performed_by": Wording("Who performed {}?", "What was performed by {}?"),
        "produced_by": Wording("Who produced {}?", "What was produced by {}?"),
        "received_award": Wording("Which award did {} receive?", "Who received {}?"),
        "discovered_by": Wording("Who discovered {}?", "What was discovered by {}?"),
        "named_after": Wording("What is {} named after?", "What is named after {}?"),
        "part_of": Wording("What is {} part of?", "What is part of {}?"),
        "member_of": Wording("What is {} a member of?", "Who are the members of {}?"),
        "leads": Wording("What does {} lead?", "Who leads {}?"),
        "reports_to": Wording("Who does {} report to?", "Who reports to {}?"),
        "acquired": Wording("Which company did {} acquire?"),
        "subsidiary_of": Wording("Which company owns {}?"),
        "supplies": Wording("Whom does {} supply?"),
    },
    "zh": {
        "born_in": Wording("{}出生在哪里？", "哪些人出生在{}？"),
        "died_in": Wording("{}在哪里去世？", "哪些人在{}去世？"),
        "educated_at": Wording("{}毕业于哪所学校？", "哪些人毕业于{}？"),
        "works_for": Wording("{}在哪里工作？", "哪些人在{}工作？"),
        "spouse": Wording("{}的配偶是谁？"),
        "child_of": Wording("{}的父母是谁？"),
        "located_in": Wording("{}位于哪里？", "哪些地方位于{}？"),
        "capital_of": Wording("{}是哪里的首府？"),
        "flows_into": Wording("{}流入哪里？", "哪些河流流入{}？"),
        "founded_by": Wording("{}的创始人是谁？"),
        "created_by": Wording("{}的作者是谁？", "{}有哪些作品？"),
        "produced_by": Wording("{}由谁生产？"),
        "received_award": Wording("{}获得过什么奖？", "哪些人获得过{}？"),
        "discovered_by": Wording("谁发现了{}？"),
        "named_after": Wording("{}以什么命名？"),
        "part_of": Wording("{}属于什么？"),
    },
}
ATTRIBUTES: dict[Language, dict[str, str]] = {
    "en": {"birth_date": "When was {} born?", "death_date": "When did {} die?",
           "founding_date": "When was {} founded?", "release_date": "When was {} released?",
           "event_date": "When did {} take place?", "population": "What is the population of {}?",
           "length": "How long is {}?", "area": "What is the area of {}?", "height": "How tall is {}?",
           "responsible_for": "What is {} responsible for?", "provides": "What does {} provide?",
           "role": "What is the role of {}?", "occupation": "What was the occupation of {}?",
           "definition": "What is the definition of {}?"},
    "zh": {"birth_date": "{}出生于哪一年？", "death_date": "{}于何时去世？", "founding_date": "{}成立于何时？",
           "release_date": "{}于何时发布？", "event_date": "{}发生在何时？", "population": "{}的人口是多少？",
           "length": "{}有多长？", "area": "{}的面积是多少？", "role": "{}担任什么职务？"},
}
RELATED: dict[Language, str] = {"en": "How is {} connected to {}?", "zh": "{}和{}有什么关系？"}
MENTIONING: dict[Language, str] = {"en": "Which documents mention {}?", "zh": "哪些文档提到{}？"}
ABOUT: dict[Language, str] = {"en": "What are these documents about?", "zh": "这些文档讲什么？"}
ABOUT_FOLDER = "What are the {} about?"
