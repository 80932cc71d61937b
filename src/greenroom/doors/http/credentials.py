"""How a call proves who makes it: a bearer token, an agent's token, or a browser's login.

A login is a cookie together with a key that the page keeps. Browsers send a cookie to every port of a host, so that any
server there may have seen it; the key is in the page's own storage.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from starlette.types import Scope

from greenroom.buckets import Bucket
from greenroom.errors import SentenceError
from greenroom.log.model import Commit
from greenroom.rules.access.model import ANONYMOUS, CREDENTIALS, Principal
from greenroom.rules.access.queries import get_login, get_principal
from greenroom.services.hub import Hub

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_CACHE = 10_000
_FAILURES = 20
KEY_HEADER = b"x-greenroom-key"
"""What a page sends beside its cookie: a key that pages of other ports and hosts cannot read."""
SUBPROTOCOL = "greenroom"
KEY_SUBPROTOCOL = f"{SUBPROTOCOL}.key."
"""A page's WebSocket knows no headers: it offers `greenroom` and, with this before it, its key."""
_FAILURE_S = 1.0


class CredentialRefused(SentenceError):
    """The call authenticates nobody."""

    def __init__(self, status: int, key: str, retry_after_s: int | None = None, /, **params: object) -> None:
        super().__init__(key, **params)
        self.status = status
        self.retry_after_s = retry_after_s


class HeaderView(Protocol):
    @property
    def names(self) -> Mapping[bytes, bytes]: ...

    @property
    def is_any_repeated(self) -> bool: ...

    def all(self, name: bytes) -> list[bytes]: ...

    def one(self, name: bytes) -> bytes | None: ...


class Credentials:
    """Finds the principal of a token. Its cache is cleared as soon as any credential changes."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._known: dict[tuple[str, ...], Principal] = {}
        self._shown: dict[tuple[bytes | None, bytes | None], tuple[Principal, str]] = {}
        """Who it was that sent just these headers, if forever."""
        self._failures: dict[str, Bucket] = {}
        self._rates: dict[str, Bucket] = {}
        self._bytes = hub.byte_buckets
        self._cookie = build_cookie_name(hub)
        hub.log.subscribe(self._on_commit, CREDENTIALS)

    def _on_commit(self, commit: Commit) -> None:
        self._known.clear()
        self._shown.clear()

    def prove(self, scope: Scope, headers: HeaderView, *, origin_known: bool) -> tuple[Principal, str]:
        """The principal and the token that proves it; raises Wrong."""
        sent = headers.names.get(b"authorization"), headers.names.get(b"x-agent-token")
        found = None if headers.is_any_repeated else self._shown.get(sent)
        if found is None:
            found = self._prove(scope, headers, origin_known)
            if found[0].expires_at is None and sent != (None, None) and not headers.is_any_repeated:
                if len(self._shown) >= _CACHE:
                    self._shown.clear()
                self._shown[sent] = found
        if found[1]:
            self._need_rate(found[0])
        return found

    def _prove(self, scope: Scope, headers: HeaderView, origin_known: bool) -> tuple[Principal, str]:
        shown = [t for t in (self._get_bearer_token(headers), self._get_agent_token(headers)) if t is not None]
        if not shown and (cookie := self._get_cookie_token(scope, headers, origin_known)) is not None:
            return self._prove_login(cookie, _read_page_key(scope, headers), read_peer_address(scope)), cookie
        if not shown:
            principal = self._get_anonymous(scope, headers)
            if principal is None:
                raise CredentialRefused(401, "credential_missing")
            return principal, ""
        proven = [self._get_principal(token) for token in shown]
        last = proven[-1]  # of two, the agent's token says who acts; the other must be good as well
        if last is None or None in proven:
            raise self._build_failure(read_peer_address(scope))
        return last, shown[-1]

    def _prove_login(self, cookie: str, key: str, peer: str) -> Principal:
        """Whose login it is, by cookie and key. A cookie alone may be anybody's whose server the person has opened."""
        found = self._get_cached((cookie, key), lambda now: get_login(self._hub.rows, cookie, key, now))
        if found is None:
            wrong = (
                self._build_failure(peer) if key else None
            )  # an address that is opened shows no key, and guesses none
            if wrong is None or wrong.status == 401:
                wrong = CredentialRefused(401, "login_incomplete")
            raise wrong
        if found.kind == "operator" and found.credential is not None:
            self._hub.login_uses.note(found.credential, peer)
        return found

    def prove_token(self, token: str, peer: str) -> Principal:
        """The principal of a token that came inside a body or a frame; raises Wrong."""
        found = self._get_principal(token)
        if found is None:
            raise self._build_failure(peer)
        self._need_rate(found)
        return found

    def _get_principal(self, token: str) -> Principal | None:
        return self._get_cached((token,), lambda now: get_principal(self._hub.rows, token, now))

    def _get_cached(self, proof: tuple[str, ...], find: Callable[[int], Principal | None]) -> Principal | None:
        known = self._known.get(proof)
        if known is not None and known.expires_at is None:
            return known
        now = self._hub.log.clock.now()
        if known is not None and known.expires_at is not None and now < known.expires_at:
            return known
        found = find(now)
        if found is not None:
            if len(self._known) >= _CACHE:
                self._known.clear()
            self._known[proof] = found
        return found

    @staticmethod
    def _get_bearer_token(headers: HeaderView) -> str | None:
        values = headers.all(b"authorization")
        if not values:
            return None
        scheme, _, token = values[0].decode("latin-1").partition(" ")
        if len(values) > 1 or scheme.lower() != "bearer":
            return ""
        return token

    @staticmethod
    def _get_agent_token(headers: HeaderView) -> str | None:
        values = headers.all(b"x-agent-token")
        if not values:
            return None
        return values[0].decode("latin-1") if len(values) == 1 else ""

    def _get_cookie_token(self, scope: Scope, headers: HeaderView, origin_known: bool) -> str | None:
        found = find_cookies(headers.all(b"cookie"), self._cookie)
        if not found:
            return None
        if len(found) > 1:
            raise CredentialRefused(401, "login_doubled")
        changes = scope["type"] == "websocket" or scope["method"] not in _SAFE
        if changes and not origin_known:
            raise CredentialRefused(403, "origin_missing")
        if headers.one(b"sec-fetch-site") not in (None, b"same-origin", b"none"):
            raise CredentialRefused(403, "foreign_site")
        return found[0]

    def _get_anonymous(self, scope: Scope, headers: HeaderView) -> Principal | None:
        """Local programs, where the operator allows it; never a browser."""
        if not self._hub.settings.allow_anonymous_local or scope["type"] != "http":
            return None
        browser = {b"origin", b"cookie", b"sec-fetch-site", b"referer"}  # not sec-fetch-mode: Node.js sends that too
        if read_peer_address(scope) not in ("127.0.0.1", "::1") or not browser.isdisjoint(headers.names):
            return None
        plain = headers.one(b"content-type") or b"application/json"
        if scope["method"] == "POST" and not plain.startswith(b"application/json"):
            return None
        return ANONYMOUS

    def _build_failure(self, peer: str) -> CredentialRefused:
        """A wrong credential. A client that sends many has to slow down; they never delay a correct one."""
        if len(self._failures) > _CACHE:
            self._failures.clear()
        bucket = self._failures.setdefault(peer, Bucket(_FAILURES, _FAILURE_S))
        if not bucket.take():
            return CredentialRefused(429, "too_many_failures.credentials", 5)
        return CredentialRefused(401, "credential_wrong")

    def _need_rate(self, principal: Principal) -> None:
        per_second = self._hub.settings.requests_per_second
        if per_second <= 0:
            return
        if len(self._rates) > _CACHE:
            self._rates.clear()
        bucket = self._rates.get(principal.id)
        if bucket is None:
            bucket = self._rates[principal.id] = Bucket(per_second * 10, per_second)
        if not bucket.take():
            raise CredentialRefused(429, "too_many_requests", 1, per_second=per_second)

    def need_bytes(self, principal: Principal, count: int) -> None:
        """Refuse a body, or a frame, that is beyond what its credential may send in a minute."""
        per_minute = self._hub.settings.bytes_per_minute
        if per_minute <= 0 or not count:
            return
        if len(self._bytes) > _CACHE:
            self._bytes.clear()
        holder = principal.credential or principal.id
        bucket = self._bytes.get(holder)
        if bucket is None:
            bucket = self._bytes[holder] = Bucket(per_minute, per_minute / 60)
        if not bucket.take(count):
            self._hub.limited["bytes_per_minute"] += 1
            raise CredentialRefused(429, "too_many_bytes", 5, per_minute=per_minute)


def find_cookies(headers: Iterable[bytes], name: str) -> list[str]:
    """The values of all cookies of a name: a page on another port of this host may have set a second one."""
    pairs = [pair.strip().partition("=") for value in headers for pair in value.decode("latin-1").split(";")]
    return [value.strip('"') for key, _, value in pairs if key == name]


def _read_page_key(scope: Scope, headers: HeaderView) -> str:
    """The key that a page shows, in its header or among the subprotocols of its WebSocket; empty if it shows none."""
    if scope["type"] == "websocket":
        keys = [one for one in scope.get("subprotocols", ()) if one.startswith(KEY_SUBPROTOCOL)]
        return keys[0].removeprefix(KEY_SUBPROTOCOL) if len(keys) == 1 else ""
    return (headers.one(KEY_HEADER) or b"").decode("latin-1")


def read_peer_address(scope: Scope) -> str:
    """The address that a call comes from; it is counted by, and grants nothing."""
    return str((scope.get("client") or ("",))[0])


def build_cookie_name(hub: Hub) -> str:
    """The cookie of this hub; another hub on another port of the same machine has another."""
    return f"greenroom_{hub.instance}"
