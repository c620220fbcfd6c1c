"""Pages of the docs that are made from the code: `python -m tests.generated_pages` writes them."""

from pathlib import Path

from . import endpoint_matrix, error_messages, graph_drawings, settings_table


def files() -> dict[Path, str]:
    return {endpoint_matrix.PAGE: endpoint_matrix.page(), error_messages.PAGE: error_messages.page(),
            **settings_table.files(), **graph_drawings.files()}


if __name__ == "__main__":
    for file, text in files().items():
        file.write_text(text, "utf-8")
