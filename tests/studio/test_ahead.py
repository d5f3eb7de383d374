"""The session looks ahead, so that the first picture has room for what comes."""

import time as wall

import numpy as np

import impulsar as im
from impulsar.studio.ahead import look_ahead, sweep
from impulsar.studio.publisher import Publisher


def test_the_sweep_of_a_pendulum_is_its_circle() -> None:
    """Released horizontal, a rod of length l hung at the origin sweeps the half disc below: y to ±l, z to -l."""
    length, radius = 0.5, 0.01
    model = im.Model("pendulum")
    rod = model.body("rod", mass=1.0, position=(0, length / 2, 0), shape=im.Box((2 * radius, length, 2 * radius)))
    model.joint("pivot", "revolute", model.ground, rod, at=(0, 0, 0), axis=(1, 0, 0))
    (low, high), leaves = sweep(im.World(model), wall.monotonic() + 60.0)
    assert not leaves
    assert np.allclose(high[1], length, atol=2e-2) and np.allclose(low[1], -length, atol=2e-2)
    assert np.allclose(low[2], -length, atol=2e-2)
    assert high[2] < 2 * radius + 0.05 * length


def test_what_falls_is_looked_at_no_farther_than_a_few_sizes() -> None:
    model = im.Model("stone")
    model.body("stone", mass=1.0, shape=im.Sphere(0.1))
    corners, leaves = sweep(im.World(model), wall.monotonic() + 60.0)
    assert np.isclose(corners[0][2], -1.5 * 0.2), "one size and a half below its middle, not 44 m"
    assert not leaves, "down is not away"


def test_a_scene_that_is_meant_to_be_short_is_looked_at_for_three_seconds() -> None:
    """The uprights of `n-four-bar` turn right over, which the paper's 0.9 s do not show: all of x from -1 to 3 m."""
    (low, high), _ = sweep(im.World(im.scene("n-four-bar")), wall.monotonic() + 60.0)
    assert -1.01 < low[0] < -0.95 and 2.95 < high[0] < 3.01


def test_what_slides_away_is_to_be_followed() -> None:
    """Two sledges, both fast, or one of them at rest: only then the place is left by all."""
    for second, expected in ((3.0, True), (0.0, False)):
        model = im.Model("sledges")
        for name, speed in (("one", 3.0), ("two", second)):
            sledge = model.body(
                name, mass=1.0, position=(0, speed, 0), shape=im.Box((0.2, 0.1, 0.1)), velocity=(speed, 0, 0)
            )
            model.joint(f"{name} runs", "prismatic", model.ground, sledge, at=(0, speed, 0), axis=(1, 0, 0))
        corners, leaves = sweep(im.World(model), wall.monotonic() + 60.0)
        assert leaves == expected
        assert (corners[1][0] < 0.11) == expected, "the corners are those of the start"


def test_a_large_model_is_not_built_twice() -> None:
    def refuse(model: im.Model) -> im.World:
        raise AssertionError("built")

    publisher = Publisher("", None)
    look_ahead(im.scene("chain", n=200), refuse, lambda tell: None, publisher)
    look_ahead(im.Model("nothing"), refuse, lambda tell: None, publisher)
