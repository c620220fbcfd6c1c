"""The wiki: a page for each entity and table under a safe name of its own; links lead to pages that are there."""

import re
import zipfile
from pathlib import PurePosixPath
from urllib.parse import unquote

import pytest

from ... import small_base

_LINK = re.compile(r"(?<!\\)\]\(([^)]+)\)")
NAMES = {"a/b": "Thing", "a:b": "Thing", "A B": "Thing", "a?b": "Place", "con": "Thing", "...": "Thing",
         "[x](http://evil.example)": "Thing", "<script>": "Thing", "Ünï [cödé]": "Thing", "x" * 300: "Thing"}


@pytest.fixture
def odd(shell, hashed_embedder):
    """Entities whose names are no names of files, or the same one, and what a reader of Markdown would act on."""
    kb = small_base.create(shell.folder / "home", "kb", hashed_embedder)
    text = "; ".join(NAMES)
    small_base.put(kb, "all.md", f"{text}.", entities=NAMES, triples=[
        (one, "knows", other) for one, other in zip(NAMES, [*NAMES][1:], strict=False)],
        attributes=[("con", "note", "a?b")])
    small_base.finish(kb)
    kb.close()
    return shell


def exported(shell, *arguments):
    result = shell("export", "--kb", "kb", "--format", "wiki", "-o", *arguments)
    assert result.code == 0, result.err
    return result


def test_no_page_is_lost_and_every_link_leads_to_one(odd):
    folder = odd.folder / "wiki"
    said = exported(odd, folder).err
    pages = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.md")}
    assert "begin with index.md" in said
    assert len({page.casefold() for page in pages}) == len(pages)
    assert sum(page.startswith("entities/") for page in pages) == len(NAMES)
    for page, text in pages.items():
        for link in _LINK.findall(text):
            parts = [*PurePosixPath(page).parent.parts, *PurePosixPath(unquote(link)).parts]
            while ".." in parts:
                del parts[parts.index("..") - 1:parts.index("..") + 1]
            assert "/".join(parts) in pages, (page, link)
        assert "<script>" not in text
        assert not re.search(r"(?<!\\)\]\(http", text)
    assert all(not re.search(r'[<>:"\\|?*#^\[\]]', page) and len(page.encode()) < 255 for page in pages)


def test_facts_have_quotes_and_tables_their_rows(shell):
    shell.copy_built({"a.txt": "Ada:Person --employer--> Acme:Organization.", "g.csv": "species,size\nPorites,*3*\n"})
    exported(shell, shell.folder / "wiki")
    ada = (shell.folder / "wiki" / "entities" / "Ada.md").read_text("utf-8")
    assert "- Ada *employer* [Acme](Acme.md)" in ada
    assert "“Ada\\:Person --employer--\\> Acme\\:Organization" in ada
    table = (shell.folder / "wiki" / "tables" / "g.md").read_text("utf-8")
    assert "| Porites | \\*3\\* |" in table


def test_a_folder_with_files_is_left_as_it_is_and_a_zip_has_the_same(odd):
    folder = odd.folder / "wiki"
    exported(odd, folder)
    assert "is not empty: name a new folder" in odd("export", "--kb", "kb", "--format", "wiki", "-o", folder).err
    exported(odd, odd.folder / "wiki.zip")
    first = (odd.folder / "wiki.zip").read_bytes()
    with zipfile.ZipFile(odd.folder / "wiki.zip") as archive:
        assert set(archive.namelist()) == {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    exported(odd, odd.folder / "wiki.zip")
    assert (odd.folder / "wiki.zip").read_bytes() == first
