"""Cypher statements for Neo4j (5 and later) and what understands it, as `cypher-shell --file` runs them.

All that documents say stands in string literals. Types and relations become labels, which cannot be literals: they
are quoted, and what a quoted name could still be broken out of with is replaced.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

