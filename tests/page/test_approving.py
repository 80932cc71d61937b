"""What a person sees before they approve."""

from greenroom.testing.hub_process import HubProcess
from tests.page.stage import travel


def test_ap_03_all_of_a_command_is_shown_and_nothing_hides_in_it(stage: HubProcess) -> None:
    travel(stage, "a_long_command_is_shown_to_its_end")
