"""The documentation as a site: built strictly, so that a link, an anchor or a name that is not there is an error."""

import re
import subprocess
import sys

import pytest

from .. import command_line

pytest.importorskip("mkdocs", reason="the packages of `pip install '.[docs]'` are not installed")
pytest.importorskip("mkdocstrings", reason="the packages of `pip install '.[docs]'` are not installed")

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
                          cwd=command_line.PROJECT, capture_output=True, text=True, timeout=300, check=False,
                          env=command_line.clean_environment(BANYAN_HOME=str(folder / "home")))
    assert done.returncode == 0, done.stderr
    return folder


def test_it_asks_nothing_of_other_hosts(site):
    loads = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=["']?(?:https?:)?//"""
                       r"""|url\(["']?(?:https?:)?//""")
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 20
    assert [page.name for page in pages if loads.search(page.read_text("utf-8"))] == []
