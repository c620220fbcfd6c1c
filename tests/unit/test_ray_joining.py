"""The folder that a Ray of this machine is given."""

import subprocess
import sys

from banyan.agents.cluster.joining import _private_folder


def test_a_folder_for_ray_is_this_user_s_and_goes_when_it_is_left(tmp_path):
    with _private_folder(tmp_path) as folder:
        (outer,) = tmp_path.iterdir()
        assert folder == str(outer / "r")
        assert outer.stat().st_mode & 0o777 == 0o700
        with _private_folder(tmp_path):
            assert len(list(tmp_path.iterdir())) == 2, "one that is in use is not swept"
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_process_goes_with_the_next_start(tmp_path):
    killed = subprocess.run([sys.executable, "-c", (
        "import os, signal, sys\nfrom pathlib import Path\nfrom banyan.agents.cluster.joining import _private_folder\n"
        "with _private_folder(Path(sys.argv[1])) as folder:\n"
        "    Path(folder).mkdir(mode=0o777)\n    os.kill(os.getpid(), signal.SIGKILL)"), tmp_path], check=False)
    assert killed.returncode < 0
    assert len(list(tmp_path.iterdir())) == 1
    with _private_folder(tmp_path):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
