"""Instructions for the wording of answers, and prompt files of a user's own."""

import shutil
from importlib import resources as package_resources
from pathlib import Path

import banyan
import pytest
from banyan.prompts import PromptFileError
from banyan.schemas.inquiry import Inquiry

from ... import asking
from ...scripted_endpoint import FOUND, REQUEST, SCHEMA, ScriptedEndpoint, reasoner

opened, resources = asking.opened, asking.resources

ANSWERED = {"thought": "", "claims": [], "answerable": False, "short": "", "confidence": 0.0}
WISH = "Two sentences,\n  in Latin."


def sent(endpoint: ScriptedEndpoint) -> list[str]:
    return ["\n".join(text for _, text in messages) for messages in endpoint.sent]


@pytest.mark.parametrize("question", ["Where was she born?", "她出生在哪里？"])
def test_they_are_in_the_prompts_that_word_answers_and_in_no_other(question):
    endpoint = ScriptedEndpoint([ANSWERED, ANSWERED, FOUND, ANSWERED])
    plain = reasoner(endpoint)
    wishing = plain.with_instructions(WISH)
    wishing.judge(Inquiry(question=question))
    wishing.judge(Inquiry(question=question, mode="open", is_last=True))
    wishing.extract(REQUEST, SCHEMA)
    plain.judge(Inquiry(question=question))
    assert ["Two sentences, in Latin." in prompt for prompt in sent(endpoint)] == [True, True, False, False]


def test_those_of_the_knowledge_base_and_of_the_question_reach_the_model_together(resources):
    asking.ask(resources)
    assert resources.fake.instructions == ""
    resources.instruct("kb", "Be brief.")
    asking.ask(resources, instructions="In French.")
    assert resources.fake.instructions == "Be brief.\nIn French."


def test_they_are_stored_changed_and_removed(tmp_path, hashed_embedder):
    document = tmp_path / "a.txt"
    document.write_text("Ada Byron was born in London.")
    with banyan.open("kb", home=tmp_path / "home", llm_base_url=None) as kb:
        kb.add(document)
        assert kb.instructions == ""
        kb.instructions = "  Answer in German. "
    with banyan.open("kb", home=tmp_path / "home", llm_base_url=None) as kb:
        assert kb.instructions == "Answer in German."
        assert not kb.ask("Where was Ada Byron born?", instructions="Rhyme.").abstained  # quotes are not worded
        kb.instructions = ""
        assert kb.instructions == ""


@pytest.fixture
def own(tmp_path) -> Path:
    """A folder with a copy of one prompt."""
    (tmp_path / "en").mkdir()
    ours = package_resources.files("banyan.prompts") / "en" / "agent.txt"
    shutil.copy(str(ours), tmp_path / "en")
    return tmp_path / "en" / "agent.txt"


def test_a_users_prompt_file_replaces_that_prompt_alone(own):
    own.write_text("You serve the archive for $$5.\n" + own.read_text("utf-8"), "utf-8")
    endpoint = ScriptedEndpoint([ANSWERED, {"question": "Where?"}])
    asked = reasoner(endpoint, prompts=own.parents[1])
    asked.judge(Inquiry(question="Where was she born?"))
    asked.condense("Where?", [("user", "Marie Curie")])
    answer, other = sent(endpoint)
    assert answer.startswith("You serve the archive for $5.")
    assert "Where was she born?" in answer
    assert "archive" not in other


@pytest.mark.parametrize(("change", "said"), [
    (lambda text: text.replace("$question", ""), r"agent\.txt lacks \$question"),
    (lambda text: text + "$shoe", r"agent\.txt has unknown \$shoe"),
    (lambda text: text + "it costs $ 5", r"a plain \$ is written \$\$")])
def test_a_prompt_file_with_other_placeholders_is_refused(own, change, said):
    own.write_text(change(own.read_text("utf-8")), "utf-8")
    with pytest.raises(PromptFileError, match=said):
        reasoner(ScriptedEndpoint([]), prompts=own.parents[1])
