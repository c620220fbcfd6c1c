"""Graphs with planted communities: typed relations, topical embeddings, noise in each.

The communities come in pairs. The two of every other pair share their topic and differ in relations and
links (only the structure tells them apart); the two of the rest share relations and links and differ in
topic (only the semantics does). Whoever sees one signal alone can find but three quarters of the groups.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DIMENSION = 384  # of the default embedding model
_RELATIONS = 60
_RELATIONS_OF_COMMUNITY = 4
_COMMUNITY = 50
_TRIPLES_PER_ENTITY = 2


@dataclass(frozen=True)
class Planted:
    """A graph and the community of each entity."""

    vectors: NDArray[np.float32]
    relation_vectors: NDArray[np.float32]
    triples: list[tuple[int, int, int]]
    truth: NDArray[np.intp]


def planted(entities: int, structure_noise: float, semantic_noise: float, seed: int = 0) -> Planted:
    """Plant communities of about 50 entities.

    Args:
        entities: how many.
        structure_noise: share of the triples that end anywhere, and share of those with any relation.
        semantic_noise: length of the random vector that is added to an entity's topic, of length 1.
        seed: of the random numbers.
    """
    chance = np.random.default_rng(seed)
    count = max(4, entities // _COMMUNITY // 4 * 4)
    sizes = chance.lognormal(0.0, 0.5, count)
    truth = chance.choice(count, entities, p=sizes / sizes.sum())
    first_of_pair, semantic_pair = np.arange(count) // 2 * 2, np.arange(count) // 2 % 2 == 1
    topic = np.where(semantic_pair, np.arange(count), first_of_pair)
    block = np.where(semantic_pair, first_of_pair, np.arange(count))

    noise = chance.standard_normal((entities, DIMENSION), np.float32) / np.sqrt(DIMENSION, dtype=np.float32)
    vectors = _unit(_unit(chance.standard_normal((count, DIMENSION), np.float32))[topic[truth]]
                    + np.float32(semantic_noise) * noise)
    heads = chance.integers(0, entities, entities * _TRIPLES_PER_ENTITY)
    m = len(heads)
    of_block = block[truth]
    order = np.argsort(of_block, kind="stable")
    wanted = of_block[heads]
    start, size = np.searchsorted(of_block[order], wanted), np.bincount(of_block, minlength=count)[wanted]
    tails = order[start + (chance.random(m) * size).astype(np.intp)]
    tails = np.where(chance.random(m) < structure_noise, chance.integers(0, entities, m), tails)
    profiles = np.stack([chance.choice(_RELATIONS, _RELATIONS_OF_COMMUNITY, replace=False) for _ in range(count)])
    kinds = profiles[wanted, chance.integers(0, _RELATIONS_OF_COMMUNITY, m)]
    kinds = np.where(chance.random(m) < structure_noise, chance.integers(0, _RELATIONS, m), kinds)
    kept = heads != tails
    return Planted(vectors, _unit(chance.standard_normal((_RELATIONS, DIMENSION), np.float32)),
                   list(zip(heads[kept].tolist(), kinds[kept].tolist(), tails[kept].tolist(), strict=True)), truth)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
