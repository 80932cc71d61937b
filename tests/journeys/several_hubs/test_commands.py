"""Commands beside one of several hubs: they find the log in the database, and another hub when their own is gone."""

from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done, greenroom

Both = tuple[HubProcess, HubProcess]


def test_a_check_finds_the_database_that_only_the_hub_was_told_of(two_hubs: Both) -> None:
    a, _ = two_hubs
    assert done(a.data, "check", "--json").json["ok"]
    a.stop()
    assert "All is well" in done(a.data, "check").out
    assert (a.data / "database.url").stat().st_mode & 0o077 == 0
    refused = greenroom(a.data, "backup", str(a.data / "x.tar"))
    assert (refused.code, "is in PostgreSQL" in refused.err) == (1, True)


def test_a_command_asks_another_hub_while_its_own_is_gone(two_hubs: Both) -> None:
    a, b = two_hubs
    a.stop()
    a.env["GREENROOM_OTHER_HUBS"] = f"http://127.0.0.1:9,{b.url}"
    a.start()
    done(a.data, "node", "add", "here")
    a.kill()
    made = greenroom(a.data, "node", "add", "there")
    assert (made.code, f"Asking {b.url}, which shares its log" in made.err) == (0, True), made
    assert {"here", "there"} <= {one["name"] for one in done(a.data, "node", "list", "--json").json}
    (a.data / "hub.json").unlink()
    (a.data / "greenroom.toml").write_text(f'other_hubs = ["{b.url}"]\n')
    assert "there" in done(a.data, "node", "list").out
