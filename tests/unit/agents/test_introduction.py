"""What a knowledge base is about, at a glance: kinds, dates, titles, and what was not read."""

import pytest
from banyan.agents import introduction
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.resources import Resources
from banyan.config import Settings

from ...hashed_embedding import HashedEmbedder


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "notes"
    for name, text in {"letters/2021-03-04-elm.md": "# Elm Street\n\nElm Street is in Radom. It was paved with stone.",
                       "letters/oak.md": "---\ndate: 2019-11-02\n---\n# Oak Street\n\nOak Street is in Radom, too.",
                       "plans/all.txt": "The plans of Radom are kept in the town hall.",
                       "plans/broken.docx": "this is no archive"}.items():
        file = made / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return made


def test_an_introduction_says_what_there_is_and_what_was_not_read(tmp_path, folder):
    settings = Settings(_env_file=None, home=tmp_path / "home")
    with Resources(settings, HashedEmbedder()) as resources:
        def build(*paths):
            build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(path) for path in paths]},
                                          context=BuildContext())
            return introduction.introduce(resources, "kb", lambda _: None)

        found = build(folder)
        assert found.documents == 3
        assert found.kinds == {"Markdown": 2, "text": 1}
        assert found.dates == ("2019-11-02", "2021-03-04")
        assert found.titles == ("Elm Street", "all", "Oak Street"), "of each folder in turn"
        assert [line.partition(":")[0] for line in found.unread] == ["plans/broken.docx"], "by its path in the folder"
        assert dict(found.lines())["not read"] == "1 file"
        assert dict(found.lines())["kinds"] == "2 Markdown, 1 text, from 2019-11-02 to 2021-03-04"
        assert found.examples == ()
        (folder / "plans" / "broken.docx").unlink()
        assert build(folder).unread == (), "the latest build read all"
