"""Writes the documents that `questions/languages/chinese_english.jsonl` asks about: English and Chinese in one base.

The first 300 abstracts of HotpotQA-100 and every third of the Chinese reports, with those that are gold. Run
`python benchmarks/language_corpus.py --data $DATA -o corpus.jsonl`, `banyan build corpus.jsonl --kb cross`, and
`banyan eval retrieval --kb cross --questions benchmarks/questions/languages/chinese_english.jsonl --format generic`.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

QUESTIONS = Path(__file__).parent / "questions" / "languages" / "chinese_english.jsonl"
_ENGLISH = 300
_EVERY = 3


def documents(data: Path) -> Iterator[dict[str, str]]:
    """Yield the documents, with ids as the questions have them."""
    abstracts: dict[str, list[str]] = json.loads(
        (data / "hotpotqa_train100" / "hotpotqa_train_corpus.json").read_text("utf-8"))
    for title, sentences in list(abstracts.items())[:_ENGLISH]:
        yield {"id": title, "title": title, "text": "".join(sentences)}
    gold = {json.loads(line)["gold"][0].partition("/")[2] for line in QUESTIONS.read_text("utf-8").splitlines()}
    lines = (data / "dragonball_zh_finance" / "corpus.jsonl").read_text("utf-8").splitlines()
    for number, report in enumerate(map(json.loads, lines)):
        if number % _EVERY == 0 or report["id"] in gold:
            yield {key: report[key] for key in ("id", "title", "text")}


def main() -> None:
    """Write them as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the measuring data")
    parser.add_argument("-o", "--output", type=Path, required=True, help="named corpus.jsonl, as in the ids of gold")
    given = parser.parse_args()
    given.output.write_text("".join(json.dumps(document, ensure_ascii=False) + "\n"
                                    for document in documents(given.data)), "utf-8")


if __name__ == "__main__":
    main()
