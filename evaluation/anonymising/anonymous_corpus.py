"""An anonymised corpus with its questions: entities from a build, then ids, tasks and a check for leaks."""

from collections.abc import Collection, Mapping
from functools import partial

from ...agents.construction.graph import build_graph
from ...agents.construction.state import BuildContext, BuildInput
from ...agents.resources import Resources
from ...models.llm.retelling import Reteller
from ...runtime.budgets import Budget, charge_calls
from ...runtime.event_loop import run
from ...schemas.documents import Frozen
from ...schemas.naming import content_id
from .leaks import all_leaks
from .replacing import Anonymiser, AnonymityError, Key
from .surface_forms import named_entities
from .tasks import Task, facts_by_ids, tasks_from_facts
from .written import not_from_memory, written_tasks


class Corpus(Frozen):
    """Anonymised texts by their names, tasks about them, the user's questions, and the key, stored separately."""

    texts: dict[str, str]
    tasks: tuple[Task, ...]
    questions: tuple[Task, ...]
    key: Key
    leaks: tuple[str, ...]


def anonymise(resources: Resources, texts: Mapping[str, str], types: Collection[str], *, schema: str = "general",
              questions: Collection[Task] = (), written: int = 0, from_memory: bool = True,
              max_tokens: int | None = None) -> Corpus:
    """Anonymise texts, generate tasks about them, and check for leaks.

    Args:
        resources: the models, with the reasoner that finds the entities. The knowledge base remains afterwards, so
            another run pays nothing again.
        texts: the texts by their names.
        types: the entity types to replace, as named in the schema.
        schema: the seed schema.
        questions: the user's questions, in which the same names become the same ids.
        written: the number of tasks that the model writes, in addition to those from facts.
        from_memory: include tasks that the model solves without the texts.
        max_tokens: the hard budget.

    Raises:
        AnonymityError: the build stopped or failed in part, no entity of the types was found, or the options need a
            model and the settings name no model.
        ReasonerError: the model failed at a task.
        BudgetExceeded: the budget is reached; paid replies are stored for the next run.
    """
    if (written or not from_memory) and not resources.settings.uses_llm:
        raise AnonymityError("tasks in a model's words, and the check of what it solves from memory, need a model: set "
                             "BANYAN_LLM_BASE_URL and BANYAN_LLM_MODEL, or leave them out")
    budget = None if max_tokens is None else Budget(max_tokens)
    name = f"anonymise-{content_id(schema, *(part for item in sorted(texts.items()) for part in item))[:12]}"
    given: BuildInput = {"knowledge_base": name, "schema": schema,
                         "documents": [{"id": key, "text": text} for key, text in texts.items() if text.strip()]}
    context = BuildContext(max_tokens=max_tokens, retry_failed=True)
    report = run(partial(build_graph(resources).ainvoke, given, context=context))["report"]
    if budget:
        budget.add("", report["tokens"]["prompt"], report["tokens"]["completion"])
    if report["stopped"] or report["chunks_failed"]:
        why = report["stopped"] or f"{report['chunks_failed']} chunks failed"
        raise AnonymityError(f"finding the names: {why}; run the command again to resume")
    kb = resources.knowledge_base(name)
    all_texts = [*texts.values(), *(part for task in questions for part in (task.question, task.answer))]
    entities = named_entities(kb.graph, types, all_texts)
    if not entities:
        raise AnonymityError(f"no entity of the types {', '.join(sorted(types))} was found: name others (--types), or "
                             "another schema (--schema)")
    anonymiser = Anonymiser(entities)
    changed = {key: anonymiser.replace(key, text) for key, text in texts.items()}
    places = anonymiser.key.places

    def hide(text: str) -> str:
        return anonymiser.replace("", text)

    own = tuple(Task(question=hide(task.question), answer=hide(task.answer)) for task in questions)
    facts = facts_by_ids(kb.graph, anonymiser.key, hide)
    tasks = tasks_from_facts(facts, anonymiser.key)
    if written or not from_memory:
        with resources.standalone_reasoner() as (reasoner, calls), charge_calls(build=name, budget=budget):
            tasks += written_tasks(Reteller(resources.settings, calls), facts, anonymiser.key, hide, written)
            if not from_memory:
                tasks = not_from_memory(tasks, reasoner, resources.settings.llm_concurrency)
    key = Key(entities=anonymiser.key.entities, places=places)
    # Answers of reversion tasks contain the names, so only questions are checked.
    asked = [("questions", task.question) for task in (*tasks, *own)]
    return Corpus(texts=changed, tasks=tuple(tasks), questions=own, key=key,
                  leaks=tuple(all_leaks([*changed.items(), *asked], key)))


def as_rows(texts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the texts as rows of AnonyRAG's file of chunks."""
    return [{"title": name, "text": text} for name, text in texts.items()]
