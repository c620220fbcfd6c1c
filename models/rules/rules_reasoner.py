"""The rules reasoner, the default: no language model, no network."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...runtime.threads import in_thread
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ...schemas.inquiry import Inquiry, Judgement
from ...schemas.resolution import EntityPair, PairVerdict
from ...schemas.retrieval import CommunityDigest, CommunitySummary
from ...text.languages import phrase_language
from ..parsing.parser import Parser
from . import follow_ups
from .answers import Answers

if TYPE_CHECKING:
    from .reader import RulesReader

_NAME_KEYWORDS = 3
_MOST_FACTS = 8
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_CHINESE_KINDS = {"person": "人物", "organisation": "机构", "organization": "机构", "company": "公司", "place": "地点",
                  "location": "地点", "city": "城市", "country": "国家", "event": "事件", "product": "产品",
                  "work": "作品", "concept": "概念", "thing": "事物", "date": "日期"}
_UNNAMED = "Unnamed community"


class RulesReasoner:
    """The `Reasoner` with patterns and word lists.

    It finds and quotes, and does not know any facts itself. All modes therefore answer alike. Safe for threads.
    """

    def __init__(self, parser: Parser | None = None) -> None:
        self._parser = parser or Parser()
        self._answers = Answers(self._parser)

    @cached_property
    def _extractor(self) -> "RulesReader":
        from .reader import RulesReader  # noqa: PLC0415  (questions need no extraction)

        return RulesReader(self._parser)

    @property
    def fingerprint(self) -> str:
        """The version of the rules; it changes when they would extract something else."""
        return "rules-20"

    def extract_together(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Extract entities and facts of chunks; see `RulesReader.extract`."""
        return self._extractor.extract(requests, schema)

    async def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """See `extract_together`."""
        return await in_thread(self.extract_together, requests, schema)

    def with_instructions(self, instructions: str) -> "RulesReasoner":
        """Return this reasoner unchanged: instructions for wording do not apply to quotes."""
        del instructions
        return self

    @property
    def resolves(self) -> bool:
        """Always False: names and facts are resolved without it."""
        return False

    @property
    def reasons(self) -> bool:
        """Return False: it finds and quotes."""
        return False

    async def resolve(self, pairs: Sequence[EntityPair]) -> list[PairVerdict | None]:
        """Never merge: a wrong merge is worse than a missed one."""
        return [None] * len(pairs)

    async def summarise(self, communities: Sequence[CommunityDigest]) -> list[CommunitySummary]:
        """Name each community by the keywords that occur in most of its facts, and describe it by its first facts."""
        return await in_thread(lambda: list(map(_summarise, communities)))

    async def judge(self, inquiry: Inquiry) -> Judgement:
        """Answer from the evidence in all modes alike; see `Answers.answer`. It never looks further."""
        return Judgement(draft=await in_thread(self._answers.answer, inquiry.question, list(inquiry.items())))

    async def condense(self, question: str, messages: Sequence[tuple[str, str]]) -> str:
        """Make a follow-up question self-contained; see `follow_ups.condense`."""
        return await in_thread(follow_ups.condense, question, messages)


def _summarise(digest: CommunityDigest) -> CommunitySummary:
    """Return a name of a few keywords and the entities' type, and a summary of the first facts as sentences."""
    keywords = _clean(digest.keywords)
    facts = _clean(digest.statements)
    texts = [*keywords, *facts]
    chinese = 2 * sum(phrase_language(text) == "zh" for text in texts) > len(texts)  # a foreign name does not decide
    # The given order is by nearness to the community's centre. A keyword of many facts describes it better.
    by_frequency = sorted(keywords, key=lambda keyword: -sum(keyword in fact for fact in facts))
    default_name = facts[0] if facts else _UNNAMED
    name = ("、" if chinese else ", ").join(by_frequency[:_NAME_KEYWORDS]) or default_name
    if keywords and digest.kind:
        english_kind = _CAMEL.sub(" ", digest.kind).lower()
        kind = _CHINESE_KINDS.get(english_kind, digest.kind) if chinese else english_kind
        name = f"{name}（{kind}）" if chinese else f"{name} ({kind})"
    stop = "。" if chinese else "."
    sentences = [fact if fact[-1] in ".!?。！？" else f"{fact}{stop}" for fact in facts[:_MOST_FACTS]]
    return CommunitySummary(name=name, summary=("" if chinese else " ").join(sentences) or name)


def _clean(texts: Sequence[str]) -> list[str]:
    """Collapse white space in each text, and omit empty texts and repeats."""
    lines = (" ".join(text.split()) for text in texts)
    return list(dict.fromkeys(line for line in lines if line))
