"""Couplings with an offset: q_b = ratio · q_a + offset, as a mimic joint of a robot's file has it."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.io import model_from_json, model_to_json

RATIO, OFFSET = -0.5, 0.3


def hinges(start: float = 0.5) -> im.Model:
    """Two bars on parallel hinges on the ground, the second authored where the coupling has it."""
    model = im.Model("two bars", gravity=(0, 0, -9.81))
    for k, (name, angle) in enumerate((("a", start), ("b", RATIO * start + OFFSET))):
        # q_WB of a turn about y, z of the hinge's frame along y: the coordinate is the angle itself
        turn = (0.0, math.sin(angle / 2), 0.0, math.cos(angle / 2))
        p = np.array([k, 0.0, 0.0]) + 0.5 * np.array([-math.sin(angle), 0.0, -math.cos(angle)])
        model.body(name, mass=1.0 + k, inertia=(0.1, 0.1, 0.01), position=p, orientation=turn)
        frame = (-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # z to y
        model.joint(f"pin {name}", "revolute", "ground", name,
                    frame_a=((k, 0, 0), frame), frame_b=((0, 0, 0.5), frame))  # fmt: skip
    model.coupling("mimic", "pin a", "pin b", ratio=RATIO, offset=OFFSET)
    return model


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_the_offset_is_kept(coordinates: str) -> None:
    """In motion q_b - ratio q_a = offset to 1e-10, from a start that meets it, and T + V is kept to 1e-7."""
    world = im.World(hinges(), coordinates=coordinates, dt=0.01)
    whole = 0.0
    for _ in range(30):
        world.step(5)
        a, b = (world.joint(f"pin {name}") for name in "ab")
        assert abs(float(b.position) - RATIO * float(a.position) - OFFSET) < 1e-10
        whole = max(whole, abs(float(a.position) - 0.5))
    assert whole > 0.1
    assert abs(float(world.energy().imbalance)) < 1e-7


def test_the_offset_is_saved_and_set() -> None:
    """A scene file holds it, and setting it live moves the second bar there."""
    again = model_from_json(model_to_json(hinges()))
    assert again.couplings["mimic"].offset == OFFSET
    world = im.World(again, dt=0.01)
    world.set("mimic.offset", 0.4)
    world.step()
    a, b = (float(world.joint(f"pin {name}").position) for name in "ab")
    assert abs(b - RATIO * a - 0.4) < 1e-10


def test_an_offset_that_is_no_number_is_refused() -> None:
    model = hinges()
    with pytest.raises(im.ModelError, match="coupling 'other': offset is nan"):
        model.coupling("other", "pin a", "pin b", offset=math.nan)
