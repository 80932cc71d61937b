"""Which bytes are taken for an image."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.doors.rest.images import EXTENSIONS, need_image
from greenroom.errors import Refused
from tests.pictures import gif, jpeg, png, webp

WHOLE = [
    (".png", png(), "image/png"),
    (".png", png(text=b"Comment\0made by hand"), "image/png"),
    (".jpg", jpeg(), "image/jpeg"),
    (".jpeg", jpeg(comment=b"a holiday"), "image/jpeg"),
    (".gif", gif(), "image/gif"),
    (".webp", webp(), "image/webp"),
    (".webp", webp(b"VP8 "), "image/webp"),
]


@pytest.mark.parametrize(("extension", "data", "mime"), WHOLE)
def test_a_whole_image_is_known_for_what_it_is(extension: str, data: bytes, mime: str) -> None:
    assert need_image(data, extension) == (mime, data)


@pytest.mark.parametrize(
    ("extension", "data", "reason"),
    [
        (".png", jpeg(), "does not begin like one"),
        (".jpg", png(), "does not begin like one"),
        (".gif", webp(), "does not begin like one"),
        (".webp", gif(), "does not begin like one"),
        (".png", b"", "does not begin like one"),
        (".png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "does not begin like one"),
        (".jpg", b"<html><script>alert(1)</script>", "does not begin like one"),
        (".png", png()[:-4], "ends too early"),
        (".png", png().replace(b"IDAT", b"IDOT"), "checksum"),
        (".png", png(extra=b"PK\x03\x04"), "bytes follow its end"),
        (".jpg", jpeg(comment=b"<?php"), "page or a script"),
        (".gif", gif(extra=b"\0"), "bytes follow its end"),
        (".webp", webp(extra=b"x"), "bytes follow its end"),
        (".png", png(text=b"Comment\0<ScRiPt>alert(1)</script>"), "page or a script"),
        (".jpg", jpeg(comment=b"<html><body>"), "page or a script"),
        (".jpg", jpeg(comment=b"%PDF-1.7"), "page or a script"),
        (".gif", b"GIF89a=1;alert(1)//", "not exactly one"),
    ],
)
def test_what_is_no_image_or_more_than_one_is_refused_with_the_reason(extension: str, data: bytes, reason: str) -> None:
    with pytest.raises(Refused, match=reason) as refused:
        need_image(data, extension)
    assert refused.value.code == "bad_image"


@pytest.mark.parametrize("behind", [jpeg(), b"\0\0SEFH", b"<script>alert(1)</script>", b"PK\x03\x04"])
def test_what_a_camera_puts_behind_a_photo_is_left_out(behind: bytes) -> None:
    assert need_image(jpeg(extra=behind), ".jpg") == ("image/jpeg", jpeg())


@pytest.mark.parametrize("size", [(0, 2), (20_001, 2), (19_000, 19_000)])
def test_an_image_that_would_fill_the_memory_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(Refused, match="make it smaller"):
        need_image(png(*size), ".png")


@given(
    st.sampled_from([data for _, data, _ in WHOLE]),
    st.sampled_from(EXTENSIONS),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=6),
    st.integers(0, 200),
)
def test_damaged_bytes_are_taken_or_refused_and_nothing_else(
    data: bytes, extension: str, flips: list[tuple[int, int]], cut: int
) -> None:
    damaged = bytearray(data)
    for at, value in flips:
        damaged[at % len(damaged)] = value
    try:
        need_image(bytes(damaged[: max(1, len(damaged) - cut)]), extension)
    except Refused as refused:
        assert refused.code in ("bad_image", "image_too_large")
