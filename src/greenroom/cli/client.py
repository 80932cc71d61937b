"""How commands call the hub: plain HTTP from the standard library, at the address of the data directory or --url."""

import argparse
import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from greenroom import __version__, settings
from greenroom.cli.hub_addresses import find_other_urls, need_safe_url, need_valid_url
from greenroom.cli.ids import resolve_ids
from greenroom.cli.terminal import print_notice
from greenroom.errors import Refused
from greenroom.log.data_directory import HUB_FILE, OPERATOR_TOKEN

T = TypeVar("T")
_TIMEOUT_S = 30.0
_THERE_S = 5.0
_AWAY_S = 60.0
_RETRY_S = 1.0


class HubUnreachable(Exception):
    """No hub answers; the message says how to start one, or what else to try."""


def add_options(parser: argparse.ArgumentParser, *, answers: bool = True) -> None:
    """The options of every command that asks a hub."""
    add_data_option(parser)
    parser.add_argument(
        "--url", help="address of the hub (default: $GREENROOM_URL, else the hub of the data directory)"
    )
    parser.add_argument("--token", help="credential (default: $GREENROOM_TOKEN, else the operator's of that hub)")
    parser.add_argument("--token-file", help="file with the credential; unlike --token, no process list shows it")
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="allow http:// to another machine, although everybody in between can read it",
    )
    if answers:
        add_json_option(parser)


def add_data_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", help="data directory (default: $GREENROOM_DATA, else ~/.greenroom)")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def find_hub(args: argparse.Namespace) -> tuple[str, str]:
    """The address and the token that the options, the environment or the data directory name."""
    data = settings.resolve_data_dir(args.data)
    given_url, given_token = settings.read_hub_address()
    own_url = get_own_url(data)
    url = args.url or given_url or own_url or next(iter(find_other_urls(data)), None)
    if url is None:
        raise HubUnreachable(f"No hub is running in {data}: start one with `greenroom serve`, or name one with --url.")
    need_valid_url(url)
    token = args.token or read_token_file(args.token_file) or given_token
    is_own = url.rstrip("/") in (own_url, *find_other_urls(data))
    if token is None and is_own:  # the operator's token goes to hubs with its own log and nowhere else
        token = read_token_file(data / OPERATOR_TOKEN)
    if url.rstrip("/") != own_url:
        need_safe_url(url, args.insecure)
    if token is None:
        raise Refused.in_words(
            "token_missing", f"A credential for {url} is missing: give --token-file, or set $GREENROOM_TOKEN."
        )
    if not token.isprintable() or not token.isascii():
        raise Refused.in_words(
            "bad_token", "A token is one word of plain letters and digits: is the right file or text given?"
        )
    return url.rstrip("/"), token


def get_own_url(data: Path) -> str | None:
    """The address of the hub that runs in a data directory, or was killed there."""
    found = _read_hub_file(data)
    return None if found is None else found[0]


def get_own_pid(data: Path) -> int | None:
    """The process of the hub that runs in a data directory, or was killed there."""
    found = _read_hub_file(data)
    return None if found is None else found[1]


def _read_hub_file(data: Path) -> tuple[str, int] | None:
    """What the hub of a data directory has written down about itself."""
    try:
        found = json.loads((data / HUB_FILE).read_text())
        return str(found["url"]), int(found["pid"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HubUnreachable(f"{data / HUB_FILE} cannot be read ({error}): name the hub with --url.") from error


def read_token_file(file: str | Path | None) -> str | None:
    """The credential that a file holds."""
    if file is None:
        return None
    try:
        return Path(file).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused.in_words("token_missing", f"The credential in {file} cannot be read ({error}).") from error


class HubClient:
    """Asks one hub; that of a data directory is found again if it comes back at another address. While it is gone, the
    hubs that share its log are asked."""

    def __init__(self, url: str, token: str, data: Path | None = None, others: Sequence[str] = ()) -> None:
        self._others = [other for other in others if other != url]
        self.url = url
        self._data = data
        self.is_agent = token.startswith("gr_agent_")
        self.token = token
        self._base = urlsplit(url)

    def get(self, *path: str, timeout_s: float = _TIMEOUT_S, **query: object) -> Any:
        """The answer to a GET; parts of the path are taken literally, queries that are None are left out."""
        return self._decode_json(self.request("GET", path, query=query, timeout_s=timeout_s))

    def post(self, *path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._decode_json(self.request("POST", path, body=body or {}))

    def put(self, *path: str, body: Mapping[str, Any]) -> Any:
        return self._decode_json(self.request("PUT", path, body=body))

    def delete(self, *path: str, **query: object) -> Any:
        return self._decode_json(self.request("DELETE", path, query=query) or b"null")

    def _decode_json(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError:
            raise _build_no_hub_error(self.url) from None

    def request(
        self,
        method: str,
        path: tuple[str, ...],
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, Any] | None = None,
        timeout_s: float = _TIMEOUT_S,
    ) -> bytes:
        """The bytes of an answer; raises Refused or HubUnreachable."""
        target = self._base.path.rstrip("/") + "".join("/" + quote(part, safe="") for part in ("api", *path))
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json, text/markdown"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        status, content = self._send_request(
            method, f"{target}?{urlencode(asked)}" if asked else target, data, headers, timeout_s
        )
        if status >= 300:
            raise _build_refusal(self.url, status, content)
        return content

    def is_reachable(self) -> bool:
        """Whether a hub answers; this needs no credential."""
        try:
            return self._send_request("GET", "/health", None, {}, _THERE_S)[0] == 200
        except HubUnreachable:
            return False

    def _send_request(
        self, method: str, target: str, data: bytes | None, headers: dict[str, str], timeout_s: float
    ) -> tuple[int, bytes]:
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        kind = HTTPSConnection if self._base.scheme == "https" else HTTPConnection
        connection = kind(self._base.hostname or "", self._base.port, timeout=timeout_s)
        try:
            connection.connect()
        except OSError as error:  # nothing was asked yet, so that another hub can be
            if not self._switch_hub(error):
                raise self._give_up(error) from error
            return self._send_request(method, target, data, headers, timeout_s)
        try:
            connection.request(method, target, data, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, HTTPException) as error:
            raise self._give_up(error) from error
        finally:
            connection.close()

    def _switch_hub(self, error: OSError) -> bool:
        """Ask the next hub from now on, if there is one."""
        if not self._others:
            return False
        self.url = self._others.pop(0)
        print_notice(f"greenroom: {self._build_unreachable(error)} Asking {self.url}, which shares its log.")
        self._base = urlsplit(self.url)
        return True

    def _give_up(self, error: Exception) -> HubUnreachable:
        """The error to raise. A caller that tries again looks up the hub's address again."""
        no = self._build_unreachable(error)
        with contextlib.suppress(HubUnreachable):
            self.url = (get_own_url(self._data) if self._data is not None else None) or self.url
            self._base = urlsplit(self.url)
        return no

    def _build_unreachable(self, error: Exception) -> HubUnreachable:
        from ssl import SSLError

        if isinstance(error, TimeoutError):
            return HubUnreachable(f"The hub at {self.url} did not answer in time: is it busy, or stopped?")
        if isinstance(error, SSLError):
            return HubUnreachable(
                f"The hub at {self.url} cannot be reached by TLS ({error.reason}): does it speak http://, or is its"
                " certificate not known here ($SSL_CERT_FILE)?"
            )
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
        return HubUnreachable(f"The hub at {self.url} cannot be reached ({why}): start it with `greenroom serve`.")


def _build_no_hub_error(url: str, status: int = 200) -> Refused:
    return Refused.in_words(
        "no_hub", f"What answers at {url} is no hub that this program knows ({status}): is the address right?"
    )


def _build_refusal(url: str, status: int, content: bytes) -> Refused:
    """The hub's refusal in its own words."""
    try:
        answer = json.loads(content)
        detail = answer["detail"]
    except (ValueError, KeyError, TypeError):
        return _build_no_hub_error(url, status)
    if isinstance(detail, dict):
        code = str(detail.get("error", answer.get("code", "refused")))
        return Refused.in_words(code, str(detail.get("message", code)))
    return Refused.in_words(str(answer.get("code", "refused")), str(detail))


def open_client(args: argparse.Namespace) -> HubClient:
    """A client of the hub that the options name; ids that were typed in short are whole ones from here on."""
    url, token = find_hub(args)
    data = settings.resolve_data_dir(args.data)
    own, others = get_own_url(data), find_other_urls(data)
    client = HubClient(url, token, data if url == own else None, others if url in (own, *others) else ())
    resolve_ids(client, args)
    return client


def get_other_version(args: argparse.Namespace) -> str | None:
    """The version of the hub that was asked, if it is not ours."""
    if not hasattr(args, "token_file"):  # a command that asks no hub
        return None
    with contextlib.suppress(HubUnreachable, Refused, KeyError, TypeError):
        version = str(open_client(args).get("me")["version"])
        return version if version != __version__ else None
    return None


def is_temporary(no: HubUnreachable | Refused) -> bool:
    """Whether the hub is being stopped or restarted, and will answer later."""
    return isinstance(no, HubUnreachable) or no.code == "stopping"


def retry_while_away(ask: Callable[[], T]) -> T:
    """Ask the hub, and wait for one that is away for a while: it is being restarted."""
    deadline = time.monotonic() + _AWAY_S
    while True:
        try:
            return ask()
        except (HubUnreachable, Refused) as no:
            if not is_temporary(no) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)
