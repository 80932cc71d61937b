"""Uploaded images: every byte that matters is checked, and they are served without scripts or rights."""

import asyncio
import unicodedata
from pathlib import PurePosixPath
from urllib.parse import quote

import msgspec
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.http.url_credentials import URL_PREFIX
from greenroom.doors.rest.images import EXTENSIONS, need_image
from greenroom.doors.rest.wire import build_bad_request, build_json_response, get_idempotency_key, need_same_request
from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.rules.access.model import Principal
from greenroom.rules.threads.commands import KeepUpload
from greenroom.rules.threads.events import UploadKept
from greenroom.rules.threads.model import UPLOADS, Upload
from greenroom.rules.threads.queries import is_file_in_use, may_see_upload
from greenroom.services.hub import Hub

_AROUND = 65_536
"""What the form around a file may take."""
_POWERLESS = {
    "content-security-policy": "sandbox; default-src 'none'",
    "cache-control": "private, max-age=86400",
}
_FORM = {
    "multipart/form-data": {
        "schema": {
            "type": "object",
            "properties": {"file": {"type": "string", "contentMediaType": "application/octet-stream"}},
            "required": ["file"],
        }
    }
}


class KeptImage(msgspec.Struct):
    url: str
    name: str
    id: str
    mime: str
    size: int


async def upload_image(hub: Hub, by: Principal, request: Request) -> Response:
    key = get_idempotency_key(request)
    name, data = await _read_uploaded_file(hub, request)
    extension = PurePosixPath(name).suffix.lower()
    if extension not in EXTENSIONS:
        raise Refused("bad_image.type", extension=extension[:16], extensions=EXTENSIONS)
    image = await asyncio.to_thread(need_image, data, extension)
    blob = await asyncio.to_thread(hub.blobs.keep, image.data)
    upload_id = new_id("upl")
    try:
        done = await hub.log.do(
            KeepUpload(by=by, key=key, upload_id=upload_id, blob=blob, name=name, mime=image.mime, size=len(image.data))
        )
    finally:
        hub.blobs.release(blob)
        if not is_file_in_use(hub.rows, blob):
            hub.blobs.drop(blob)
    kept: UploadKept = done.first(UploadKept)
    need_same_request(done, kept.blob == blob)
    return build_json_response(
        KeptImage(f"/api/uploads/{kept.upload_id}", kept.name, kept.upload_id, kept.mime, kept.size)
    )


async def _read_uploaded_file(hub: Hub, request: Request) -> tuple[str, bytes]:
    try:
        async with request.form(max_files=1, max_fields=8, max_part_size=_AROUND) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise build_bad_request("bad_request.upload")
            data = await file.read()
            name = file.filename
    except MultiPartException as error:
        raise build_bad_request("bad_request.form", error=error.message) from None
    limit = hub.settings.max_upload_bytes
    if len(data) > limit:
        raise Refused("image_too_large.bytes", "too_large", bytes=len(data), limit=limit)
    return _clean_file_name(name), data


def _clean_file_name(name: str) -> str:
    """The last part of a name, without anything that a screen or a header would take for something else."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(c for c in last if unicodedata.category(c)[0] != "C").strip()
    suffix = PurePosixPath(plain).suffix
    return plain if len(plain) <= 120 else plain[: 120 - len(suffix)] + suffix


async def show_upload(hub: Hub, by: Principal, request: Request) -> Response:
    upload = _need_upload(hub, by, request.path_params["upload_id"])
    data = await asyncio.to_thread(hub.blobs.read, upload.blob)
    if data is None:
        raise _build_upload_not_found()
    headers = {**_POWERLESS, "content-disposition": f"inline; filename*=UTF-8''{quote(upload.name, safe='')}"}
    if URL_PREFIX in request.scope:  # the program that holds this URL shows it in a page of its own
        headers["cross-origin-resource-policy"] = "cross-origin"
    return Response(data, headers=headers, media_type=upload.mime)


def _need_upload(hub: Hub, by: Principal, upload_id: str) -> Upload:
    upload = hub.rows.get(UPLOADS, upload_id)
    if upload is None or not may_see_upload(hub.rows, by, upload):
        raise _build_upload_not_found()
    return upload


def _build_upload_not_found() -> Refused:
    return Refused("upload_not_found", "not_found")


def endpoints(hub: Hub) -> list[Endpoint]:
    """How large an upload may be is a setting."""
    return [
        Endpoint(
            "POST",
            "/api/upload/image",
            "chat",
            upload_image,
            "Upload an image",
            body=_FORM,
            answer=KeptImage,
            max_bytes=hub.settings.max_upload_bytes + _AROUND,
            keyed=True,
        ),
        Endpoint("GET", "/api/uploads/{upload_id}", "read", show_upload, "An uploaded image", answer="image/*"),
    ]
