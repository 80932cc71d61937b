"""A push on its whole way but for the vendor's service: sealed by the hub, opened with the browser's keys, shown by the
service worker, answered from the notification."""

import json
from pathlib import Path

from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked
from tests.page.browser_journey import need_page, travel
from tests.services.notify.far_side import far_side
from tests.services.notify.test_reach import Person, subscribe


def test_a_notification_is_answered_by_its_buttons_and_opened_by_a_click(tmp_path: Path) -> None:
    need_page()
    with far_side() as far:
        for hub in checked(HubProcess(tmp_path / "data", env={"GREENROOM_NOTIFY_HOSTS": far.host})):
            person = Person(hub, hub.token)
            browser, _ = subscribe(person, far)
            pushes = []
            for title, risk in (("Ship it?", "medium"), ("Delete it?", "medium"), ("Drop the table?", "high")):
                person.ask(title, risk=risk)
                pushes.append(browser.read(far.next().body))
            travel(hub, "answer_from_a_notification", pushes=json.dumps(pushes))
