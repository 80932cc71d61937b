"""The rules of runs: what may be started, where it runs, and how a tree ends."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.errors import Refused
from greenroom.link.orders import CancelOrder, EndOrder, StartOrder
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.link.reports import read_report
from greenroom.rules.access.model import HUB, RIGHTS, Principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.agents.profiles import PutProfile
from greenroom.rules.nodes.model import NODES, ORDERS, ConnectNode, JoinNode
from greenroom.rules.runs.commands import (
    CancelRun,
    EndAgent,
    ExtendRun,
    NodeItem,
    PauseLoop,
    PlaceRun,
    StartRun,
    TakeItem,
)
from greenroom.rules.runs.events import RunCreated
from greenroom.rules.runs.model import LIVE, RUNS, TREES, AgentContext, Constraints, Run
from greenroom.rules.runs.queries import find_placeable
from tests.rules.present import Present

DRIVERS = {"rehearsal": "1"}


class Room(Present):
    """A present with a node and profiles, in which runs are started and spoken for."""

    def __init__(self, capacity: int = 100, **profiles: dict[str, Any]) -> None:
        super().__init__()
        self._number = 0
        self.node("one", capacity=capacity)
        for name, fields in (profiles or {"actor": {}}).items():
            self.do(PutProfile(by=HUB, name=name, definition=ProfileDefinition(driver="rehearsal", **fields)))

    def node(self, name: str, capacity: int = 100, labels: tuple[str, ...] = ()) -> None:
        self.do(JoinNode(by=HUB, node_id=name, name=name, credential_id=f"cred_{name}", digest=name))
        by = Principal(id=name, kind="node", name=name, rights=RIGHTS["node"], agent_id=name)
        hello = ConnectNode(by=by, node_id=name, boot="b", labels=list(labels), capacity=capacity, drivers=DRIVERS)
        self.do(hello)

    def start(self, profile: str = "actor", under: Run | None = None, by: Principal = HUB, **fields: Any) -> Run:
        """Start a run; one under another is started by that one's agent, as agents do."""
        self._number += 1
        self.now += 1
        number = f"{self._number:04}"
        ids = {"run_id": f"run_{number}", "agent_id": f"agt_{number}", "order_id": f"ord_{number}"}
        who = by if under is None else self.agent(under)
        events = self.do(StartRun(by=who, profile=profile, prompt="x", **ids, **fields))
        (created,) = [event for event in events if isinstance(event, RunCreated)]
        return self.run(created.run_id)

    def agent(self, run: Run) -> Principal:
        """The agent of a run, as its credential says."""
        id = run.agent_id
        return Principal(id=id, kind="agent", name=id, rights=RIGHTS["agent"], agent_id=id)

    def run(self, run_id: str) -> Run:
        found: Run = self.get(RUNS, run_id)
        return found

    def hear(self, run: Run, **heard: Any) -> Run:
        """The run's node has heard something."""
        node = self.get(NODES, run.node_id)
        by = Principal(id=node.id, kind="node", name=node.id, rights=RIGHTS["node"], agent_id=node.id)
        item = NodeItem(number=node.taken + 1, run_id=run.id, at=self.now, heard=read_report(heard))
        self.do(TakeItem(by=by, node_id=node.id, epoch=node.epoch, item=item, order_id=f"ord_{node.id}_{node.taken}"))
        return self.run(run.id)

    def end(self, run: Run) -> Run:
        """The run's agent has done its turn."""
        self.hear(run, type="opened", session="s", credential="c")
        return self.hear(run, type="turn_ended", reason="done", text="")

    def process(self, run: Run) -> str:
        return str(self.get(AGENTS, run.agent_id).process)

    def refusal(self, *args: Any, **fields: Any) -> str:
        with pytest.raises(Refused) as no:
            self.start(*args, **fields)
        return no.value.code


@pytest.mark.parametrize(("connection", "number", "code"), [(1, 1, "stale_epoch"), (2, 5, "gap")])
def test_what_comes_over_an_older_connection_or_after_a_gap_is_not_taken(
    connection: int, number: int, code: str
) -> None:
    """The hub that still has the older connection may not be the one that the node has dialled since."""
    room = Room()
    run = room.start()
    by = Principal(id="one", kind="node", name="one", rights=RIGHTS["node"], agent_id="one")
    room.do(ConnectNode(by=by, node_id="one", boot="b", labels=[], capacity=1, drivers=DRIVERS))
    assert room.get(NODES, "one").epoch == 2
    opened = {"type": "opened", "session": "s", "credential": "c"}
    item = NodeItem(number=number, run_id=run.id, at=room.now, heard=opened)
    with pytest.raises(Refused) as no:
        room.do(TakeItem(by=by, node_id="one", epoch=connection, item=item, order_id="ord_x"))
    assert no.value.code == code
    assert room.run(run.id) == run


def test_a_tree_is_as_deep_as_the_root_says_and_no_deeper() -> None:
    room = Room(actor={"max_depth": 2})
    child = room.start(under=room.start())
    grandchild = room.start(under=child)
    assert (grandchild.depth, grandchild.root_id, grandchild.parent_id) == (2, "run_0001", child.id)
    assert room.refusal(under=grandchild) == "too_deep"


def test_so_many_children_at_once_and_again_when_one_has_ended() -> None:
    room = Room(actor={"max_children": 2})
    root = room.start()
    first, _ = room.start(under=root), room.start(under=root)
    assert room.refusal(under=root) == "too_many_children"
    room.end(first)
    assert room.start(under=root).parent_id == root.id


def test_agents_do_not_start_each_other_in_a_circle_but_more_of_their_own_kind() -> None:
    room = Room(alice={}, bob={})
    bob = room.start("bob", under=room.start("alice"))
    assert room.refusal("alice", under=bob) == "cycle"
    assert room.start("bob", under=bob).path == ["alice", "bob", "bob"]


@pytest.mark.parametrize(
    ("limits", "usage"),
    [({"max_tokens": 100}, {"input_tokens": 90, "output_tokens": 20}), ({"max_cost_usd": 0.5}, {"cost_usd": 0.6})],
)
def test_a_tree_that_has_used_its_budget_starts_nobody_and_waits_for_a_person(
    limits: dict[str, Any], usage: dict[str, Any]
) -> None:
    room = Room(actor=limits)
    root = room.start()
    child = room.start(under=root)
    room.hear(child, type="opened", session="s", credential="c")
    child = room.hear(child, type="usage", **{"input_tokens": 0, "output_tokens": 0, **usage})
    assert child.status == "waiting"
    assert room.refusal(under=root) == "budget_used"
    assert room.get(TREES, root.id).tombstone is None


@pytest.mark.parametrize(
    ("limits", "usage"),
    [({"max_tokens": 100}, {"input_tokens": 90, "output_tokens": 20}), ({"max_cost_usd": 0.5}, {"cost_usd": 0.6})],
)
def test_what_a_profile_may_use_holds_below_a_root_that_may_use_more(
    limits: dict[str, Any], usage: dict[str, Any]
) -> None:
    room = Room(chief={"max_tokens": 10_000, "max_cost_usd": 100}, worker=limits)
    root = room.start("chief")
    child = room.start("worker", under=root)
    room.hear(child, type="opened", session="s", credential="c")
    child = room.hear(child, type="usage", **{"input_tokens": 0, "output_tokens": 0, **usage})
    assert child.is_paused
    assert str(child.waiting_for).startswith("limit: the run has used")
    assert room.start("worker", under=root).status == "pending"
    room.do(ExtendRun(by=HUB, run_id=child.id, order_id="e", max_tokens=1000, max_cost_usd=5.0))
    assert room.hear(child, type="usage", **{"input_tokens": 0, "output_tokens": 0, **usage}).status == "running"


def test_what_a_cancelled_run_has_used_is_booked_and_that_a_model_call_of_it_was_cut_off() -> None:
    room = Room(actor={"max_tokens": 100})
    run = room.start()
    room.hear(run, type="opened", session="s", credential="c")
    room.do(CancelRun(by=HUB, run_id=run.id, order_seed="x"))
    room.hear(run, type="usage", input_tokens=90, output_tokens=20, cost_usd=0.5)
    room.hear(run, type="said", text="too late")
    ended = room.hear(run, type="model_call_cut")
    assert (ended.status, ended.input_tokens, ended.output_tokens, ended.cost_usd) == ("cancelled", 90, 20, 0.5)
    assert (ended.is_usage_partial, ended.items) == (True, 3)
    assert (room.get(TREES, run.id).tokens, room.get(TREES, run.id).cost_usd) == (110, 0.5)


def test_only_the_hub_takes_a_run_for_one_that_asks_it_the_same_again_and_again() -> None:
    room = Room()
    run = room.start()
    room.hear(run, type="opened", session="s", credential="c")
    seen = PauseLoop(by=HUB, run_id=run.id, order_id="o", tool="agent_list", arguments={}, times=10)
    with pytest.raises(Refused, match="Only the hub"):
        room.do(msgspec.structs.replace(seen, by=msgspec.structs.replace(HUB, kind="agent")))
    room.do(seen)
    assert room.run(run.id).is_paused
    assert "made the same call 10 times" in str(room.run(run.id).waiting_for)


@pytest.mark.parametrize(("max_duration", "timeout_s"), [(500, 1), (90_000, 90), (None, 3600), (9_000_000, 3600)])
def test_a_caller_narrows_the_time_of_a_run_and_never_widens_it(max_duration: int | None, timeout_s: int) -> None:
    context = AgentContext(constraints=Constraints(max_duration=max_duration))
    assert Room().start(context=context).timeout_s == timeout_s


def test_an_agent_has_no_more_time_than_is_left_to_the_one_that_starts_it() -> None:
    room = Room(chief={"timeout_s": 60}, worker={"timeout_s": 3600})
    root = room.start("chief")
    assert room.start("worker", under=root).timeout_s == 3600, "the time of its caller has not begun"
    room.hear(root, type="opened", session="s", credential="c")
    room.now += 45_000
    child = room.start("worker", under=root)
    assert 14 <= child.timeout_s <= 15
    room.now += 60_000
    assert room.start("worker", under=root).timeout_s == 1


def test_after_the_tombstone_nothing_starts_and_nothing_is_placed() -> None:
    room = Room(capacity=2)
    root = room.start()
    child = room.start(under=root)
    late = room.start(under=root)
    assert late.status == "pending"
    assert late.node_id is None
    room.do(CancelRun(by=HUB, run_id=root.id, order_seed="c"))
    assert {room.run(run.id).status for run in (root, child, late)} == {"cancelled"}
    assert room.refusal(under=root) in ("tree_cancelled", "cannot_spawn")
    assert find_placeable(room) == []
    room.do(PlaceRun(by=HUB, run_id=late.id, order_id="o"))
    assert not [order for order in room.find(ORDERS) if order.run_id == late.id and isinstance(order.work, StartOrder)]
    cancels = [order.run_id for order in room.find(ORDERS) if isinstance(order.work, CancelOrder)]
    assert sorted(cancels) == [root.id, child.id]


def test_an_agent_that_may_not_spawn_or_is_at_no_run_starts_nobody() -> None:
    room = Room(actor={"may_spawn": False}, free={})
    root = room.start()
    assert room.refusal("free", under=root) == "cannot_spawn"
    ended = room.end(room.start("free"))
    assert room.refusal("free", under=ended) == "cannot_spawn"
    foreign = room.start("free")
    assert room.refusal("free", under=room.start("free"), parent_id=foreign.id) == "cannot_spawn"


def test_an_agent_takes_up_agents_that_were_started_below_it_and_no_others() -> None:
    room = Room()
    mine = room.start()
    helper = room.end(room.start(under=mine, keep_as="helper"))
    room.end(room.start(keep_as="stranger"))
    assert room.start(under=mine, agent="helper").agent_id == helper.agent_id
    assert room.refusal(under=mine, agent="stranger") == "agent_not_kept"
    assert room.refusal(under=mine, agent="nobody") == "agent_not_kept"


def test_a_full_node_ends_who_idles_longest_and_queues_when_nobody_does() -> None:
    room = Room(capacity=3)
    kept = [room.end(room.start(keep_as=name)) for name in ("a", "b")]
    assert [room.process(run) for run in kept] == ["idle", "idle"]
    room.start()
    assert [room.process(run) for run in kept] == ["idle", "idle"]
    room.start()
    assert [room.process(run) for run in kept] == ["asleep", "idle"]
    assert [order.agent_id for order in room.find(ORDERS) if isinstance(order.work, EndOrder)] == [kept[0].agent_id]
    third = room.start()
    assert [room.process(run) for run in kept] == ["asleep", "asleep"]
    queued, reused = room.start(), room.start(agent="a")
    assert [(run.status, run.node_id) for run in (queued, reused)] == [("pending", None), ("pending", None)]
    room.end(third)
    assert [run.id for run in find_placeable(room)] == [queued.id, reused.id]
    room.do(PlaceRun(by=HUB, run_id=reused.id, order_id="o1"))
    assert room.process(kept[0]) == "starting"
    assert find_placeable(room) == []


def test_of_many_that_wait_as_many_are_placed_as_fit_and_none_holds_up_another_kind() -> None:
    room = Room(capacity=2, actor={}, far={"labels": ["gpu"]})
    room.node("two", capacity=1, labels=("gpu",))
    far = room.start("far")
    first = [room.start() for _ in range(2)]
    actors, beyond = [room.start() for _ in range(5)], [room.start("far") for _ in range(2)]
    assert find_placeable(room) == []
    room.end(first[0])
    assert [run.id for run in find_placeable(room)] == [actors[0].id]
    room.end(far)
    found = [run.id for run in find_placeable(room)]
    assert found == [actors[0].id, actors[1].id, *[run.id for run in beyond]]
    for run_id in found:
        room.do(PlaceRun(by=HUB, run_id=run_id, order_id=f"o{run_id}"))
    assert [room.run(run_id).node_id is not None for run_id in found] == [True, True, False, False]
    assert find_placeable(room) == []


def test_a_kept_agent_that_has_its_process_goes_on_though_the_node_is_full() -> None:
    room = Room(capacity=1)
    kept = room.end(room.start(keep_as="a"))
    again = room.start(agent="a")
    assert (again.agent_id, again.node_id) == (kept.agent_id, "one")
    assert not [order for order in room.find(ORDERS) if isinstance(order.work, EndOrder)]


def test_a_kept_agent_goes_on_where_its_conversation_is() -> None:
    room = Room(capacity=1)
    room.end(room.start(keep_as="a"))
    room.do(EndAgent(by=HUB, agent_id="agt_0001", order_id="e"))
    room.start()
    room.node("two")
    again = room.start(agent="a")
    assert (again.status, again.node_id) == ("pending", None)
    assert find_placeable(room) == []


def test_labels_choose_the_node_and_none_that_fits_is_refused() -> None:
    room = Room(actor={}, gpu={"labels": ["gpu"]}, odd={"labels": ["gpu", "arm"]})
    room.node("two", labels=("gpu", "linux"))
    assert room.start("gpu").node_id == "two"
    assert room.refusal("odd") == "no_node"


steps = st.lists(
    st.tuples(
        st.sampled_from(["spawn", "spawn", "spawn", "end", "cancel"]), st.integers(0, 30), st.sampled_from("abc")
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(steps=steps, depth=st.integers(0, 3), children=st.integers(0, 3))
def test_whatever_agents_try_the_tree_keeps_its_limits(steps: list[Any], depth: int, children: int) -> None:
    fields = {"max_depth": depth, "max_children": children}
    room = Room(capacity=8, a=fields, b=fields, c=fields)
    runs = [room.start("a")]
    cancelled = False
    for what, which, profile in steps:
        run = room.run(runs[which % len(runs)].id)
        if what == "spawn":
            try:
                child = room.start(profile, under=run)
            except Refused:
                continue
            assert not cancelled
            assert run.status in LIVE
            runs.append(child)
        elif what == "end" and run.status in LIVE and run.node_id is not None:
            room.end(run)
        elif what == "cancel" and which == 0:
            room.do(CancelRun(by=HUB, run_id=runs[0].id, order_seed=f"c{len(runs)}"))
            cancelled = True
    found = [room.run(run.id) for run in runs]
    assert all(run.depth <= depth for run in found)
    for run in found:
        below = [child for child in found if child.parent_id == run.id and child.status in LIVE]
        assert len(below) <= children
        changes = [name for name, before in zip(run.path[1:], run.path, strict=False) if name != before]
        assert len(set(changes)) == len(changes)
        assert run.path[0] not in changes
    if cancelled:
        assert not [run for run in found if run.status in LIVE]
