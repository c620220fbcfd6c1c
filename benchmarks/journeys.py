"""The files that a document and a question enter on their way, in the order in which a debugger would show them.

    python benchmarks/journeys.py examples/en/marie-curie.md "When was Marie Curie born?"

The document is built without a model into a knowledge base of its own, and the question answered from it, twice: the
first time loads what is loaded once. A file is entered when a function of it is called.
"""

import argparse
import inspect
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import banyan
from rich.console import Console

PACKAGE = Path(banyan.__file__).parent


class Entered:
    """The functions that are called of each file of the package, by any thread that starts after this."""

    def __init__(self) -> None:
        self.files: dict[str, set[CodeType]] = {}
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED:  # modules and classes are not
            path = Path(code.co_filename)
            if path.is_relative_to(PACKAGE) and not {".venv", "benchmarks"} & set(path.parts):
                self.files.setdefault(str(path.relative_to(PACKAGE)), set()).add(code)


def main() -> None:
    """Follow both, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path)
    parser.add_argument("question")
    arguments = parser.parse_args()
    console, entered = Console(width=120), Entered()
    for look in range(2):
        with tempfile.TemporaryDirectory() as home:
            for what in ("document", "question"):
                entered.files.clear()
                with banyan.open("followed", home=home, llm_base_url=None) as kb:
                    if what == "document":
                        kb.add(arguments.document)
                    else:
                        kb.ask(arguments.question)
                if look:
                    files = dict(entered.files)
                    rooms = Counter(name.partition("/")[0] for name in files)
                    functions = sum(map(len, files.values()))
                    console.print(f"[bold]The {what}[/]: {len(files)} files, {functions} functions; "
                                  + ", ".join(f"{room} {count}" for room, count in rooms.most_common()))
                    console.print(", ".join(files), highlight=False)


if __name__ == "__main__":
    main()
