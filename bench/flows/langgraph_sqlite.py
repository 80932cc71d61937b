"""LangGraph with its SQLite saver: every step is a node, a wait is an interrupt, durability as strict as it has."""

import operator
import sqlite3
from pathlib import Path
from typing import Annotated, Any, TypedDict

from bench.flows.timing import Watch, main


def _saver(folder: Path) -> Any:
    from langgraph.checkpoint.sqlite import SqliteSaver

    db = sqlite3.connect(folder / "graph.db", check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    saver = SqliteSaver(db)
    saver.setup()
    return saver


class State(TypedDict):
    n: Annotated[int, operator.add]


def _one(state: State) -> dict[str, int]:
    return {"n": 1}


def _config(name: str, limit: int = 10_000) -> dict[str, Any]:
    return {"configurable": {"thread_id": name}, "recursion_limit": limit}


def chain(folder: Path, size: int) -> dict[str, float]:
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(State)
    for n in range(size):
        graph.add_node(f"s{n}", _one)
        graph.add_edge(f"s{n - 1}" if n else START, f"s{n}")
    graph.add_edge(f"s{size - 1}", END)
    app = graph.compile(checkpointer=_saver(folder))
    watch = Watch()
    found = app.invoke({"n": 0}, _config("run"), durability="sync")
    took = watch.s()
    assert found["n"] == size
    return {"s": took}


def fan(folder: Path, size: int) -> dict[str, float]:
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    graph = StateGraph(State)
    graph.add_node("one", _one)
    graph.add_node("join", _one)
    graph.add_conditional_edges(START, lambda state: [Send("one", {"n": 0}) for _ in range(size)], ["one"])
    graph.add_edge("one", "join")
    graph.add_edge("join", END)
    app = graph.compile(checkpointer=_saver(folder))
    watch = Watch()
    found = app.invoke({"n": 0}, _config("run"), durability="sync")
    took = watch.s()
    assert found["n"] == size + 1
    return {"s": took}


def waits(folder: Path, size: int) -> dict[str, float]:
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Command, interrupt

    def ask(state: State) -> dict[str, int]:
        return {"n": interrupt("go?")}

    graph = StateGraph(State)
    graph.add_node("before", _one)
    graph.add_node("ask", ask)
    graph.add_node("after", _one)
    graph.add_edge(START, "before")
    graph.add_edge("before", "ask")
    graph.add_edge("ask", "after")
    graph.add_edge("after", END)
    app = graph.compile(checkpointer=_saver(folder))
    watch = Watch()
    for number in range(size):
        app.invoke({"n": 0}, _config(str(number)), durability="sync")
    park_s = watch.s()
    watch = Watch()
    for number in range(size):
        found = app.invoke(Command(resume=1), _config(str(number)), durability="sync")
        assert found["n"] == 3
    return {"park_s": park_s, "signal_s": watch.s()}


if __name__ == "__main__":
    main({"chain": chain, "fan": fan, "waits": waits})
