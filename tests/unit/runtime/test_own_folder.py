"""Folders for work that is thrown away."""

import subprocess
import sys

from banyan.runtime.own_folder import own_folder


def test_the_folder_is_this_user_s_and_goes_when_it_is_left(tmp_path):
    with own_folder(tmp_path, "work-") as folder:
        (outer,) = tmp_path.iterdir()
        assert folder == outer
        assert outer.stat().st_mode & 0o777 == 0o700
        with own_folder(tmp_path, "work-"):
            assert len(list(tmp_path.iterdir())) == 2, "one that is in use is not swept"
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_process_goes_with_the_next_start(tmp_path):
    killed = subprocess.run([sys.executable, "-c", (
        "import os, signal, sys\nfrom pathlib import Path\nfrom banyan.runtime.own_folder import own_folder\n"
        "with own_folder(Path(sys.argv[1]), 'work-') as folder:\n"
        "    (folder / 'r').mkdir(mode=0o777)\n    os.kill(os.getpid(), signal.SIGKILL)"), tmp_path], check=False)
    assert killed.returncode < 0
    assert len(list(tmp_path.iterdir())) == 1
    with own_folder(tmp_path, "work-"):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
