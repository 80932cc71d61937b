"""What a person sees before they approve, and that nothing is approved by accident."""

import subprocess
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import need_program
from greenroom.testing.timeouts import WAIT_S
from tests.page.browser_journey import need_page, travel
from tests.screen import open_screen

RULES = Path(__file__).parent / "rules"


def test_ap_03_all_of_a_command_is_shown_and_nothing_hides_in_it(page_hub: HubProcess) -> None:
    travel(page_hub, "a_long_command_is_shown_to_its_end")


@pytest.mark.parametrize(
    "journey",
    [
        "words_are_never_sent_as_an_approval_by_a_key",
        "a_second_click_decides_nothing_else",
        "an_arriving_ask_moves_no_button",
        "what_moved_or_changed_takes_no_input",
        "what_was_meant_for_something_else_approves_nothing",
        "what_comes_under_a_resting_pointer",
        "what_is_approved_is_all_in_sight",
        "the_palette_answers_nothing_by_itself",
        "high_risk_is_approved_by_a_step_of_its_own",
        "a_hold_that_slips_approves_nothing",
        "letters_of_words_approve_nothing",
        "coming_back_to_the_page_approves_nothing",
        "the_same_ask_on_two_pages",
        "a_hundred_asks_are_searched_grouped_and_counted",
        "an_updated_hub_asks_for_a_reload",
    ],
)
def test_nothing_is_approved_by_accident(page_hub: HubProcess, journey: str) -> None:
    travel(page_hub, journey)


def test_a_real_mouse_and_real_keys_approve_only_what_they_mean(page_hub: HubProcess) -> None:
    with open_screen() as display:
        travel(page_hub, "hands_on_a_real_screen_approve_only_what_they_mean", display=display)


@pytest.mark.parametrize("rules", ["approving", "exact"])
def test_the_rules_of_the_page_hold_without_a_browser(rules: str) -> None:
    need_page()
    node = need_program("node")
    done = subprocess.run([node, "--test", RULES / f"{rules}.test.mjs"], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
