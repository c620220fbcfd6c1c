"""`--ray` and `ray=`: what they take, and what they say where there is no Ray."""

import sys

import pytest
from banyan.agents.cluster.joining import ClusterError, join_cluster
from banyan.cli.main import command
from banyan.ingest.loaders import load_documents
from banyan.ingest.reading import Content


@pytest.mark.parametrize(("arguments", "ray", "paths"), [
    (["docs"], "", ["docs"]),
    (["docs", "--ray"], "local", ["docs"]),
    (["--ray", "docs"], "local", ["docs"]),
    (["--ray", "docs", "--json"], "local", ["docs"]),
    (["docs", "--ray", "auto"], "auto", ["docs"]),
    (["--ray", "10.0.0.1:6379", "docs"], "10.0.0.1:6379", ["docs"]),
    (["docs", "--ray=head:6379"], "head:6379", ["docs"]),
])
def test_the_option_is_given_with_and_without_an_address(arguments, ray, paths):
    context = command("build").make_context("build", [*arguments, "--kb", "kb"])
    assert (context.params["ray"], context.params["paths"]) == (ray, paths)


@pytest.mark.parametrize("address", ["docs", "head", "head:", ":6379", "ray://head:10001", "user@head:6379", "head:x"])
def test_what_is_no_address_is_refused(address):
    refused = pytest.raises(ClusterError, match="is no address of a Ray cluster: give `auto`, HOST:PORT")
    with refused, join_cluster(address):
        pass


@pytest.mark.parametrize("noted", [True, False])
def test_the_address_that_ray_finds_is_looked_at_as_well(monkeypatch, tmp_path, noted):
    """Ray would try for minutes to reach a cluster that was killed."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    if noted:
        (tmp_path / "ray").mkdir()
        (tmp_path / "ray" / "ray_current_cluster").write_text("ray://head:10001\n")
    else:
        monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    with pytest.raises(ClusterError, match="'ray://head:10001' is no address"), join_cluster("auto"):
        pass


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=r"needs Ray: pip install 'banyan-graphrag\[ray\]'"), join_cluster("local"):
        pass


def test_files_are_read_ahead_and_their_documents_come_in_order(tmp_path):
    """Fetched or found, plain or parsed: each file meets its own content."""
    for name in ("a.html", "b.txt", "c.pdf", "d.html"):
        (tmp_path / name).write_text(name)

    def read_ahead(files):
        return [lambda file=file: Content(f"read {file.name}") for file in list(files)]

    documents = load_documents([tmp_path], on_failure=print, read_ahead=read_ahead)
    assert [(document.id, document.text) for document in documents] == [
        ("a.html", "read a.html"), ("b.txt", "b.txt"), ("c.pdf", "read c.pdf"), ("d.html", "read d.html")]
