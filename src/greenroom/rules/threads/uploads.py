"""Which uploads a message shows, and whether its author may show them."""

import re
from collections.abc import Set
from typing import Any

from greenroom.errors import Refused
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.threads.model import UPLOADS
from greenroom.rules.threads.queries import may_see_upload

_PREFIX = "upl_"
_NONE: Set[str] = frozenset()
_ID = re.compile(r"\bupl_[0-9a-z]{26}\b")


def find_shown_uploads(content: str, metadata: dict[str, Any] | None = None) -> Set[str]:
    """The ids of uploads that a message shows, in its text or beside it."""
    if metadata:
        content = f"{content}\n{metadata}"
    return set(_ID.findall(content)) if _PREFIX in content else _NONE


def need_own_uploads(rows: Rows, by: Principal, content: str, metadata: dict[str, Any] | None = None) -> None:
    """Refuse to show an upload to the readers of a thread by its id alone: whoever shows it must be able to see it."""
    for upload_id in find_shown_uploads(content, metadata):
        upload = rows.get(UPLOADS, upload_id)
        if upload is not None and not may_see_upload(rows, by, upload):
            raise Refused("upload_not_found.message", "not_found")
