"""The graph in the index: its columns as arrays of the file, which are read where they are mapped."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ..graph.graph_columns import (
    GraphColumns,
    MentionTable,
    SupportTable,
    TripleTimeTable,
    ValueTable,
    ValueTimeTable,
)
from ..graph.knowledge_graph import KnowledgeGraph
from ..graph.superseding import LaterDates
from . import columns
from .array_file import Arrays
from .columns import Ids, LazySequence, Rows, Texts

_TABLES: dict[str, Any] = {"mentions": MentionTable, "support": SupportTable, "triple_times": TripleTimeTable,
                           "values": ValueTable, "value_times": ValueTimeTable}


def graph_arrays(graph: KnowledgeGraph, triples: Rows, chunks: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Build the arrays of `stored_graph`.

    Args:
        graph: the graph.
        triples: the rows of its triples that are stored, ascending.
        chunks: True for the chunks whose facts and values are stored, by the numbers of their ids, shape (texts,).
    """
    part, number = graph.columns.part(triples, chunks), {int(row): place for place, row in enumerate(triples)}
    later = {"triples": [(number[row], dates) for row, dates in graph.later.triples.items() if row in number],
             "values": list(graph.later.values.items())}
    return {**columns.ids("entities", part.ids), **columns.texts("graph.texts", part.texts),
            "graph.types": part.types, "graph.names": part.names, "graph.triples": part.triples,
            "graph.later": np.frombuffer(orjson.dumps(later), np.uint8),
            **{f"{name}.{column}": values for name in _TABLES
               for column, values in getattr(part, name)._asdict().items()}}


def stored_graph(arrays: Arrays) -> KnowledgeGraph:
    """Return the graph that an index has."""
    ids, later = Ids(arrays, "entities"), orjson.loads(arrays["graph.later"].tobytes())
    tables: dict[str, Any] = {name: table(*(arrays[f"{name}.{column}"] for column in table._fields))
                              for name, table in _TABLES.items()}
    entities: Sequence[str] = LazySequence(len(ids), ids.at)
    return KnowledgeGraph(
        GraphColumns(Texts(arrays, "graph.texts"), entities, arrays["graph.types"], arrays["graph.names"],
                     arrays["graph.triples"], **tables),
        LaterDates(dict(later["triples"]), {tuple(key): dates for key, dates in later["values"]}), ids)
