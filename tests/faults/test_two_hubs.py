"""A data directory has one hub."""

import json

import httpx

from greenroom.testing.hub_process import HubProcess


def test_a_second_hub_on_the_same_data_refuses_and_names_the_first(hub: HubProcess) -> None:
    code, said = HubProcess(hub.data).start_refused()
    assert code == 1
    assert hub.url in said
    assert str(hub.pid) in said
    assert len(said.strip().splitlines()) == 1


def test_a_second_hub_on_the_same_port_names_the_first_too(hub: HubProcess) -> None:
    code, said = HubProcess(hub.data).start_refused(hub.port)
    assert code == 1
    assert hub.url in said


def test_a_second_hub_that_was_refused_leaves_the_first_as_it_was(hub: HubProcess) -> None:
    before = (hub.data / "hub.json").read_text()
    HubProcess(hub.data).start_refused()
    assert (hub.data / "hub.json").read_text() == before
    assert json.loads(before) == {"url": hub.url, "pid": hub.pid, "pin": None, "others": []}
    assert httpx.get(f"{hub.url}/login").status_code == 200


def test_a_hub_starts_where_another_was_killed(hub: HubProcess) -> None:
    hub.kill()
    hub.restart()
    assert httpx.get(f"{hub.url}/login").status_code == 200


def test_a_port_that_is_taken_is_named_in_one_line(hub: HubProcess) -> None:
    code, said = HubProcess(hub.data.parent / "other").start_refused(hub.port)
    assert code == 1
    assert f"{hub.port}" in said
    assert "--port" in said
    assert len(said.strip().splitlines()) == 1
