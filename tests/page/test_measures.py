"""Distances and angles measured in the page, by points that are clicked."""

import math

import numpy as np

from impulsar.author.rotations import rotate_all

from .browser import Studio


def test_a_distance_and_an_angle_by_clicks(studio: Studio) -> None:
    """From pin to pin of a four-bar: drawn with its value, which is the length of the crank; likewise an angle."""
    studio.fresh("four-bar")
    studio.pause()
    studio.page.click("#reset")
    studio.until("() => impulsar.frame().time === 0 && impulsar.settled()")
    # a pin, which joints O and A have on the crank, is the middle of its mark
    ends = {joint["name"]: joint for joint in studio.get("scene")["joints"]}
    places = {"O": ("crank", ends["O"]["p_CM"]), "A": ("crank", ends["A"]["p_PF"]), "C": ("rocker", ends["C"]["p_CM"])}

    def click(*names: str) -> None:
        for k, name in enumerate(names, 1):
            studio.settle()
            pixel = studio.get("pixel", *places[name])
            studio.page.mouse.click(pixel["x"], pixel["y"])
            if k < len(names):
                studio.until("(k) => document.querySelectorAll('#labels .drawn').length === k", k)

    studio.page.click("#inspector-body button:has-text('Distance')")
    click("O", "A")
    studio.until("() => impulsar.scene().elements.some((own) => own.kind === 'distance') && impulsar.settled()")
    label = "[...document.querySelectorAll('#labels span')].map((label) => label.textContent)"
    studio.until(f"() => {label}.includes('distance 1 0.1 m')")
    studio.page.click("#inspector-body button:has-text('Angle')")
    click("O", "A", "O", "C")
    studio.until("() => impulsar.scene().elements.some((own) => own.kind === 'angle') && impulsar.settled()")
    poses = studio.frame()["poses"]
    a, b, c = (
        np.array(poses[body][:3]) + rotate_all(np.array(poses[body][3:7]), np.array(at))
        for body, at in (places[name] for name in ("O", "A", "C"))
    )
    cosine = (b - a) @ (c - a) / np.linalg.norm(b - a) / np.linalg.norm(c - a)
    said = f"{label}.find((text) => text.startsWith('angle 1 '))?.slice(8)"
    half = 0.0051  # of the last digit that is shown [°]
    studio.until(
        f"([turn, half]) => Math.abs(parseFloat({said}) - turn) < half", [math.degrees(math.acos(cosine)), half]
    )
