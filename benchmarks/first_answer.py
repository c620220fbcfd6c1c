"""Time the way from `git clone` to the first answer: `python benchmarks/first_answer.py [FOLDER --question TEXT]`.

Clone this repository into a temporary folder, install as `make` does, build a folder of one's own and ask a question.
Print the seconds of each step and of all. Without FOLDER it is the ten documents of `benchmarks/newcomer/theatre`.
The committed state is cloned; pip's cache is used as on any machine, and `--no-pip-cache` downloads everything.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
THEATRE = ROOT / "benchmarks/newcomer/theatre"
LIMIT = 180


def main() -> None:
    """Measure, print, and fail where the first answer takes longer than three minutes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=THEATRE, help="the documents to build")
    parser.add_argument("--question", default="Who is the artistic director?")
    parser.add_argument("--no-pip-cache", action="store_true", help="download every package")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        seconds = _time_steps(Path(temporary), given)
    for name, taken in seconds.items():
        print(f"{name:8} {taken:6.1f} s")
    print(f"{'all':8} {sum(seconds.values()):6.1f} s; the limit is {LIMIT} s")
    sys.exit(sum(seconds.values()) > LIMIT)


def _time_steps(temporary: Path, given: argparse.Namespace) -> dict[str, float]:
    clone = temporary / "banyan"
    environment = {**os.environ, "BANYAN_HOME": str(temporary / "home"), "BANYAN_LLM_BASE_URL": "",
                   "BANYAN_LLM_MODEL": "",
                   **({"PIP_NO_CACHE_DIR": "1"} if given.no_pip_cache else {})}
    environment.pop("PYTHONPATH", None)
    banyan = str(clone / ".venv/bin/banyan")
    steps = {"clone": ["git", "clone", "--quiet", str(ROOT), str(clone)],
             "install": ["make", "--directory", str(clone), ".venv/usable"],
             "build": [banyan, "build", str(given.folder.resolve()), "--kb", "mine"],
             "ask": [banyan, "ask", given.question, "--kb", "mine"]}
    seconds = {}
    for name, command in steps.items():
        start = time.perf_counter()
        subprocess.run(command, env=environment, cwd=temporary, check=True)
        seconds[name] = time.perf_counter() - start
    return seconds


if __name__ == "__main__":
    main()
