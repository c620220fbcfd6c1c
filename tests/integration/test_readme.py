"""What the documentation tells people to type: the README in order, in a home of its own; elsewhere it exists."""

import importlib
import json
import re
import shlex
import subprocess
import sys

import pytest

from .. import command_line, serving, warm_start

PROJECT = command_line.PROJECT

pytestmark = pytest.mark.integration

_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TARGETS = set(re.findall(r"^([a-z]+):", (PROJECT / "Makefile").read_text("utf-8"), re.MULTILINE))


class Reader:
    """A person who types what a page says, one block after the other, in one shell."""

    def __init__(self, folder):
        self.folder, self.variables, self.typed = folder, {}, []
        (folder / "examples").symlink_to(PROJECT / "examples")

    def follow(self, page):
        for language, block in _BLOCK.findall((PROJECT / page).read_text("utf-8")):
            if language == "python":
                self.run_python(block)
            else:
                for line in block.splitlines():
                    self.type(shlex.split(line, comments=True))

    def type(self, words):
        self.typed.append(words)
        match words:
            case ["make", target]:  # what it installs is there; the demo's knowledge base is in the folder
                assert target in TARGETS
            case [".", ".venv/bin/activate"]:
                pass
            case ["export", *assigned]:
                self.variables |= dict(one.split("=", 1) for one in assigned)
            case ["banyan", "serve", *arguments]:
                with serving.served(self.folder, *arguments, **self.variables):
                    pass
            case ["banyan", *arguments]:
                done = command_line.CommandLine(self.folder, tuple(self.variables.items()))(*arguments)
                assert done.code == 0, (words, done.err)
            case _:
                pytest.fail(f"nobody can type {words}")

    def run_python(self, code, **settings):
        self.typed.append(["python"])
        file = self.folder / "snippet.py"
        file.write_text(code, "utf-8")
        done = warm_start.run([sys.executable, file], cwd=self.folder, timeout=command_line.SECONDS,
                              env=command_line.clean_environment(BANYAN_HOME=str(self.folder / "home"),
                                                                 **self.variables, **settings))
        assert (done.returncode, "Warning" in done.stderr) == (0, False), done.stderr
        return done.stdout


def test_the_readme_can_be_typed_as_it_stands(english_folder):
    reader = Reader(english_folder)
    reader.follow("README.md")
    assert len(reader.typed) >= 12
    # `.uploads` is the server's.
    assert {path.name for path in (english_folder / "home").iterdir() if path.is_dir()} - {".uploads"} == {
        "english", "laureates", "mine"}


def test_the_chinese_readme_has_the_same_commands():
    def blocks(page):
        text = (PROJECT / page).read_text("utf-8")
        return [(language, [shlex.split(line, comments=True)[:2] for line in block.splitlines()]
                 if language == "sh" else re.sub(r"#.*", "", block)) for language, block in _BLOCK.findall(text)]

    assert blocks("README.zh.md") == blocks("README.md")


def test_the_page_on_python_runs_from_top_to_bottom(tmp_path):
    reader = Reader(tmp_path)
    code = "".join(block for language, block in _BLOCK.findall((PROJECT / "docs" / "python.md").read_text("utf-8"))
                   if language == "python")
    assert "London" in reader.run_python(code, **{warm_start.HASHED: "1"})


def test_what_coding_assistants_are_told_runs_and_its_links_lead_somewhere(tmp_path):
    told = (PROJECT / "AGENTS.md").read_text("utf-8")
    (code,) = [block for language, block in _BLOCK.findall(told) if language == "python"]
    said = Reader(tmp_path).run_python(code.replace('"docs/"', repr(str(PROJECT / "examples" / "en"))))
    assert "stated" in said
    assert "polonium.md" in said
    for page in ("llms.txt", "skills/banyan/SKILL.md", "AGENTS.md"):
        source = PROJECT / page
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", source.read_text("utf-8")):
            assert (source.parent / link).exists(), f"{page}: {link}"


def test_the_notebook_runs_from_top_to_bottom(tmp_path):
    notebook = json.loads((PROJECT / "docs" / "tutorial.ipynb").read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    mark = "-- end of cell --"
    code = f"print({mark!r})\n".join("".join(cell["source"]) + "\n" for cell in cells)
    printed = Reader(tmp_path).run_python(code).split(f"{mark}\n")
    kept = ["".join(line for output in cell["outputs"] for line in output["text"]) for cell in cells]
    assert len(printed) == len(kept) >= 6
    # The wording of answers may change with the rules; that they are found may not.
    for there in (printed, kept):
        assert there[1].startswith("Vistula\n")
        assert "short answer: none\ngrade: found\n" in there
        assert there[-1] == "London\n[]\n"


_LINE = re.compile(r'(?:[^"\n]|"[^"]*")+')
"""A line of a block; a text in quotes may have several lines."""
PAGES = sorted([*PROJECT.glob("docs/*.md"), *PROJECT.glob("*.md"), PROJECT / "benchmarks" / "README.md",
                PROJECT / "skills" / "banyan" / "SKILL.md"])


def commands(page):
    """What the page shows of the command line: lines of its blocks, and what stands between backticks."""
    text = page.read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in _LINE.findall(block.replace("\\\n", " "))]
    inline = re.findall(r"`(banyan [^`]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
    return [shlex.split(line, comments=True) for line in [*lines, *inline] if line.startswith("banyan ")]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_each_command_and_option_exists(page):
    main = importlib.import_module("banyan.cli.main")
    for _, *words in commands(page):
        names, options = [word for word in words if not word.startswith("-")], {
            word.split("=")[0] for word in words if word.startswith("--")}
        if not names or not re.fullmatch("[a-z]+", names[0]):  # `banyan --help`, `banyan COMMAND`
            assert options <= {"--help", "--version"}
            continue
        command = main.command(names[0])
        while getattr(command, "commands", None) and len(names) > 1 and names[1] in command.commands:
            names.pop(0)
            command = command.commands[names[0]]
        known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
        assert options <= known, f"banyan {' '.join(words)}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The documentation as a site, built strictly: a link, an anchor or a name that is not there is an error."""
    for package in ("mkdocs", "mkdocstrings"):
        pytest.importorskip(package, reason="the packages of `pip install '.[docs]'` are not installed")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
                          cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False,
                          env=command_line.clean_environment(BANYAN_HOME=str(folder / "home")))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_asks_nothing_of_other_hosts(site):
    loads = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=["']?(?:https?:)?//"""
                       r"""|url\(["']?(?:https?:)?//""")
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 20
    assert [page.name for page in pages if loads.search(page.read_text("utf-8"))] == []
