"""Reaching people: web push, ntfy and webhooks on a real far side; rules, quiet hours, answers from a notification."""

import base64
import hashlib
import hmac
import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from standardwebhooks import Webhook

from greenroom.rules.channels.model import Rules
from greenroom.services.notify.keys import NotifyKeys, Ticket
from greenroom.services.notify.notification import build_chat_message, is_quiet
from greenroom.testing.hub_process import HubProcess, wait_until
from tests.cli.shell import done
from tests.conftest import checked
from tests.doors.compat.assist.rig import Agent, Device, room_token
from tests.services.notify.far_side import Browser, FarSide, Taken, far_side


@pytest.fixture
def far() -> Iterator[FarSide]:
    with far_side() as far:
        yield far


@pytest.fixture
def hub(tmp_path: Path, far: FarSide) -> Iterator[HubProcess]:
    yield from checked(HubProcess(tmp_path / "data", env={"GREENROOM_NOTIFY_HOSTS": far.host}))


class Person:
    """Somebody with a token, over REST."""

    def __init__(self, hub: HubProcess, token: str) -> None:
        self._url = hub.url
        self._headers = {"Authorization": f"Bearer {token}"}

    def call(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        answer = httpx.request(method, self._url + path, json=body, headers=self._headers)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def add(self, kind: str, url: str = "", rules: Any = None, **fields: Any) -> Any:
        where = {} if kind == "push" else {"url": url}
        body = {"kind": kind, "name": kind, "rules": rules or {}, **where, **fields}
        return self.call("POST", "/api/notify/channels", body, 201)

    def ask(self, title: str, kind: str = "gate", **fields: Any) -> Any:
        return self.call("POST", "/api/asks", {"kind": kind, "title": title, **fields}, 201)


@pytest.fixture
def person(hub: HubProcess) -> Person:
    return Person(hub, hub.token)


def subscribe(person: Person, far: FarSide) -> tuple[Browser, Any]:
    browser = Browser(f"{far.url}/push/1")
    return browser, person.add("push", subscription=browser.subscription)["channel"]


def assert_signed(sent: Taken, key: str, far: FarSide) -> None:
    """As the service looks at it (RFC 8292): signed with the key of the subscription, for this service, soon over."""
    scheme, _, fields = sent.headers["authorization"].partition(" ")
    given = dict(field.strip().split("=", 1) for field in fields.split(","))
    assert (scheme, given["k"]) == ("vapid", key)
    head, body, signature = (raw(part) for part in given["t"].split("."))
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), raw(key))
    signed = given["t"].rpartition(".")[0].encode()
    public.verify(encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
    claims = json.loads(body)
    assert json.loads(head)["alg"] == "ES256"
    assert claims["aud"] == far.url
    assert 0 < claims["exp"] - time.time() <= 86_400
    assert claims["sub"].startswith(("mailto:", "https://"))


def raw(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_a_browser_is_told_by_web_push_and_answers_from_the_notification_once(
    hub: HubProcess, person: Person, far: FarSide
) -> None:
    browser, _ = subscribe(person, far)
    ask = person.ask("Ship it?")
    sent = far.next()
    assert (sent.path, sent.headers["content-encoding"]) == ("/push/1", "aes128gcm")
    assert_signed(sent, person.call("GET", "/api/notify")["vapid_key"], far)
    told = browser.read(sent.body)
    assert (told["title"], told["ask_id"], told["kind"]) == ("Ship it?", ask["id"], "gate")
    assert [action["action"] for action in told["actions"]] == ["approve", "deny"]
    act = {"ticket": told["ticket"], "verdict": "approve"}
    assert httpx.get(f"{hub.url}/api/notify/act", params=act).status_code == 401, "it is never answered by GET"
    foreign = httpx.post(f"{hub.url}/api/notify/act", json=act, headers={"Origin": "https://evil.test"})
    assert foreign.status_code == 403
    answered = httpx.post(f"{hub.url}/api/notify/act", json=act)
    assert (answered.status_code, answered.json()["answer"]["verdict"]) == (200, "approve")
    again = httpx.post(f"{hub.url}/api/notify/act", json={**act, "verdict": "deny"})
    assert (again.status_code, again.json()["code"]) == (409, "already_answered")
    for ticket in ("nonsense", told["url"].rpartition("/")[2]):
        assert httpx.post(f"{hub.url}/api/notify/act", json={**act, "ticket": ticket}).status_code == 403


def test_wrong_tickets_of_a_stranger_do_not_hold_up_a_right_one(hub: HubProcess, person: Person, far: FarSide) -> None:
    browser, _ = subscribe(person, far)
    person.ask("Ship it?")
    ticket = browser.read(far.next().body)["ticket"]
    guesses = [
        httpx.post(f"{hub.url}/api/notify/act", json={"ticket": f"guess-{n}", "verdict": "approve"}) for n in range(60)
    ]
    assert {guess.status_code for guess in guesses} == {403, 429}
    answered = httpx.post(f"{hub.url}/api/notify/act", json={"ticket": ticket, "verdict": "approve"})
    assert answered.status_code == 200, answered.text


def test_a_notification_that_shows_only_a_part_answers_nothing(person: Person, far: FarSide) -> None:
    browser, _ = subscribe(person, far)
    person.ask("Ship it?", text="the secret plan")
    person.ask(f"Ship {'all of it, ' * 10}and the rest?")
    person.ask(
        "Ship which?", kind="decision", questions=[{"question": "Which one?", "options": [{"label": "the first"}]}]
    )
    for _ in range(3):
        told = browser.read(far.next().body)
        assert "actions" not in told and "ticket" not in told, told["title"]
        assert "secret plan" not in str(told)


def test_a_link_opens_the_ask_after_the_login_and_answers_nothing(
    hub: HubProcess, person: Person, far: FarSide
) -> None:
    """AP-22"""
    made = person.add("webhook", f"{far.url}/hook")
    ask = person.ask("Ship it?")
    sent = far.next()
    assert sent.json["title"] == "Ship it?"
    signature = hmac.new(made["key"].encode(), sent.body, hashlib.sha256).hexdigest()
    assert sent.headers["x-greenroom-signature"] == f"sha256={signature}"
    assert Webhook(made["key"]).verify(sent.body, dict(sent.headers)) == sent.json
    assert "ticket" not in sent.json
    for _ in range(2):
        opened = httpx.get(sent.json["url"])
        assert (opened.status_code, opened.headers["location"]) == (303, f"/inbox/{ask['id']}")
    assert person.call("GET", f"/api/asks/{ask['id']}")["state"] == "open"
    assert httpx.get(f"{hub.url}/inbox/{ask['id']}").headers["location"].startswith("/login")
    assert httpx.get(f"{hub.url}/n/nonsense").headers["location"] == "/inbox"


def test_ntfy_is_told_in_its_own_words(hub: HubProcess, far: FarSide) -> None:
    made = done(
        hub.data, "notify", "add", "--ntfy", f"{far.url}/my-topic", "--ntfy-token", "tk-of-the-topic", "--json"
    ).json
    assert next(iter(made["channel"])) == "id"
    Person(hub, hub.token).ask("Grün?", risk="high")
    sent = far.next()
    assert (sent.json["topic"], sent.json["title"], sent.json["priority"]) == ("my-topic", "Grün?", 5)
    assert sent.headers["authorization"] == "Bearer tk-of-the-topic"
    assert sent.json["click"].startswith(f"{hub.url}/n/")
    assert "tk-of-the-topic" not in done(hub.data, "notify", "list", "--json").out
    assert done(hub.data, "notify", "test", made["channel"]["id"]).code == 0
    assert far.next().json["title"] == "Greenroom reaches you here"
    done(hub.data, "notify", "remove", made["channel"]["id"])
    assert done(hub.data, "notify", "list", "--json").json == []


def test_a_chat_room_is_told_and_nobody_in_it_is_called_by_an_agents_words(hub: HubProcess, far: FarSide) -> None:
    done(hub.data, "notify", "add", "--chat", f"{far.url}/services/T0/B0/x")
    Person(hub, hub.token).ask("Ship `it` <!channel>\n[now](https://evil.example)?")
    sent = far.next()
    words, link = sent.json["text"].split("\n")
    assert "`Ship 'it' &lt;!channel&gt; [now](https://evil.example)?`" in words
    assert link.startswith(f"{hub.url}/n/")
    assert list(sent.json) == ["text"]
    said = {"title": "hey @everyone", "body": "A question", "url": "https://hub.example/n/x"}
    assert build_chat_message(said, "discord.com") == {
        "content": "A question: `hey @everyone`\nhttps://hub.example/n/x",
        "allowed_mentions": {"parse": []},
    }


def test_rules_choose_by_kind_and_risk_and_quiet_hours_hold_but_for_what_is_loud(person: Person, far: FarSide) -> None:
    channel = person.add("webhook", f"{far.url}/hook", {"kinds": ["gate"], "risks": ["medium"]})["channel"]
    person.ask("not this kind", kind="decision")
    person.ask("not this risk", risk="low")
    person.ask("this one", risk="medium")
    assert far.next().json["title"] == "this one"
    person.call("PUT", f"/api/notify/channels/{channel['id']}", {"quiet": "00:00-23:59", "loud": ["high"]})
    person.ask("hush", risk="medium")
    person.ask("fire", risk="high")
    assert far.next().json["title"] == "fire"
    wrong = {"quiet": "late"}, {"kinds": ["rumour"]}, {"zone": "Nowhere/Land"}
    for rules in wrong:
        person.call("PUT", f"/api/notify/channels/{channel['id']}", rules, 400)


@pytest.mark.parametrize(
    ("at", "zone", "quiet"),
    [("21:59", "UTC", False), ("22:00", "UTC", True), ("06:59", "UTC", True), ("07:00", "UTC", False),
     ("21:30", "Europe/Berlin", True), ("06:30", "Europe/Berlin", False)],
)  # fmt: skip
def test_quiet_hours_go_over_midnight_and_by_the_clock_of_their_zone(at: str, zone: str, quiet: bool) -> None:
    hours, minutes = at.split(":")
    now_ms = (int(hours) * 60 + int(minutes)) * 60_000 + 1_768_435_200_000  # a winter's day
    assert is_quiet(Rules(quiet="22:00-07:00", zone=zone), now_ms) is quiet


def test_what_is_not_taken_is_tried_again_then_noted_and_given_up(person: Person, far: FarSide) -> None:
    person.add("webhook", f"{far.url}/hook")
    far.answers[:] = [500]
    person.ask("once more")
    assert [far.next().json["title"] for _ in range(2)] == ["once more", "once more"]
    far.answers[:] = [307, 500, 503]
    person.ask("in vain")
    for _ in range(3):
        far.next()
    person.ask("next")
    assert far.next().json["title"] == "next"


def test_a_browser_that_is_gone_is_forgotten(hub: HubProcess, person: Person, far: FarSide) -> None:
    subscribe(person, far)
    far.answers[:] = [410]
    person.ask("hello?")
    far.next()
    wait_until(lambda: person.call("GET", "/api/notify")["channels"] == [])


def test_high_risk_and_questions_are_opened_and_not_answered_in_passing(person: Person, far: FarSide) -> None:
    browser, _ = subscribe(person, far)
    person.ask("Drop the table?", risk="high")
    assert "ticket" not in browser.read(far.next().body)
    person.ask("Which colour?", kind="question")
    assert "ticket" not in browser.read(far.next().body)


def test_a_ticket_does_not_approve_high_risk(hub: HubProcess, person: Person, far: FarSide) -> None:
    """Notifications of high risk hold no such ticket; one that was signed all the same is refused by the rules."""
    _, channel = subscribe(person, far)
    ask = person.ask("Drop the table?", risk="high")
    ticket = NotifyKeys(hub.data).sign(Ticket(ask["id"], ask["digest"], channel["id"], "act"))
    yes = httpx.post(f"{hub.url}/api/notify/act", json={"ticket": ticket, "verdict": "approve"})
    assert (yes.status_code, yes.json()["code"]) == (409, "high_risk")
    no = httpx.post(f"{hub.url}/api/notify/act", json={"ticket": ticket, "verdict": "deny"})
    assert (no.status_code, no.json()["answer"]["verdict"]) == (200, "deny")


def test_a_ticket_from_before_a_restore_answers_nothing(
    hub: HubProcess, person: Person, far: FarSide, tmp_path: Path
) -> None:
    phone = person.call("POST", "/api/credentials", {"kind": "operator", "name": "phone"}, 201)["token"]
    browser, _ = subscribe(Person(hub, phone), far)
    ask = person.ask("Ship it?")
    act = {"ticket": browser.read(far.next().body)["ticket"], "verdict": "deny"}
    done(hub.data, "backup", str(tmp_path / "saved.tar"))
    assert httpx.post(f"{hub.url}/api/notify/act", json=act).status_code == 200
    hub.stop()
    done(hub.data, "restore", str(tmp_path / "saved.tar"), "--force", "--keep", "phone")
    hub.start(hub.port)
    again = httpx.post(f"{hub.url}/api/notify/act", json={**act, "verdict": "approve"})
    assert (again.status_code, again.json()["code"]) == (403, "bad_ticket")
    assert Person(hub, phone).call("GET", f"/api/asks/{ask['id']}")["state"] == "open"


def test_a_room_is_told_of_its_own_asks_only_and_its_tickets_end_with_its_token(
    hub: HubProcess, person: Person, far: FarSide
) -> None:
    token = room_token(hub, "kitchen", "answer")
    cook = Person(hub, token)
    browser, channel = subscribe(cook, far)
    cook.call("POST", "/api/notify/channels", {"kind": "webhook", "name": "x", "url": f"{far.url}/x"}, 403)
    person.ask("of the operator")
    person.ask("of the kitchen", room="kitchen", kind="report")
    told = browser.read(far.next().body)
    assert told["title"] == "of the kitchen"
    handed = person.ask("for the cook")
    (named,) = [one["name"] for one in person.call("GET", "/api/credentials") if one["kind"] == "room"]
    person.call("POST", f"/api/asks/{handed['id']}/delegate", {"to": named})
    assert browser.read(far.next().body)["title"] == "for the cook"
    assert [one["id"] for one in cook.call("GET", "/api/notify")["channels"]] == [channel["id"]]
    (mine,) = [one["id"] for one in person.call("GET", "/api/credentials") if one["kind"] == "room"]
    person.call("DELETE", f"/api/credentials/{mine}")
    act = {"ticket": told["ticket"], "verdict": "approve"}
    assert httpx.post(f"{hub.url}/api/notify/act", json=act).status_code == 403
    person.ask("again of the kitchen", room="kitchen")
    with pytest.raises(Empty):
        far.next(1)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:9/x", "https://127.0.0.1/x", "https://[::ffff:127.0.0.1]/x", "http://169.254.169.254/latest",
     "https://2130706433/x", "file:///etc/passwd", "https://user:pw@example.org/x", "gopher://x/", "https:///x"],
)  # fmt: skip
def test_nothing_is_sent_inside_unless_it_is_listed(shared_hub: HubProcess, url: str) -> None:
    """IN-22"""
    person = Person(shared_hub, shared_hub.token)
    body = {"kind": "webhook", "name": "in", "url": url, "rules": {}}
    answer = httpx.post(person._url + "/api/notify/channels", json=body, headers=person._headers)
    if answer.status_code == 201:
        tried = person.call("POST", f"/api/notify/channels/{answer.json()['channel']['id']}/test", {})
        assert (tried["ok"], "no public address" in tried["error"]) == (False, True), tried
    else:
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_address")


def test_keys_and_addresses_are_readable_by_their_owner_alone_and_in_no_event(
    hub: HubProcess, person: Person, far: FarSide
) -> None:
    _, channel = subscribe(person, far)
    files = list((hub.data / "notify").iterdir())
    assert {file.name for file in files} == {"signing.key", "vapid.pem", f"{channel['id']}.json"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert "push/1" not in str(person.call("GET", "/api/audit"))
    person.call("DELETE", f"/api/notify/channels/{channel['id']}", None, 204)
    assert {file.name for file in (hub.data / "notify").iterdir()} == {"signing.key", "vapid.pem"}


def test_what_was_raised_while_the_hub_was_down_for_it_is_told_when_it_is_back(
    hub: HubProcess, person: Person, far: FarSide
) -> None:
    token = room_token(hub, "kitchen")
    person.add("webhook", f"{far.url}/hook")
    far.answers[:] = [500, 500]
    with Device(hub, token) as device:
        Agent(hub, token).ask("q", "Still waiting?")
        device.hear("AskQuestion")
        far.next()
        hub.kill()
    hub.start(hub.port)
    assert far.next().json["title"] == "Still waiting?"


def test_what_a_channel_is_for_and_what_it_has_told_hold_over_a_crash_of_the_hub(
    hub: HubProcess, person: Person, far: FarSide
) -> None:
    browser, channel = subscribe(person, far)
    done(hub.data, "notify", "set", channel["id"], "--kind", "gate", "--quiet", "00:00-23:59", "--loud", "medium")
    kept = done(hub.data, "notify", "list", "--json").json
    ask = person.ask("Ship it?", risk="medium")
    told = browser.read(far.next().body)
    hub.kill()
    hub.start(hub.port)
    assert done(hub.data, "notify", "list", "--json").json == kept
    assert kept[0]["rules"]["kinds"] == ["gate"]
    person.ask("of another kind", kind="decision", risk="medium")
    person.ask("in quiet hours", risk="low")
    person.ask("loud", risk="medium")
    titles = [browser.read(far.next().body)["title"]]
    if titles == ["Ship it?"]:  # what was told just before a crash may be told twice
        titles = [browser.read(far.next().body)["title"]]
    assert titles == ["loud"]
    assert httpx.get(told["url"]).headers["location"] == f"/inbox/{ask['id']}"
    answered = httpx.post(f"{hub.url}/api/notify/act", json={"ticket": told["ticket"], "verdict": "deny"})
    assert (answered.status_code, answered.json()["answer"]["verdict"]) == (200, "deny")
