"""`banyan sync`: it says what it will do, asks before it deletes, and follows a folder until Ctrl-C."""

import io
import json
import signal
import subprocess
import time

import pytest

from .. import warm_start
from ..command_line import CommandLine, clean_environment
from ..waiting import wait_for

ADA = "Ada:Person --employer--> Acme:Organization."


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "home-notes"  # beside the home folder, whose name begins its own
    folder.mkdir()
    for name in ("ada", "bob"):
        (folder / f"{name}.txt").write_text(ADA.replace("Ada", name.title()))
    return folder


def listed(shell):
    return [entry["id"] for entry in json.loads(shell("documents", "--kb", "kb", "--json").out)]


def test_it_says_what_it_will_do_and_deletes_only_when_told(shell, folder, monkeypatch):
    planned = shell("sync", folder, "--kb", "kb", "--dry-run")
    assert "2 new files: ada.txt, bob.txt" in planned.err
    assert shell.kbs() == []
    assert shell("sync", folder, "--kb", "kb", "--schema", shell.schema).code == 0
    (folder / "bob.txt").unlink()
    (folder / "eve.txt").write_text(ADA.replace("Ada", "Eve"))
    monkeypatch.setattr("sys.stdin", io.StringIO())  # nobody answers
    shell("sync", folder, "--kb", "kb").refused("1 document gone: bob.txt")
    assert listed(shell) == ["ada.txt", "bob.txt"]
    told = json.loads(shell("sync", folder, "--kb", "kb", "--yes", "--json").out)
    assert (told["new"], told["known"], told["gone"]) == (["eve.txt"], 1, ["bob.txt"])
    assert listed(shell) == ["ada.txt", "eve.txt"]


def test_watching_is_no_dry_run(shell, folder):
    assert "--watch goes without --dry-run" in shell("sync", folder, "--kb", "kb", "--watch", "--dry-run").err


def test_a_watched_folder_is_followed_until_ctrl_c(folder, tmp_path):
    line = CommandLine(tmp_path)
    process = warm_start.WarmProcess(
        [warm_start.BANYAN, "sync", str(folder), "--kb", "kb", "--watch"], cwd=tmp_path, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=clean_environment(BANYAN_HOME=str(tmp_path / "home")))
    try:
        for text in iter(process.stderr.readline, ""):
            if text.startswith("Watching"):
                break
        (folder / "ada.txt").unlink()
        (folder / "carl.txt").write_text("Carl Berg was born in Bergen.")
        wait_for(lambda: [entry["id"] for entry in line("documents", "--kb", "kb", "--json").json]
                 == ["bob.txt", "carl.txt"])
        # One that comes while an object is collected is lost: then a person presses again.
        wait_for(lambda: process.send_signal(signal.SIGINT) or time.sleep(1) or process.poll() is not None)
    finally:
        process.kill()
        _, errors = process.communicate()
    assert process.returncode == 130, errors
