"""A setting compared with baselines and ablations: the same questions and store, one table."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial

from ..agents.resources import Resources
from ..schemas.documents import Chunk
from ..schemas.retrieval import ROUTES
from .baselines import Baseline, baselines
from .datasets import DatasetError, Question
from .recall import Search, Setting, SubQueries, Watch, absent_gold, run, search_texts, setting_search
from .recall_report import RetrievalReport, compare, summarise

DEFAULT = "default"
# The middle of eq. 9: no channel is preferred for any question.
_FIXED_BETA = 0.5


def evaluate(resources: Resources, name: str, questions: Sequence[Question], *,
             ks: Sequence[int], setting: Setting | None = None, with_baselines: bool = False,
             with_ablations: bool = False, watch: Watch = lambda _: nullcontext(lambda *_: None)) -> RetrievalReport:
    """Measure a setting, alone or together with others.

    Args:
        resources: models and knowledge bases.
        name: the knowledge base.
        questions: at least one question, with gold passages.
        ks: the cut-offs.
        setting: how to search; by default everything is on.
        with_baselines: also measure the published methods of `baselines` on the same store.
        with_ablations: also measure the setting with each of its parts switched off.
        watch: opens a progress bar for a row.

    Returns:
        The setting's report. If several rows are measured, it has `rows`, with the setting first.

    Raises:
        DatasetError: the questions do not fit the knowledge base.
    """
    setting = setting or Setting()
    if setting.sub_queries == "gold" and not any(question.steps for question in questions):
        raise DatasetError("the questions come without a decomposition: leave out --sub-queries gold")
    chunks = {chunk.id: chunk for chunk in resources.retriever(name).index.chunks}
    absent = absent_gold(questions, chunks)
    searches: dict[str, Callable[[], Search]] = {
        row: partial(setting_search, resources, name, variant, max(ks))
        for row, variant in {DEFAULT: setting, **(ablations(setting) if with_ablations else {})}.items()}
    if with_baselines:
        methods = baselines(resources.knowledge_base(name))
        searches |= {row: partial(_baseline_search, method, setting.sub_queries) for row, method in methods.items()}
    return _measure(searches, chunks, questions, ks, watch).model_copy(update={"gold_absent": absent})


def ablations(setting: Setting) -> dict[str, Setting]:
    """Return a setting with one part switched off, for each part that is on, by the row's name."""
    on = setting.switches
    changes: dict[str, dict[str, object]] = {
        f"{route} off": {"routes": tuple(other for other in on.routes if other != route)}
        for route in ROUTES if route in on.routes}
    changes |= {f"{part} off": {part: False} for part in ("spreading", "lexical", "dense") if getattr(on, part)}
    if on.beta is None:
        changes[f"beta {_FIXED_BETA}"] = {"beta": _FIXED_BETA}
    variants = {row: setting.model_copy(update={"switches": on.model_copy(update=change)})
             for row, change in changes.items()}
    if setting.decompose and setting.sub_queries == "none":
        variants["decomposition off"] = setting.model_copy(update={"decompose": False})
    return variants


def _measure(searches: Mapping[str, Callable[[], Search]], chunks: Mapping[str, Chunk],
              questions: Sequence[Question], ks: Sequence[int], watch: Watch) -> RetrievalReport:
    """Return the report of the first search, with a row for each if there are several."""
    measured = {}
    for row, prepared in searches.items():
        with watch(row) as progress:
            measured[row] = run(prepared(), chunks, questions, progress)
    default = next(iter(measured.values()))
    report = summarise(default, ks)
    if len(measured) == 1:
        return report
    return report.model_copy(update={
        "rows": tuple(compare(row, records, default, ks) for row, records in measured.items())})


def _baseline_search(baseline: Baseline, sub_queries: SubQueries) -> Search:
    """Return a baseline's search; the rankings of several sub-queries take turns, and each chunk occurs once."""
    def search(question: Question) -> list[str]:
        rankings = [baseline(text) for text in search_texts(question, sub_queries)]
        return list(dict.fromkeys(chunk for turn in zip(*rankings, strict=True) for chunk in turn))

    return search
