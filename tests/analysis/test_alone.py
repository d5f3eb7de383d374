"""Bodies by themselves: with the recorded reactions of what is left out they move as they did in the whole."""

import numpy as np
import pytest

import impulsar as im
from impulsar.analysis import alone, mobility


def recorded(model: im.Model, duration: float, dt: float):
    """A run with every step in it."""
    return im.World(model, dt=dt).run(duration, every=dt, progress=False)


def miss(model: im.Model, bodies: list[str], instead: str, duration: float, dt: float) -> float:
    """How far the bodies come from where they were in the whole, at any sample [m]."""
    whole = recorded(model, duration, dt)
    part = alone(model, bodies, instead, whole)
    again = im.World(part.model, dt=dt).run(part.duration, every=dt, progress=False)
    n = again.sizes["time"]
    assert n == whole.sizes["time"] - 1  # before the first step there are no reactions
    apart = again["position"].sel(body=bodies).values - whole["position"].sel(body=bodies).values[1:]
    return float(np.linalg.norm(apart, axis=-1).max())


def driven() -> im.Model:
    """The four-bar with a motor, a spring from the coupler to the crank and a load on the rocker, all in time."""
    model = im.scene("four-bar")
    model.spring(
        "coil", "crank", "coupler", at_a=("crank", (0, 0, 0)), at_b=("coupler", (0, 0, 0)), stiffness=20.0, damping=0.1
    )
    model.load("push", "rocker", force=im.Harmonic((0.3, 0.0, 0.0), (9.0, 9.0, 9.0)), at=("rocker", (0, 0, 0)))
    return model


@pytest.mark.parametrize("bodies", [["coupler"], ["crank"], ["coupler", "rocker"]])
def test_with_recorded_reactions_parts_move_as_in_the_whole(bodies: list[str]) -> None:
    """Forces are linear between samples: the miss falls with the square of the step, and is small by then."""
    coarse, fine = (miss(driven(), bodies, "reactions", 0.4, dt) for dt in (0.004, 0.002))
    assert fine < 2e-4 and 3.5 < coarse / fine < 4.5


def test_a_slide_gives_its_torque_about_the_body_that_stays() -> None:
    """A block on an arm that turns: the arm alone, first body of the slide, with what the block did to it."""
    model = im.Model("slide")
    model.body("arm", density=500.0, position=(0.2, 0, 0), shape=im.Box((0.4, 0.02, 0.02)))
    model.body("block", density=2000.0, position=(0.1, 0, 0), shape=im.Box((0.05, 0.05, 0.05)))
    model.joint("hinge", "revolute", "ground", "arm", at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("slide", "prismatic", "arm", "block", at=(0.1, 0, 0), axis=(1, 0, 0))
    for bodies in (["arm"], ["block"]):
        assert miss(model, bodies, "reactions", 0.3, 0.001) < 2e-5


def test_bodies_that_follow_lead_the_others_as_they_did() -> None:
    """A chain of two arms: the second alone, its root driven as it moved."""
    model = im.scene("five-link")
    names = list(model.bodies)
    assert miss(model, names[2:], "following", 0.3, 0.001) < 1e-4
    part = alone(model, names[2:], "following", recorded(model, 0.1, 0.001))
    assert set(part.model.bodies) == set(names[1:])


def test_held_at_the_present_pose() -> None:
    """The rocker and coupler with the crank held: no freedom is left in the plane; nothing but these is there."""
    world = im.World(im.scene("four-bar"), dt=0.001)
    world.step(200)
    part = alone(world.shown_model(velocities=False), ["coupler", "rocker"])
    assert part.cut == ("A",) and set(part.model.bodies) == {"coupler", "rocker"}
    assert set(part.model.joints) == {"A", "B", "C"} and "ground" in (
        part.model.joints["A"].first,
        part.model.joints["A"].second,
    )
    assert mobility(part.model).freedoms == 0
    again = im.World(part.model, dt=0.001)
    again.step(50)
    for name in part.model.bodies:
        assert np.linalg.norm(again.body(name).position - world.body(name).position) < 1e-9


def test_recording_from_a_later_time_on() -> None:
    """A run that goes on: motors and loads of the parts begin where they were in their profiles."""
    model = driven()
    world = im.World(model, dt=0.002)
    world.run(0.2, every=0.002, progress=False)
    whole = world.run(0.3, every=0.002, progress=False)
    part = alone(model, ["rocker"], "reactions", whole)
    again = im.World(part.model, dt=0.002).run(part.duration, every=0.002, progress=False)
    n = again.sizes["time"]
    apart = again["position"].sel(body="rocker").values - whole["position"].sel(body="rocker").values[-n:]
    assert np.linalg.norm(apart, axis=-1).max() < 2e-4


def test_what_cannot_be_is_refused() -> None:
    model = im.scene("four-bar")
    with pytest.raises(im.ModelError, match="no body named"):
        alone(model, ["nothing"])
    with pytest.raises(im.ModelError, match="ground"):
        alone(model, ["ground"])
    with pytest.raises(im.ModelError, match="expected one of"):
        alone(model, ["crank"], "glued")
    with pytest.raises(im.ModelError, match="nothing is recorded"):
        alone(model, ["crank"], "reactions")
    gears = im.scene("gear-train")
    coupling = next(iter(gears.couplings.values()))
    world = im.World(gears, dt=0.001)
    own = gears.joints[coupling.joint_a]
    body = own.second if own.second != "ground" else own.first
    with pytest.raises(im.ModelError, match="is of a joint that goes"):
        alone(gears, [body], "reactions", world.run(0.01, every=0.001, progress=False))
