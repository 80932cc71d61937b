"""Logs in without a browser: puts the cookie into a client's jar and the page's key into its headers."""

import httpx

KEY = "x-greenroom-key"


def log_in(client: httpx.Client, code: str) -> httpx.Response:
    """Log a client in by a one-time code, or by the token of a room."""
    entered = client.post("/login", data={"code": code})
    if entered.status_code != 303:
        raise AssertionError(entered.text)
    client.headers[KEY] = parse_page_key(entered.headers["location"])
    return entered


def parse_page_key(location: str) -> str:
    """The key in the address that a login leads to."""
    key = location.partition("#key=")[2]
    if not key:
        raise AssertionError(location)
    return key
