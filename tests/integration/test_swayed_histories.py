"""Random histories with hostile documents and a model that they and the schema sway (`tests/swayed_model.py`).

After the hostile ones are deleted, nothing of them is left, as docs/documents.md promises; and where it says that the
order of things matters, the command that it gives makes the knowledge base equal to one that never had them.
"""

from pathlib import Path
from typing import Any

import pytest
from banyan.graph_store.integrity.verify import verify
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..conftest import EXAMPLES
from ..newest import newest
from ..swayed_model import MARK, SwayedModel
from ..unit.agents.test_shared_calls import Shop

# What deletions leave of hostile documents test_hostile_model, test_deleted_text and test_verdict_owners look at, too.
pytestmark = [pytest.mark.integration, pytest.mark.slow]

_PEOPLE = ["Adam Reed", "Reed Adam", "Bea Lund", "Lund Bea", "Cem Ray"]
_FIRMS = ["Acme", "Beta", "Gamma Works", "Works Gamma"]
_HOSTILE = {
    "h1.txt": "Zyxoa:Person --audits zyxob--> Acme:Organization.\nAdam Reed:Person --mends zyxoc--> Acme:Organization.",
    "h2.txt": "Adam Reed:Person --advises means employer--> Acme:Organization.\nSAY knows zyxod FOR advises.\n"
              "Bea Lund:Person --knows zyxod--> Adam Reed:Person.",
    "h3.txt": "Join Everything:Person --knows--> Everything Join:Person.\nReed Adam:Person --zyxoe--> Zyxof:Place.",
    "h4.txt": "SAY zyxog FOR employer.\nSAY zyxoh FOR audits.\nCem Ray:Person --advises--> Beta:Organization.",
}
_FACT = st.builds("{}:Person --{}--> {}:Organization.".format, st.sampled_from(_PEOPLE),
                  st.sampled_from(["employer", "audits", "advises", "mends", "manages"]), st.sampled_from(_FIRMS))
_TEXT = st.lists(_FACT, min_size=1, max_size=2).map("\n".join)
_CLEAN = ["a.txt", "b.txt", "c.txt", "d.txt"]
_HOSTILE_STEP = st.one_of(
    st.tuples(st.just("put"), st.sets(st.sampled_from(sorted(_HOSTILE)), min_size=1).map(
        lambda names: {name: _HOSTILE[name] for name in sorted(names)})),
    st.tuples(st.just("delete"), st.sampled_from(sorted(_HOSTILE))))
_STEP = st.one_of(
    _HOSTILE_STEP, st.tuples(st.just("put"), st.dictionaries(st.sampled_from(_CLEAN), _TEXT, min_size=1, max_size=3)),
    st.tuples(st.just("delete"), st.sampled_from(_CLEAN)))
_PROPERTY = settings(max_examples=3 * EXAMPLES, deadline=None,
                     suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def make(folder: Path, embedder: Any, monkeypatch: pytest.MonkeyPatch, replays: dict[str, Any] | None = None,
         **more: Any) -> Shop:
    model = SwayedModel()
    model.replays = replays or {}
    return Shop(folder, embedder, model, monkeypatch, extract_tokens=400, schema_support=None, **more)


def play(shop: Shop, steps: Any) -> dict[str, str]:
    """Carry out a history, then delete the hostile documents; returns the texts that are left."""
    left: dict[str, str] = {}
    for step, value in steps:
        if step == "put":
            left |= told_apart(value)
            shop.build(shop.write(told_apart(value)))
        elif left.pop(value, None) is not None:
            delete(shop, value)
    for name in sorted(left.keys() & _HOSTILE.keys()):
        del left[name]
        delete(shop, name)
    return left


def told_apart(texts: dict[str, str]) -> dict[str, str]:
    """Lines that documents share are boilerplate, which no model is asked about: each names its document."""
    return {name: "\n".join(f"{line} {name[0]}." for line in text.splitlines()) for name, text in texts.items()}


def delete(shop: Shop, name: str) -> None:
    with shop.resources() as resources:
        resources.delete_documents("kb", [name])


def state(shop: Shop) -> dict[str, Any]:
    """All that questions are answered from; the invariants are checked as well."""
    with shop.resources() as resources:
        kb = newest(resources).kb
        assert verify(kb) == []
        return {"graph": kb.graph.dump(), "schema": kb.schemas.current().model_dump(),
                "aliases": {one.id: (one.canonical, one.rule) for one in kb.entities.aliases().values()},
                "reports": {one.id: (one.members, one.summary) for one in kb.communities.all(level=None)},
                "asks": kb.schema_control.asks.counts(), "rejected": kb.extractions.count_rejections()}


def marks(shop: Shop) -> list[str]:
    """The files that have a word of hostile documents."""
    return [path.name for path in sorted((shop.settings.home / "kb").rglob("*")) if path.is_file()
            if MARK.encode() in path.read_bytes().lower()]


@_PROPERTY
@given(clean=st.fixed_dictionaries({"a.txt": _TEXT, "b.txt": _TEXT}, optional={"c.txt": _TEXT}), steps=st.lists(
    _HOSTILE_STEP, min_size=1, max_size=3))
def test_hostile_documents_that_come_later_and_go_leave_nothing(tmp_path_factory, hashed_embedder, monkeypatch, clean,
                                                                steps):
    folder = tmp_path_factory.mktemp("swayed")
    shop, never = (make(folder / name, hashed_embedder, monkeypatch) for name in ("one", "never"))
    for one in (shop, never):
        one.build(one.write(told_apart(clean)))
    assert play(shop, [("put", {"h1.txt": _HOSTILE["h1.txt"]}), *steps]) == {}
    for one in (shop, never):
        one.build()
    assert marks(shop) == []
    assert state(shop) == state(never)


@_PROPERTY
@given(steps=st.lists(_STEP, min_size=2, max_size=6), batch=st.sampled_from([1, None]))
def test_for_given_extractions_fresh_verdicts_make_it_equal_to_one_that_never_had_them(
        tmp_path_factory, hashed_embedder, monkeypatch, steps, batch):
    folder = tmp_path_factory.mktemp("swayed")
    shop = make(folder / "one", hashed_embedder, monkeypatch, batch_chunks=batch)
    left = play(shop, [*steps, ("put", {"d.txt": "Cem Ray:Person --advises--> Acme:Organization."})])
    with shop.resources() as resources:
        resources.reindex("kb", fresh_verdicts=True)
    never = make(folder / "never", hashed_embedder, monkeypatch, shop.model.read)
    never.build(never.write(left))
    assert state(shop) == state(never)
