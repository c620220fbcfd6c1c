"""Stage times: who listens hears of all threads that work for it, and nobody else."""

import threading
from typing import Annotated

import pytest
from banyan.tools import timing
from banyan.tools.timing import listening, stage
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only when a test says so."""
    now = [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])
    return now


def test_stages_add_up_by_name(clock):
    with listening() as times:
        for seconds, name in ((1, "embed"), (2, "fuse"), (4, "embed")):
            with stage(name):
                clock[0] += seconds
            clock[0] += 100
    assert times.milliseconds() == {"embed": 5000, "fuse": 2000}


def test_a_stage_within_a_stage_counts_once(clock):
    with listening() as times, stage("reflect"):
        clock[0] += 1
        with stage("dfs"):
            clock[0] += 2
            with stage("embed"):
                clock[0] += 4
        clock[0] += 8
    assert times.milliseconds() == {"reflect": 9000, "dfs": 2000, "embed": 4000}


def test_a_stage_that_fails_is_timed_and_hides_nothing(clock):
    with listening() as times:
        with pytest.raises(ZeroDivisionError), stage("fuse"):
            clock[0] += 3
            raise ZeroDivisionError
        with stage("embed"):
            clock[0] += 1
    assert times.milliseconds() == {"fuse": 3000, "embed": 1000}


def test_listeners_do_not_hear_of_each_other(clock):
    with stage("embed"):
        clock[0] += 1
    with listening() as outer:
        with listening() as inner, stage("fuse"):
            clock[0] += 2
        with stage("dfs"):
            clock[0] += 4
    with stage("embed"):
        clock[0] += 8
    assert outer.milliseconds() == {"dfs": 4000}
    assert inner.milliseconds() == {"fuse": 2000}


def test_the_threads_of_a_graph_are_heard():
    class State(TypedDict, total=False):
        threads: Annotated[list[int], list.__add__]

    together = threading.Barrier(3, timeout=30)

    def node(name):
        def work(_):
            with stage(name):
                together.wait()
                return {"threads": [threading.get_ident()]}

        return work

    graph = StateGraph(State)
    for name in ("entity", "triple", "dfs"):
        graph.add_node(name, node(name))
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    with listening() as times:
        state = graph.compile().invoke({"threads": []})
    assert len(set(state["threads"])) == 3, "three nodes at once need three threads"
    assert set(times.milliseconds()) == {"entity", "triple", "dfs"}
    assert min(times.milliseconds().values()) > 0
