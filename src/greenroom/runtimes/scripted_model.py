"""Connects runtimes to a scripted model, so that they can be tried without an account."""

from pathlib import Path

from greenroom.runtimes.driver_list import DRIVER_INFOS
from greenroom.runtimes.model_script import ModelScript, ModelWiring


def choose_script(driver: str) -> ModelScript:
    """What makes the model behind a driver do things."""
    return DRIVER_INFOS[driver].script


def write_model_wiring(driver: str, home: Path, model_url: str) -> ModelWiring | None:
    """The settings for a runtime whose home this is, its files written there; None if it is not known how."""
    wire = DRIVER_INFOS[driver].wire_model
    if wire is None:
        return None
    wiring = wire(home, model_url)
    for name, text in wiring.files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return wiring
