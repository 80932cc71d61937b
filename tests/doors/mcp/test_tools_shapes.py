"""The pieces that results are made of."""

import base64

import pytest

from greenroom.doors.mcp.images import detect_image_type
from greenroom.doors.mcp.tools.messages import limit_wait_ms
from greenroom.doors.mcp.tools.snippet import cut_snippet
from greenroom.doors.mcp.tools.tool_wrapper import build_refusal
from greenroom.errors import Refused


@pytest.mark.parametrize(
    ("content", "query", "expected"),
    [
        ("hello world", "world", "hello <mark>world</mark>"),
        ("Hello hello", "HELLO", "<mark>Hello</mark> <mark>hello</mark>"),
        ("a+b (c)", "a+b (c)", "<mark>a+b</mark> <mark>(c)</mark>"),
        ("nothing here", "elsewhere", "nothing here"),
        ("quoted", '"', "quoted"),
        ("x" * 100 + " needle " + "y" * 300, "needle", "…" + "x" * 59 + " <mark>needle</mark> " + "y" * 133 + "…"),
    ],
)
def test_a_snippet_shows_the_words_and_what_is_around_them(content: str, query: str, expected: str) -> None:
    assert cut_snippet(content, query) == expected


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBP", "image/webp"),
        (b"RIFF\x00\x00\x00\x00WAVE", None),
        (b"<svg xmlns=", None),
        (b"", None),
        (base64.b64decode("PGh0bWw+"), None),
    ],
)
def test_an_image_is_what_its_first_bytes_say(start: bytes, kind: str | None) -> None:
    assert detect_image_type(start) == kind


def test_a_long_wait_ends_before_the_client_gives_up_and_a_short_one_on_time() -> None:
    assert [limit_wait_ms(ms) for ms in (0, 50, 59_999, 60_000, 300_000)] == [0, 50, 59_999, 55_000, 295_000]


def test_a_refusal_bears_the_words_of_the_bus_and_the_code_of_the_hub() -> None:
    limited = Refused.in_words("rate_limited", "Wait 3 s.", "limited", limit=30, window_seconds=60, retry_after=3)
    assert build_refusal(limited) == {
        "error": "Rate limit exceeded",
        "code": "rate_limited",
        "message": "Wait 3 s.",
        "limit": 30,
        "window_seconds": 60,
        "window": 60,
        "retry_after": 3,
    }
    assert build_refusal(Refused.in_words("bad_reply_to", "None such."))["detail"] == "None such."
    assert build_refusal(Refused.in_words("not_admin", "No."))["error"] == "not_admin"
