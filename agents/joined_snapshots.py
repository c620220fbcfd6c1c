"""The snapshots from which one question is answered: of one knowledge base, or of several."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property

from ..graph_store.joined_documents import JoinedDocuments, SourceDocuments
from ..graph_store.layout import split_names
from ..graph_store.scopes import ScopeError, documents_in
from ..schemas.documents import Scope
from ..tools.several_bases import Retrievers
from .snapshots import Snapshot, Snapshots


class JoinedSnapshots:
    """Leased snapshots by the names of their knowledge bases, in the order in which a question names them."""

    def __init__(self, snapshots: Mapping[str, Snapshot]) -> None:
        self.by_name = snapshots

        self.payer = next(iter(snapshots))
        """The first base: on its accounts is recorded what a question costs."""
        self.calls = snapshots[self.payer].calls
        """The accounts of the payer."""

    @cached_property
    def retrievers(self) -> Retrievers:
        """The retriever of each base; of one alone, under the name ""."""
        return {name if len(self.by_name) > 1 else "": snapshot.retriever for name, snapshot in self.by_name.items()}

    @property
    def documents(self) -> SourceDocuments:
        """The documents that an answer cites."""
        documents = {name: snapshot.kb.documents for name, snapshot in self.by_name.items()}
        return JoinedDocuments(documents) if len(documents) > 1 else next(iter(documents.values()))


@contextmanager
def lease_together(snapshots: Snapshots, names: str, scope: Scope) -> Iterator[JoinedSnapshots]:
    """Yield the newest snapshots of knowledge bases, named with commas between, or of some of their documents.

    Of several bases, those without a document of the scope are left out.

    Raises:
        ScopeError: no base has a document of the scope.
    """
    leased, failure = dict[str, Snapshot](), None
    all_names = split_names(names)
    with ExitStack() as leases:
        for name in all_names:
            if len(all_names) > 1 and not scope.is_everything:
                try:
                    with snapshots.lease(name) as whole:
                        documents_in(whole.kb.documents, scope)
                except ScopeError as error:
                    failure = error
                    continue
            leased[name] = leases.enter_context(snapshots.lease(name, scope))
        if failure and not leased:
            raise failure
        yield JoinedSnapshots(leased)


def begin_question(snapshots: Snapshots, leased: JoinedSnapshots) -> str:
    """Return the tickets for leased snapshots, with commas between; see `Snapshots.begin_question`."""
    return ",".join(map(snapshots.begin_question, leased.by_name.values()))


@contextmanager
def resume_question(snapshots: Snapshots, tickets: str, names: str, scope: Scope) -> Iterator[JoinedSnapshots]:
    """Yield the snapshots that a question began with; see `Snapshots.resume_question`."""
    with ExitStack() as leases:
        yield JoinedSnapshots({name: leases.enter_context(snapshots.resume_question(ticket, name, scope))
                               for name, ticket in zip(split_names(names), tickets.split(","), strict=True)})


def end_question(snapshots: Snapshots, tickets: str) -> None:
    """End the leases of a question."""
    for ticket in tickets.split(","):
        snapshots.end_question(ticket)
