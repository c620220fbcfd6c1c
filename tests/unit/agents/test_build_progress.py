"""What a build shows while it runs."""

from banyan.agents.construction.graph import build_graph

from ... import scripted


def test_a_build_names_each_file_before_it_reads_it(tmp_path, hashed_embedder):
    shop = scripted.Workshop(tmp_path, hashed_embedder)
    paths = shop.write({"a.txt": "Ada:Person --employer--> Acme:Organization.", "b.csv": "name,city\nAda,Bonn\n"})
    with shop.resources() as resources:
        events = list(build_graph(resources).stream(shop.given(paths), stream_mode="custom"))
    begun = [(event["file"], event["done"]) for event in events if event["step"] == "read"]
    assert [file for file, _ in begun[:2]] == ["a.txt", "b.csv"]
    assert begun[-1] == ("b.csv", 2)
    assert {event["file"] for event in events if event["step"] != "read"} == {""}
