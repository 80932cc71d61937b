"""Each subscriber gets what it watches of a commit, in the order in which all subscribed."""

from greenroom.log.model import Change, Commit, Event, Recorded, Row, Table
from greenroom.log.subscriptions import Subscriptions


class Apple(Row, frozen=True, kw_only=True):
    id: str


class ApplePicked(Event, frozen=True, kw_only=True):
    id: str


class PearPicked(Event, frozen=True, kw_only=True):
    id: str


APPLES = Table("apple", Apple, ("id",))
PEARS = Table("pear", Apple, ("id",))


def _build_commit(*picked: Event, tables: tuple[Table[Apple], ...]) -> Commit:
    records = tuple(Recorded(seq, 0, "somebody", event) for seq, event in enumerate(picked, 1))
    changes = tuple(Change(table, "a", 1, Apple(id="a"), b"{}") for table in tables)
    return Commit(len(records), records, changes, frozenset(tables))


def test_a_watcher_of_a_table_gets_that_tables_changes_alone() -> None:
    subscriptions, got = Subscriptions(), list[Commit]()
    subscriptions.add(got.append, (APPLES,))
    subscriptions.announce(_build_commit(ApplePicked(id="a"), tables=(APPLES, PEARS)))
    subscriptions.announce(_build_commit(PearPicked(id="a"), tables=(PEARS,)))
    assert [[change.table for change in commit.changes] for commit in got] == [[APPLES]]
    assert got[0].records == ()


def test_a_watcher_of_events_gets_those_events_alone() -> None:
    subscriptions, got = Subscriptions(), list[Commit]()
    subscriptions.add(got.append, (PearPicked,))
    subscriptions.announce(_build_commit(ApplePicked(id="a"), PearPicked(id="b"), tables=(APPLES,)))
    assert [[record.event for record in commit.records] for commit in got] == [[PearPicked(id="b")]]
    assert got[0].changes == ()


def test_all_are_told_in_the_order_of_subscription_until_they_end_it() -> None:
    subscriptions, told = Subscriptions(), list[str]()
    end_first = subscriptions.add(lambda _: told.append("rows"), (APPLES,))
    subscriptions.add(lambda _: told.append("all"), ())
    subscriptions.add(lambda _: told.append("events"), (ApplePicked,))
    commit = _build_commit(ApplePicked(id="a"), tables=(APPLES,))
    subscriptions.announce(commit)
    end_first()
    subscriptions.announce(commit)
    assert told == ["rows", "all", "events", "all", "events"]


def test_a_watcher_of_a_table_and_an_event_is_told_once() -> None:
    subscriptions, got = Subscriptions(), list[Commit]()
    subscriptions.add(got.append, (APPLES, ApplePicked))
    subscriptions.announce(_build_commit(ApplePicked(id="a"), tables=(APPLES,)))
    assert len(got) == 1


def test_one_that_fails_keeps_nobody_else_from_being_told() -> None:
    subscriptions, told = Subscriptions(), list[str]()

    def fail(commit: Commit) -> None:
        raise RuntimeError(commit.seq)

    subscriptions.add(fail, (APPLES,))
    subscriptions.add(lambda _: told.append("next"), (APPLES,))
    subscriptions.announce(_build_commit(ApplePicked(id="a"), tables=(APPLES,)))
    assert told == ["next"]
