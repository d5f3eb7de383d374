"""The Mini Baja in the browser, steered by keys (Wang 2011 fig. 6): a torque icon on the chassis, and its value."""

from .browser import Studio
from .test_keys import press


def turned(studio: Studio) -> float:
    """z of the chassis' quaternion."""
    return float(studio.frame()["poses"]["chassis"][5])


def test_steered_by_the_torque_icon(studio: Studio) -> None:
    """A torque about the vertical that keys put on the chassis turns the car; undone, it is gone."""
    studio.fresh("minibaja")
    studio.pause()
    studio.pick("body", "chassis")
    before = turned(studio)
    studio.page.locator("#canvas").focus()
    press(studio, "t", "Enter")
    studio.until("() => impulsar.pick()?.kind === 'load' && impulsar.live().loads.length === 1")
    for k, value in enumerate(("0", "0", "600")):
        studio.type("torque", value, k)
    studio.settle()
    assert studio.get("live")["loads"][0]["torque"] == [0, 0, 600]
    studio.run()
    studio.until("(q) => impulsar.frame().poses.chassis[5] - q > 0.01", before)
    studio.pause()
    studio.page.locator("#canvas").focus()
    while studio.get("live")["loads"]:
        press(studio, "Control+z")
        studio.settle()
    assert not studio.get("live")["loads"]
