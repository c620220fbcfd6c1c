"""Which models a question may be asked of instead of those in the settings."""

from collections.abc import Mapping
from typing import Literal, get_args

from ..config import LLM_STEPS, Settings
from ..schemas.errors import BanyanError

AskStep = Literal["condense", "decompose", "reflect", "answer"]
"""The steps of a question that ask a model. Those of a build are set once for all: which model a knowledge base's facts
come from is recorded with it, and another model would be asked again what was decided."""
_STEPS = get_args(AskStep)


class ModelChoiceError(BanyanError):
    """A model that cannot be asked for a step."""


def check_models(models: Mapping[AskStep, str], settings: Settings, *, served: bool) -> None:
    """Check that a question's steps may ask these models.

    Args:
        models: the model of each step that overrides the settings.
        settings: whether there is an endpoint, and which models it is known to have.
        served: the question comes from a client, which may choose only among models that the settings name.

    Raises:
        ModelChoiceError: a step or model cannot be chosen; says which can.
    """
    if not isinstance(models, Mapping) or not all(isinstance(model, str) and model for model in models.values()):
        raise ModelChoiceError('`models` names a model for each step, as in {"answer": "gpt-4o"}: fix the context')
    if not models:
        return
    if unknown := set(models) - set(_STEPS):
        raise ModelChoiceError(f"no model can be chosen for {', '.join(sorted(map(repr, unknown)))}: a question has "
                               f"the steps {', '.join(_STEPS)}; a build's models are set by BANYAN_LLM_MODEL_...")
    if not settings.uses_llm:
        raise ModelChoiceError("no model can be chosen while the rules answer: set BANYAN_LLM_BASE_URL")
    offered = {settings.model_of(step) for step in LLM_STEPS} | {
        name for name in map(str.strip, settings.server_models.split(",")) if name}
    if served and (others := set(models.values()) - offered):
        raise ModelChoiceError(f"the server does not offer {', '.join(sorted(map(repr, others)))}: choose among "
                               f"{', '.join(sorted(offered))}, or have it named in BANYAN_SERVER_MODELS")
