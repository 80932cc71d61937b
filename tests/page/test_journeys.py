"""What a person does on the page, in a real browser, on a real hub with real rehearsal agents."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import end_node
from tests.far_node import FarNode
from tests.page.browser_journey import QUIET, need_page, travel
from tests.stage import Stage


@pytest.mark.parametrize(
    "journey",
    [
        pytest.param("log_in_by_code_and_reload_any_deep_link", marks=pytest.mark.anywhere),
        "the_login_form_speaks_the_browsers_language",
        "invite_an_agent_and_talk_to_it",
        "what_is_written_while_a_message_is_sent_is_sent_too",
        "mention_members_and_invite_by_name",
        "continue_a_finished_run",
        "put_an_agent_to_work_in_a_folder",
        "approve_deny_edit_and_batch",
        "edit_the_arguments_of_a_call",
        "a_large_number_is_shown_exactly",
        pytest.param("look_at_a_tool_before_agents_have_it", marks=pytest.mark.anywhere),
        "answer_with_a_form_files_and_a_voice",
        "snooze_hand_on_and_remember",
        "everything_by_keyboard_alone",
        "on_a_phone_in_both_languages",
        pytest.param("attach_to_a_terminal_and_type", marks=pytest.mark.anywhere),
        "a_terminal_whose_connection_is_cut_takes_no_keys",
        "cancel_a_tree",
        "active_runs_are_counted_alike_everywhere",
        "see_what_a_run_has_changed",
        "edit_a_profile",
        "let_a_phone_a_machine_and_a_bundle_in",
        "stop_restart_and_put_out_an_agent",
        "write_order_and_try_rules",
        "talk_with_somebody_in_a_room",
        "one_name_for_one_person",
        "type_on_a_device_by_hand_or_voice",
        "write_draw_paste_and_decide_in_a_thread",
        "drain_and_remove_a_machine",
        "draw_run_and_report_a_workflow",
        "run_a_workflow_again",
        "edit_steps_and_triggers_in_forms",
        "draw_two_workflows_undo_and_restore",
        "a_workflow_that_waits_says_so",
        "the_people_of_a_room_have_their_own_inbox",
        "a_cookie_without_the_pages_key_logs_nobody_in",
        "log_in_again_after_a_restore",
        pytest.param("hostile_text_is_harmless", marks=pytest.mark.anywhere),
        "hostile_diagrams_are_harmless",
        "ten_megabytes_of_markdown_are_shown_in_part",
        "take_the_tour",
        "an_address_that_leads_nowhere",
        "toasts_hide_no_control",
        "no_panel_has_a_serious_accessibility_problem",
        "no_form_has_a_serious_accessibility_problem",
        "what_opens_in_a_panel_is_accessible_too",
    ],
)
def test_journey(page_hub: HubProcess, journey: str) -> None:
    travel(page_hub, journey)


def test_a_page_that_lost_its_hub_says_so_and_resumes(page_hub: HubProcess) -> None:
    travel(page_hub, "lose_the_connection_and_resume")


def test_a_network_without_encryption_is_warned_of_on_every_screen(tmp_path: Path) -> None:
    """NF-08"""
    need_page()
    anywhere = "0.0.0.0"  # an address that is not the machine's own loopback, and leads there
    env = {"GREENROOM_LOCAL_NODE": "1", "GREENROOM_ALLOW_PLAINTEXT": "1", "GREENROOM_ALLOWED_HOSTS": anywhere}
    with HubProcess(tmp_path / "data", env, ("--host", anywhere)) as hub, Stage(hub) as rest:
        node = FarNode(rest, tmp_path, "desk-in-the-hall", "--insecure", "--label", "gpu")
        try:
            network = f"http://{anywhere}:{hub.port}"
            node.start(network).wait_for("connected")
            travel(hub, "a_network_without_encryption_is_warned_of", node=node.name, network=network)
        finally:
            node.stop()
            end_node(hub.data)


def test_a_phone_is_paired_by_an_address_that_it_can_reach(tmp_path: Path) -> None:
    need_page()
    public = {"GREENROOM_PUBLIC_URL": "https://hub.example", "GREENROOM_ALLOWED_HOSTS": "desk.lan"}
    with HubProcess(tmp_path / "data", public) as hub:
        addresses = {"first": "https://hub.example", "second": "https://desk.lan"}
        travel(hub, "pair_a_phone_by_an_address_that_it_can_reach", **addresses)


def test_the_browser_of_journeys_hears_nothing_of_changes_of_the_network() -> None:
    """Other tests make network interfaces meanwhile, at which Chromium would give up its requests."""
    program = (
        "import socket\ntry: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)\nexcept OSError as no: print(no.errno)"
    )
    env = {"PATH": str(Path(sys.executable).parent), "REAL_CHROMIUM": sys.executable}
    done = subprocess.run([QUIET, "-c", program], env=env, capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert done.stdout == f"{errno.EAFNOSUPPORT}\n"
