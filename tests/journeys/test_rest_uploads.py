"""Images that are uploaded and shown, over REST."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked
from tests.doors.rest.rest_rig import Rest, code_of
from tests.pictures import gif, jpeg, png, webp


@pytest.fixture
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


def upload(client: httpx.Client, name: str, data: bytes, **how: object) -> httpx.Response:
    files = {"file": (name, data, "image/png")}
    return client.post("/api/upload/image", files=files, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "data", "mime"),
    [
        ("a.png", png(), "image/png"),
        ("b.JPG", jpeg(), "image/jpeg"),
        ("c.gif", gif(), "image/gif"),
        ("d.webp", webp(), "image/webp"),
    ],
)
def test_an_image_comes_back_as_it_was_and_without_power(rest: Rest, name: str, data: bytes, mime: str) -> None:
    agent = rest.agent()
    kept = upload(agent.http, name, data)
    assert kept.status_code == 200
    said = kept.json()
    assert (said["name"], said["mime"], said["size"]) == (name, mime, len(data))
    assert said["url"] == f"/api/uploads/{said['id']}"
    shown = rest.operator.get(said["url"], headers={"Range": "bytes=0-0,0-0"})
    assert (shown.status_code, shown.content, shown.headers["content-type"]) == (200, data, mime)
    assert shown.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert shown.headers["content-disposition"] == f"inline; filename*=UTF-8''{name}"
    thread = rest.thread(agent)
    posted = agent.post(thread, "look", images=[{"url": said["url"], "name": name}]).json()
    assert said["url"] in posted["metadata"]


def test_a_photo_is_kept_without_what_a_camera_put_behind_it(rest: Rest) -> None:
    said = upload(rest.operator, "photo.jpg", jpeg(extra=jpeg(comment=b"a preview"))).json()
    assert said["size"] == len(jpeg())
    assert rest.operator.get(said["url"]).content == jpeg()


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.txt", png(), "use .jpg, .jpeg, .png, .gif, .webp"),
        ("a.svg", b"<svg/>", "use .jpg"),
        ("a.html", b"<html>", "use .jpg"),
        ("png", png(), "use .jpg"),
        ("a.png", b"<html><script>", "does not begin like one"),
        ("a.png", png(extra=b"<html>"), "bytes follow its end"),
        ("a.png.html", png(), "use .jpg"),
    ],
)
def test_what_is_no_image_is_refused_with_a_sentence(rest: Rest, name: str, data: bytes, sentence: str) -> None:
    refused = upload(rest.operator, name, data)
    assert code_of(refused) == (400, "bad_image")
    assert sentence in refused.json()["detail"]


def test_a_body_that_is_no_form_with_a_file_is_refused(rest: Rest) -> None:
    call = rest.operator.post
    path = "/api/upload/image"
    for answer in (
        call(path),
        call(path, json={"file": {"filepath": "/etc/passwd", "filename": "a.png"}}),
        call(path, data={"file": "text"}),
        call(path, files={"other": ("a.png", png(), "image/png")}),
        call(path, files={"file": ("", png(), "image/png")}),
        call(path, content=b"xx", headers={"content-type": "multipart/form-data"}),
        call(path, content=b"xx", headers={"content-type": "multipart/form-data; boundary=b"}),
        call(path, files=[("file", ("a.png", png(), "image/png"))] * 2),
    ):
        assert answer.status_code == 400, answer.text
        assert answer.json()["detail"]


def test_a_name_is_only_a_name(rest: Rest) -> None:
    kept = upload(rest.operator, "../../etc/\u202epasswd.png", png()).json()
    assert kept["name"] == "passwd.png"
    long = upload(rest.operator, "é" * 300 + ".png", png()).json()
    assert len(long["name"]) == 120 and long["name"].endswith(".png")
    shown = rest.operator.get(long["url"])
    assert shown.headers["content-disposition"].isascii()


def test_an_upload_that_is_not_there_is_not_found(rest: Rest) -> None:
    for name in ("nope", "..%2f..%2foperator.token", "%00", "upl_" + "0" * 26):
        assert rest.operator.get(f"/api/uploads/{name}").status_code == 404


def test_an_image_sent_again_with_its_key_is_kept_once(rest: Rest) -> None:
    key = {"Idempotency-Key": "image"}
    first, second = (upload(rest.operator, "a.png", png(), headers=key).json() for _ in range(2))
    assert first == second
    assert code_of(upload(rest.operator, "a.png", png(3, 3), headers=key)) == (409, "key_reused")


def test_an_image_that_is_too_large_is_refused(tmp_path: Path) -> None:
    hub = HubProcess(tmp_path / "data", {"GREENROOM_MAX_UPLOAD_BYTES": "1000"})
    for running in checked(hub):
        with Rest(running) as rest:
            assert code_of(upload(rest.operator, "a.png", png(text=b"x" * 2000))) == (413, "image_too_large")
            assert upload(rest.operator, "a.png", png(text=b"x" * 200_000)).status_code == 413
            assert upload(rest.operator, "a.png", png()).status_code == 200
