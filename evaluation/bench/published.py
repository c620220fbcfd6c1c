"""Published figures for the same datasets, for orientation: they use other models, prompts and samples."""

from .results import Run

_COLUMNS = (("hotpotqa", "open"), ("hotpotqa", "reject"), ("2wiki", "open"), ("2wiki", "reject"), ("musique", "open"),
            ("musique", "reject"), ("gbench", "open"))
_PASSAGES = (20, 10)
YOUTU = "Youtu-GraphRAG (arXiv 2508.19855), accuracy judged by DeepSeek-V3-0324, which also answers"
# Tables 1 and 2, top 20 and top 10; a dash: not in the paper.
_ACCURACY = """
Zero-shot LLM|53.70 - 41.6 - 25.7 - 70.92|- - - - - - -
Naive RAG|79.90 72.40 70.3 38.9 47.49 30.63 71.81|79.40 68.00 67.60 33.70 45.58 26.73 71.22
RAPTOR|80.90 73.60 70.10 38.40 48.50 31.10 73.08|78.20 67.10 67.40 36.40 45.88 30.03 72.79
LightRAG|71.90 56.00 58.00 29.20 38.98 24.57 70.83|71.98 58.10 65.70 38.10 39.40 22.90 69.74
GraphRAG|56.10 26.40 41.80 10.00 32.20 16.50 75.54|54.30 23.70 40.00 9.80 30.20 16.00 61.39
HippoRAG|81.70 73.10 77.90 64.00 48.30 36.20 72.89|78.20 69.40 77.10 61.10 45.20 30.90 70.14
HippoRAG2|81.80 74.90 77.30 48.30 50.80 37.80 79.37|79.40 70.40 74.60 45.80 49.10 34.00 77.21
Youtu-GraphRAG w/o agent|83.70 75.30 72.80 57.80 51.40 40.00 81.53|80.50 72.10 72.10 54.40 49.80 38.30 80.55
Youtu-GraphRAG|86.50 81.20 85.50 77.60 53.60 47.50 86.54|83.40 78.90 82.30 72.60 52.10 46.90 83.50
"""
UNIAI = "UniAI-GraphRAG (its Table 2, average over types), relevancy / recall / F1 of the evidence"
_EVIDENCE = {"Dify naive RAG": "46.00 / 54.82 / 50.03", "Wanwu naive RAG": "62.94 / 76.73 / 69.15",
             "LightRAG": "61.19 / 80.98 / 69.71", "UniAI-GraphRAG": "64.47 / 81.16 / 72.48"}


def published_figures(run: Run) -> tuple[str, dict[str, str]]:
    """Return the papers' source and figures by method for a dataset, mode and number of passages; may be empty."""
    if run.dataset == "multihop-rag":
        return UNIAI, dict(_EVIDENCE)
    if run.top_k not in _PASSAGES or (run.dataset, run.mode) not in _COLUMNS:
        return "", {}
    rows = [line.split("|") for line in _ACCURACY.strip().splitlines()]
    table, column = _PASSAGES.index(run.top_k) + 1, _COLUMNS.index((run.dataset, run.mode))
    figures = {row[0]: row[table].split()[column] for row in rows}
    return f"{YOUTU}, top {run.top_k}", {method: figure for method, figure in figures.items() if figure != "-"}
