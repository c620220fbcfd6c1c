"""One HTML file that shows a knowledge tree, from the largest communities down to entities.

It needs no network and no other files, and is readable without scripts.

All text from documents is escaped. A content security policy in the page allows only its own style sheet and script,
by their hashes, so injected markup would have no effect.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from html import escape
from importlib.resources import files
from itertools import takewhile

from ..graph_store.graph.graph_file import KEYWORD_OF, MEMBER_OF, TreeGraph
from ..text.cleaning import printable, visible
from ..tools.sentence_links import SentenceLink
from .map_section import map_data, map_script, map_style

# The whole tree's limit in bytes: a page of 10 MB opens in seconds, a larger one takes up to minutes.
_TREE_BYTES = 8_000_000
# More than a person looks through; each community then still has at least 2,000 bytes.
_MOST_COMMUNITIES = 4_000
# Other members of a community, triples of a keyword, quotes of a triple; attributes of an entity, values of one.
_MOST_MEMBERS, _MOST_TRIPLES, _MOST_SOURCES = 60, 20, 2
_MOST_ATTRIBUTES, _MOST_VALUES = _MOST_TRIPLES, _MOST_SOURCES
# Longer texts are cut, in characters: a quote is usually a sentence, a summary a paragraph.
_QUOTE, _SUMMARY, _NAME = 300, 800, 200
# If there are many communities, a summary gets one character for this many bytes of its community's share: about a
# third of the share, at 3 bytes a character.
_SUMMARY_PART = 8


class TreeOutline:
    """The hierarchy of communities and entities, with the largest and best connected first."""

    def __init__(self, graph: TreeGraph) -> None:
        """Read the tree in a graph that `tree_graph` returned."""
        self._graph = graph

    @cached_property
    def communities(self) -> list[str]:
        """The ids of all communities: coarse before fine, then large before small."""
        ranked = [(-data["level"], -data["size"], node) for node, data in self._graph.nodes(data=True)
                 if data["kind"] == "community"]
        return [node for _, _, node in sorted(ranked)]

    @cached_property
    def entities(self) -> list[str]:
        """The ids of all entities."""
        return [node for node, data in self._graph.nodes(data=True) if data["kind"] == "entity"]

    @cached_property
    def roots(self) -> list[str]:
        """The communities without a parent, largest first."""
        roots = [node for node in self.communities if not self._graph.out_degree(node)]
        return sorted(roots, key=self._by_size)

    def children(self, community: str) -> list[str]:
        """Return the child communities of a community, largest first."""
        return sorted((node for node in self._inside(community) if self._kind(node) == "community"), key=self._by_size)

    def members(self, community: str) -> list[str]:
        """Return the entities of a community, those with most triples first; only the finest communities have any."""
        return sorted((node for node in self._inside(community) if self._kind(node) == "entity"),
                      key=lambda node: (-len(self.triples(node)), self._graph.nodes[node]["name"], node))

    def keywords(self, community: str) -> list[str]:
        """Return the keywords of a community, best first."""
        ranked = [(data["rank"], node) for node, _, data in self._graph.in_edges(community, data=True)
                 if data["kind"] == KEYWORD_OF]
        return [node for _, node in sorted(ranked)]

    def triples(self, entity: str) -> list[tuple[str, str, str]]:
        """Return the triples of an entity as (head, tail, key), those with most sources first."""
        edges = {(head, tail, key) for head, tail, key, data in [
            *self._graph.out_edges(entity, keys=True, data=True),
            *self._graph.in_edges(entity, keys=True, data=True)] if data["kind"] == "triple"}
        return sorted(edges, key=lambda edge: (-len(self._graph.edges[edge]["sources"]), edge[2], edge))

    def _inside(self, community: str) -> list[str]:
        """Return the ids of the communities and entities that are directly in a community."""
        return [node for node, _, key in self._graph.in_edges(community, keys=True) if key == MEMBER_OF]

    def _kind(self, node: str) -> str:
        return str(self._graph.nodes[node]["kind"])

    def _by_size(self, community: str) -> tuple[int, str]:
        return -self._graph.nodes[community]["size"], community


def page(graph: TreeGraph, links: Sequence[SentenceLink] = ()) -> Iterator[str]:
    """Write the page, in pieces: the map, the numbers, then the tree, largest communities first.

    A community opens to its keywords, their triples with supporting quotes, and the entities' attributes. If a limit
    leaves items out, the page shows how many.

    Args:
        graph: the graph with its tree.
        links: links between entities that the same sentences name, for the map; see `map_entities`.
    """
    style, script = map_style() + _resource("page.css"), map_script() + _resource("page.js")
    outline = TreeOutline(graph)
    name = _safe(str(graph.graph["name"]))
    policy = (f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
              "form-action 'none'")
    yield (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
           f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
           '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
           f'<meta name="referrer" content="no-referrer">\n<title>{name}</title>\n'
           # Cytoscape adds a style sheet, which the policy would refuse, unless there is one with this id.
           f'<style id="__________cytoscape_stylesheet">{style}</style>\n</head>\n'
           f'<body>\n<header><h1><bdi>{name}</bdi>: {_label("heading", "knowledge tree")}</h1>\n'
           f'<button id="language" type="button" data-needs-script hidden>{_label("other", "中文 / English")}</button>'
           "</header>\n<main>\n")
    yield from _map(graph, links)
    yield from _numbers(graph, outline)
    yield ('<section aria-labelledby="tree">'
           f'<h2 id="tree">{_label("tree", "Communities")}</h2>\n'
           f'<div class="filter" data-needs-script hidden><label for="query">{_label("filter", "Filter")}</label> '
           '<input id="query" type="search" autocomplete="off"> <span id="found" role="status"></span></div>\n')
    yield from _Tree(graph, outline).pieces()
    yield f"</section>\n</main>\n<script>{script}</script>\n</body>\n</html>\n"


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _safe(text: str, most: int = _NAME) -> str:
    """Escape text of a document for HTML, cut to `most` characters."""
    return escape(printable(visible(text if len(text) <= most else text[:most - 1] + "…")))


def _time(note: str | None) -> str:
    """Return when a fact holds, in brackets; "" if that is not known (None)."""
    return f' <span class="y">(<bdi>{_safe(note)}</bdi>)</span>' if note else ""


def _label(key: str, english: str, number: object = None) -> str:
    """Return one of the page's own texts as HTML, with the key by which the script translates it."""
    number_attribute = "" if number is None else f' data-n="{number}"'
    return f'<span data-t="{key}"{number_attribute}>{english}</span>'


def _more(count: int) -> str:
    return _label("more", f"and {count} more", count)


def _map(graph: TreeGraph, links: Sequence[SentenceLink]) -> Iterator[str]:
    """Write the map with its controls, hidden; the script shows it if there is anything to draw."""
    field = '<label>{} <input id="{}" list="map-names" autocomplete="off"></label>\n'
    yield ('<section id="map-section" aria-labelledby="map-title" hidden>'
           f'<h2 id="map-title">{_label("map", "Map")}</h2>\n<datalist id="map-names"></datalist>\n<div class="bar">'
           + field.format(_label("find", "Find an entity"), "map-found")
           + field.format(_label("way", "and the way to"), "map-to")
           + f'<span id="map-way" role="status" hidden>{_label("noway", "There is no way between them here.")}</span>\n'
           f'<label id="map-years" hidden>{_label("year", "Year")} <input id="map-year" type="range"> '
           '<output id="map-year-said"></output></label></div>\n'
           '<div class="drawn"><div id="map" tabindex="0" role="application" aria-labelledby="map-title"></div>'
           '<div id="map-panel" tabindex="0" role="region" aria-labelledby="map-title"></div></div>\n'
           '<p class="m" id="map-legend"></p>\n'
           f'<p class="m">{_label("lines", "Lines are facts; dotted lines join what one sentence names.")}</p>\n')
    yield f'<div id="map-data" hidden>{map_data(graph, links)}</div>\n</section>\n'


def _numbers(graph: TreeGraph, outline: TreeOutline) -> Iterator[str]:
    """Write the table with the numbers of documents, entities, triples, values and communities, and the schema."""
    level_sizes = Counter(graph.nodes[node]["level"] for node in outline.communities)
    kinds = [data["kind"] for *_, data in graph.edges(data=True)]
    value_count = sum(len(values) for node in outline.entities
                      for values in graph.nodes[node]["attributes"].values())
    about = graph.graph
    rows = [(_label("documents", "documents"), about["documents"]),
            (_label("entities", "entities"), len(outline.entities)),
            (_label("triples", "triples"), kinds.count("triple")),
            (_label("attributes", "attribute values"), value_count)]
    rows += [(_label("level", f"communities of level {level} (0: the finest)", level), size)
             for level, size in sorted(level_sizes.items())]
    outside_count = sum(not any(data["kind"] == MEMBER_OF for *_, data in graph.out_edges(node, data=True))
                        for node in outline.entities)
    if outside_count:
        rows.append((_label("outside", "entities in no community"), outside_count))
    if about["schema"]:
        rows.append((_label("schema", f"schema (version {about['schema_version']})", about["schema_version"]),
                     f"<bdi>{_safe(about['schema'])}</bdi>"))
    yield f'<section aria-labelledby="numbers"><h2 id="numbers">{_label("numbers", "Numbers")}</h2>\n<table>\n'
    yield from (f'<tr><th scope="row">{name}</th><td>{value}</td></tr>\n' for name, value in rows)
    yield "</table>\n"
    if not about["current"]:
        yield f'<p>{_label("behind", "The tree is out of date: build again, or run banyan reindex.")}</p>\n'
    yield "</section>\n"


class _Tree:
    """Writes the nested communities; each may take an equal share of the page's size (`_share`, in bytes)."""

    def __init__(self, graph: TreeGraph, outline: TreeOutline) -> None:
        self._graph = graph
        self._outline = outline
        self._shown = set(outline.communities[:_MOST_COMMUNITIES])
        self._share = _TREE_BYTES // max(1, len(self._shown))

    def pieces(self) -> Iterator[str]:
        """Write the tree, one piece for each of the coarsest communities."""
        size = f"{_TREE_BYTES // 1_000_000} MB"
        limits = f"{_MOST_COMMUNITIES} / {_MOST_TRIPLES} / {_MOST_MEMBERS} / {_MOST_SOURCES}; {size}"
        yield "<p>" + _label("capped", "Where this page omits items, it shows how many; "
                                       "the JSON export contains everything.")
        yield " " + _label("limits", f"At most {_MOST_COMMUNITIES} communities, {_MOST_TRIPLES} triples of a keyword, "
                                     f"{_MOST_MEMBERS} other members of a community, {_MOST_SOURCES} quotes of a "
                                     f"triple; fewer where all would be more than {size}.",
                               limits) + "</p>\n"
        if not self._outline.roots:
            yield f'<p>{_label("empty", "This knowledge base has no communities yet.")}</p>\n'
        yield from self._branches(self._outline.roots)

    def _branches(self, communities: Sequence[str]) -> Iterator[str]:
        """Write those of some communities that are shown, and how many are left out."""
        shown = [node for node in communities if node in self._shown]
        for node in shown:
            yield self._community(node)
        if len(shown) < len(communities):
            yield f"<p>{_more(len(communities) - len(shown))}</p>\n"

    def _community(self, node: str) -> str:
        """Write a community with its summary, its keywords, and the communities or other members within it."""
        data, keywords = self._graph.nodes[node], self._outline.keywords(node)
        title = data["name"] or ", ".join(self._graph.nodes[keyword]["name"] for keyword in keywords)
        size, cohesion = data["size"], f"{data['cohesion']:.2f}"
        head = (f'<details class="c"><summary><bdi>{_safe(title)}</bdi> <span class="m">'
                f'{_label("size", f"{size} entities", size)}, '
                f'{_label("cohesion", f"cohesion {cohesion}", cohesion)}</span></summary>\n')
        if data["summary"]:
            most = min(_SUMMARY, self._share // _SUMMARY_PART)
            head += f'<p class="s"><bdi>{_safe(data["summary"], most)}</bdi></p>\n'
        room = _Room(self._share - len(head.encode()))
        body = self._keywords(keywords, room)
        children = self._outline.children(node)
        if children:
            return head + body + "".join(self._branches(children)) + "</details>\n"
        return head + body + self._members(node, set(keywords), room) + "</details>\n"

    def _keywords(self, keywords: Sequence[str], room: "_Room") -> str:
        """Write the keywords that fit the rest of a community's share, and how many are left out."""
        items = [item for node in keywords if (item := self._keyword(node, room))]
        rest = f"<li>{_more(len(keywords) - len(items))}</li>\n" if len(items) < len(keywords) else ""
        return f'<p class="m">{_label("keywords", "Keywords")}</p>\n<ul class="k">\n{"".join(items)}{rest}</ul>\n'

    def _keyword(self, node: str, room: "_Room") -> str:
        """Write a keyword with as many triples as fit, or "" if the keyword itself does not fit."""
        head = f"<li><details><summary>{self._entity(node)}</summary>{self._attributes(node)}<ul>"
        if not room.takes(head):
            return ""
        triples = self._outline.triples(node)
        shown = room.fill(self._triple(node, edge) for edge in triples[:_MOST_TRIPLES])
        rest = f"<li>{_more(len(triples) - len(shown))}</li>" if len(shown) < len(triples) else ""
        return f"{head}{''.join(shown)}{rest}</ul></details></li>\n"

    def _entity(self, node: str) -> str:
        data = self._graph.nodes[node]
        return f'<bdi>{_safe(data["name"])}</bdi> <span class="y">{_safe(data["type"])}</span>'

    def _attributes(self, node: str) -> str:
        """Write the first attributes of an entity as a list, each with its first values and their times; "" if none."""
        attributes = self._graph.nodes[node]["attributes"].items()
        times = self._graph.nodes[node].get("times", {})
        lines = [f'<li><span class="r">{_safe(name)}</span>: '
                 + ", ".join(f"<bdi>{_safe(value)}</bdi>{_time(times.get(name, {}).get(value))}"
                             for value in list(values)[:_MOST_VALUES])
                 + (f" {_more(len(values) - _MOST_VALUES)}" if len(values) > _MOST_VALUES else "") + "</li>"
                 for name, values in list(attributes)[:_MOST_ATTRIBUTES]]
        if len(attributes) > _MOST_ATTRIBUTES:
            lines.append(f"<li>{_more(len(attributes) - _MOST_ATTRIBUTES)}</li>")
        return f"<ul>{''.join(lines)}</ul>" if lines else ""

    def _triple(self, seen_from: str, edge: tuple[str, str, str]) -> str:
        """Write a triple (head, tail, relation) with quotes, and the attributes of the end that is not `seen_from`."""
        head, tail, relation = edge
        nodes, sources = self._graph.nodes, self._graph.edges[edge]["sources"]
        quotes = [f'<blockquote><bdi>{_safe(source["quote"], _QUOTE)}</bdi><cite>{_safe(source["document"])}</cite>'
                  "</blockquote>" for source in sources[:_MOST_SOURCES]]
        rest = f"<p>{_more(len(sources) - len(quotes))}</p>" if len(quotes) < len(sources) else ""
        return (f'<li><details><summary><bdi>{_safe(nodes[head]["name"])}</bdi> <span class="r">{_safe(relation)}'
                f'</span> <bdi>{_safe(nodes[tail]["name"])}</bdi>{_time(self._graph.edges[edge].get("time"))}</summary>'
                f'{"".join(quotes)}{rest}'
                f"{self._attributes(tail if head == seen_from else head)}</details></li>\n")

    def _members(self, community: str, keywords: set[str], room: "_Room") -> str:
        """Write the members of a community that are not its keywords, as many as fit; "" if there are none."""
        others = [node for node in self._outline.members(community) if node not in keywords]
        shown = room.fill(f"<li>{self._entity(node)}</li>" for node in others[:_MOST_MEMBERS])
        rest = f"<li>{_more(len(others) - len(shown))}</li>" if len(shown) < len(others) else ""
        if not others:
            return ""
        return f'<p class="m">{_label("members", "Other members")}</p>\n<ul>{"".join(shown)}{rest}</ul>\n'


class _Room:
    """The rest of a community's share, in bytes."""

    def __init__(self, size: int) -> None:
        self._left = size

    def takes(self, part: str) -> bool:
        """Take a part's bytes out of the share, and return True if it fitted; after one that did not, none does."""
        self._left -= len(part.encode())
        return self._left >= 0

    def fill(self, parts: Iterable[str]) -> list[str]:
        """Return the parts that fit, up to the first that does not."""
        return list(takewhile(self.takes, parts))
