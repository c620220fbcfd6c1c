"""`banyan search`: passages with their documents, characters, words and scores, as printed and as JSON."""

import json

from ... import scripted

shell = scripted.shell
TEXTS = {"polonium.txt": "Marie Curie discovered polonium in Paris.\n", "rivers.txt": "Warsaw lies on the Vistula.\n"}


def test_passages_are_listed_with_place_words_and_score_best_first(shell):
    shell.copy_built(TEXTS)
    result = shell("search", "Who discovered polonium?", "--kb", "kb", "-k", "2", "--json")
    passages = json.loads(result.out)["passages"]
    assert [set(passage) for passage in passages] == [
        {"document", "title", "start", "end", "text", "score"}] * len(passages)
    best = passages[0]
    assert (best["document"], TEXTS["polonium.txt"][best["start"]:best["end"]]) == ("polonium.txt", best["text"])
    assert [passage["score"] for passage in passages] == sorted((one["score"] for one in passages), reverse=True)
    printed = shell("search", "polonium", "--kb", "kb", "-k", "1").out
    assert printed.startswith(f"1. polonium.txt {best['start']}-{best['end']}")
    assert "Marie Curie discovered polonium in Paris." in printed
