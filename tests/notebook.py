"""The notebook in docs: `python tests/notebook.py` runs its cells and keeps what they print.

It needs no kernel: cells are run in one namespace, as a kernel runs them, in a home of their own.
"""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "docs" / "tutorial.ipynb"


def run(notebook: dict[str, Any]) -> None:
    """Run every code cell, and put what it prints below it."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), namespace)
        lines = printed.getvalue().splitlines(keepends=True)
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
        cell["execution_count"] = number


def main() -> None:
    """Run the notebook from the repository's root."""
    os.chdir(NOTEBOOK.parent.parent)
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as home:
        os.environ["BANYAN_HOME"] = home
        run(notebook)
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
