"""Communities of real knowledge bases, to be read one by one: how many have one recognisable topic?

Run `python benchmarks/community_topics.py musique hut [--home FOLDER] [--each 6]`: prints for each base its communities
of the finest level, their modularity by triples, and a sample of them with up to twelve members' names. The sample is
the same each time, of communities with at least three members.
"""

import random
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from banyan.config import Settings
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.models.embedding.embedding_models import load_embedder
from rich.console import Console

LEAST, SHOWN, SEED = 3, 12, 7


def modularity(kb: KnowledgeBase) -> float:
    """Compute the share of triples within communities, less the share that chance would put there."""
    of = {entity: community.id for community in kb.communities.all() for entity in community.members}
    ends = [(of[head], of[tail]) for head, _, tail in kb.graph.edges() if head != tail]
    degrees = Counter(end for pair in ends for end in pair)
    within = sum(head == tail for head, tail in ends) / max(1, len(ends))
    return within - sum((degree / max(1, 2 * len(ends))) ** 2 for degree in degrees.values())


def main(bases: list[str], home: Path | None = None, each: Annotated[int, typer.Option(min=1)] = 6) -> None:
    """Print a sample of the communities of some knowledge bases."""
    settings, console = Settings(), Console(width=150)
    embedder = load_embedder(settings)
    for name in bases:
        with KnowledgeBase(Layout.of(home or settings.home, name).require(), embedder, any_embedding=True) as kb:
            communities = kb.communities.all()
            sizes = sorted((len(community.members) for community in communities), reverse=True)
            console.print(f"[bold]{name}[/]: {len(communities)} communities, the largest of {sizes[0]}; modularity "
                          f"{modularity(kb):.3f}")
            shown = [community for community in communities if len(community.members) >= LEAST]
            chance = random.Random(SEED)
            for community in chance.sample(shown, min(each, len(shown))):
                members = chance.sample(community.members, min(SHOWN, len(community.members)))
                console.print(f"  {len(community.members)}: {'; '.join(kb.graph.name(one) for one in members)}")


if __name__ == "__main__":
    typer.run(main)
